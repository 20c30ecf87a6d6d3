/** The branches of a thread: the lane of each step, and the steps that led to the selected one. */
import { computed } from "@preact/signals";
import { Lanes } from "../../src/view/lanes.js";
import { chosenId, isAboveGap, steps } from "./thread.js";

/** Lanes that are drawn beside each other; the rest share the last one. */
const MOST_LANES = 8;

export const placed = computed(() => {
  let lanes = new Lanes();
  return steps.value.map((step) => {
    const placed = lanes.place(step);
    // Which lines come out of a stretch that is not read is not known.
    if (isAboveGap(step)) lanes = new Lanes();
    return placed;
  });
});

/** Lanes that the widest step needs. */
export const width = computed(() =>
  Math.min(
    MOST_LANES,
    placed.value.reduce((most, { lane, below }) => Math.max(most, lane + 1, below.length), 1),
  ),
);

/** The chosen step and all before it, as far as they are loaded. */
export const path = computed(() => {
  const parents = new Map(steps.value.map(({ id, parent }) => [id, parent]));
  const found = new Set<string>();
  for (let id = chosenId.value; id !== undefined && !found.has(id); id = parents.get(id)) found.add(id);
  return found;
});
