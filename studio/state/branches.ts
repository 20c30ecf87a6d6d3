/** Branches of a thread: the lane of each step, and the steps that lead to the selected one. */
import { computed } from "@preact/signals";
import { Lanes } from "../../src/view/lanes.js";
import { chosenId, isAboveGap, steps } from "./thread.js";

/** Maximum number of lanes; further branches share the last one. */
const MOST_LANES = 8;

export const placed = computed(() => {
  let lanes = new Lanes();
  return steps.value.map((step) => {
    const placed = lanes.place(step);
    // Lines that leave an unloaded range are unknown, so start over.
    if (isAboveGap(step)) lanes = new Lanes();
    return placed;
  });
});

/** Number of lanes that the widest step needs. */
export const width = computed(() =>
  Math.min(
    MOST_LANES,
    placed.value.reduce((most, { lane, below }) => Math.max(most, lane + 1, below.length), 1),
  ),
);

/** Ids of the selected step and its loaded ancestors. */
export const path = computed(() => {
  const parents = new Map(steps.value.map(({ id, parent }) => [id, parent]));
  const found = new Set<string>();
  for (let id = chosenId.value; id !== undefined && !found.has(id); id = parents.get(id)) found.add(id);
  return found;
});
