/** The thread of the address: which steps are shown, and which one is selected. */
import { computed, effect, signal } from "@preact/signals";
import { go, href, place } from "../router.js";
import type { Loading } from "./loading.js";
import type { Step } from "./step-list.js";
import { StepsView } from "./steps-view.js";

export const threadId = computed(() =>
  place.value.path[0] === "threads" ? (place.value.path[1] ?? "") : "",
);
/** Namespace of the selected subgraph; empty for the root graph. */
export const namespace = computed(() => place.value.query.ns ?? "");

const NOTHING = new StepsView("", "");
const view = signal(NOTHING);
/** The view of the address. Until it is opened, the steps of another thread or subgraph must not be shown as its own. */
const current = computed(() => {
  const { threadId: id, namespace: ns } = view.value;
  return id === threadId.value && ns === namespace.value ? view.value : NOTHING;
});

/** A part of the view that is shown. */
const part = <T>(of: (view: StepsView) => Loading<T>) => ({
  value: computed(() => of(current.value).value.value),
  error: computed(() => of(current.value).error.value),
  busy: computed(() => of(current.value).busy.value),
});

export const row = part((one) => one.row);
export const page = part((one) => one.page);
export const looked = part((one) => one.looked);
export const steps = computed(() => current.value.steps.value);
export const rows = computed(() => current.value.rows.value);
export const subgraphs = computed(() => current.value.subgraphs.value);
export const newerCount = computed(() => current.value.newerCount.value);

export const isAboveGap = (step: Step): boolean => view.value.isAboveGap(step);
export const parentOf = (step: Step): Step | undefined => view.value.parentOf(step);
export const ranIn = (step: Step): readonly string[] | undefined => view.value.ranIn(step);
export const nodesOf = (step: Step): readonly string[] | undefined => view.value.nodesOf(step);
export const durationOf = (step: Step): number | undefined => view.value.durationOf(step);

const newest = computed(() => steps.value[0]?.id);
const named = computed(() => (place.value.path[2] === "at" ? place.value.path[3] : undefined));
/** The selected step: the step of the address or, without one, the newest. */
export const chosenId = computed(() => named.value ?? newest.value);
const chosenIndex = computed(() => steps.value.findIndex(({ id }) => id === chosenId.value));
export const chosenStep = computed(() => steps.value[chosenIndex.value]);
export const chosenRow = computed(() => rows.value.rowOf(chosenIndex.value));
export const isFollowing = computed(() => named.value === undefined);

/** True if the step above in the list is not a child of this step. */
export const isBranch = (step: Step, above: Step | undefined): boolean =>
  above !== undefined && above.parent !== step.id;

// The reader has left the thread.
effect(() => {
  if (view.peek().threadId !== threadId.value) view.peek().leave();
});

/** Show the thread of the address, starting with its newest steps. */
export function open(): Promise<void> {
  const before = view.peek();
  // The row of a thread that the reader had left may be outdated.
  const kept = before.isLeft ? undefined : before.row.value.peek();
  before.leave();
  const next = new StepsView(threadId.value, namespace.value);
  if (before.threadId === next.threadId) {
    // They stay on the page until the new ones are loaded.
    next.row.value.value = kept;
    next.looked.value.value = before.looked.value.peek();
    next.subgraphs.value = before.subgraphs.peek();
  }
  view.value = next;
  return next.open();
}

export const see = (from: number, to: number): Promise<void> => view.peek().see(from, to);

/** Continue loading after an error. */
export const readAgain = (): void => view.peek().readAgain();

/** Load the step of the address and the steps after it, at any depth. Call it in an effect. */
export function findNamed(): void {
  if (named.value !== undefined) view.value.find(named.value);
}

/** Load newer steps and the current status of the thread. */
export const refresh = (): Promise<void> => view.peek().refresh(isFollowing.peek());

/** Like `refresh`, debounced. */
export const refreshSoon = (): Promise<void> => view.peek().refreshSoon(() => isFollowing.peek());

/** Load the selected state and the previous one. Call it in an effect. */
export const look = (): void => view.value.look(chosenId.value);

/** Load the selected state again after an error. */
export const lookAgain = (): void => view.peek().lookAgain();

/** Address of a step that keeps the current tab and namespace. */
export function stepHref(id: string | undefined, query: Record<string, string | undefined> = {}): string {
  const path = ["threads", threadId.value, ...(id === undefined ? [] : ["at", id])];
  const { tab, ns, path: value } = place.value.query;
  return href(path, { tab, ns, path: value, ...query });
}

/** Select the step in this row; loads it first if needed. */
export async function choose(row: number): Promise<void> {
  const wanted = Math.max(0, Math.min(row, rows.value.count - 1));
  if (rows.value.placeAt(wanted) === undefined) await see(wanted, wanted + 1);
  // The range may contain fewer steps than estimated.
  const place = rows.value.placeAt(Math.min(wanted, rows.value.count - 1));
  const step = place === undefined ? undefined : steps.value[place];
  if (step) go(stepHref(step.id), { replace: true });
}

export function follow(): void {
  view.peek().newerCount.value = 0;
  go(stepHref(undefined), { replace: true });
}
