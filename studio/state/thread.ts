/** One thread: its row, its steps newest first, and the selected states. */
import { batch, computed, signal } from "@preact/signals";
import type { SelectedState, ThreadState } from "../../src/models/state.js";
import { userNodes } from "../../src/view/diagram.js";
import { ApiError, ask } from "../api.js";
import { go, href, place } from "../router.js";
import { load, loading } from "./loading.js";
import { askStates, shown } from "./shown.js";
import {
  type GapRow,
  justAfter,
  NO_STEPS,
  numberAt,
  STEP_FIELDS,
  type Step,
  stepOf,
  type StepList,
  StepRows,
  withNamed,
  withNewest,
  withPage,
} from "./step-list.js";
import { graphOf, type ListedThread, readRow } from "./threads.js";

const FIRST_PAGE = 50;
const PAGE = 100;
/** Rows to preload around the visible ones. */
const MARGIN = 20;

export const threadId = computed(() =>
  place.value.path[0] === "threads" ? (place.value.path[1] ?? "") : "",
);
/** Namespace of the selected subgraph; empty for the root graph. */
export const namespace = computed(() => place.value.query.ns ?? "");
export const row = loading<ListedThread>();
const list = signal<StepList>(NO_STEPS);
/** Loaded steps, newest first. */
export const steps = computed(() => list.value.steps);
/** True if the next step in the list is not loaded. */
export const isAboveGap = ({ id }: Step): boolean => list.value.gaps.has(id);
export const rows = computed(() => new StepRows(list.value));
export const page = loading<void>();
/** Nodes of the graph that are subgraphs. */
export const subgraphs = signal<ReadonlySet<string>>(new Set());

const byId = computed(() => new Map(steps.value.map((step) => [step.id, step])));
const newest = computed(() => steps.value[0]?.id);
const named = computed(() => (place.value.path[2] === "at" ? place.value.path[3] : undefined));
/** The selected step: the step of the address or, without one, the newest. */
export const chosenId = computed(() => named.value ?? newest.value);
const chosenIndex = computed(() => steps.value.findIndex(({ id }) => id === chosenId.value));
export const chosenStep = computed(() => steps.value[chosenIndex.value]);
export const chosenRow = computed(() => rows.value.rowOf(chosenIndex.value));
export const isFollowing = computed(() => named.value === undefined);
/** Number of steps that arrived after the user selected one. */
export const newerCount = signal(0);

/** The previous step, if it is loaded. */
export const parentOf = ({ parent }: Step): Step | undefined =>
  parent === undefined ? undefined : byId.value.get(parent);

/**
 * The tasks of the superstep that created this checkpoint; undefined while the previous step is not loaded.
 */
export const ranIn = (step: Step): readonly string[] | undefined =>
  step.source === "loop" ? parentOf(step)?.next : [];

/** Like `ranIn`, without LangGraph's internal first node. */
export function nodesOf(step: Step): readonly string[] | undefined {
  const ran = ranIn(step);
  return ran && userNodes(ran);
}

/** Duration of the superstep in milliseconds; undefined if the previous step belongs to another run. */
export function durationOf(step: Step): number | undefined {
  const { source, runId, createdAt } = step;
  const before = parentOf(step);
  if (source !== "loop" || !before || before.runId !== runId || !before.createdAt || !createdAt)
    return undefined;
  return Date.parse(createdAt) - Date.parse(before.createdAt);
}

/** True if the step above in the list is not a child of this step. */
export const isBranch = (step: Step, above: Step | undefined): boolean =>
  above !== undefined && above.parent !== step.id;

let generation = 0;

/** Whether another thread was opened since, or this one was left. */
function staleness(): () => boolean {
  const [mine, id] = [generation, threadId.peek()];
  return () => mine !== generation || id !== threadId.peek();
}

/** Show the thread of the address, starting with its newest steps. */
export async function open(): Promise<void> {
  generation += 1;
  states.clear();
  sought = undefined;
  batch(() => {
    list.value = NO_STEPS;
    newerCount.value = 0;
    row.value.value = undefined;
    row.error.value = undefined;
    page.error.value = undefined;
    page.busy.value = false;
  });
  const isStale = staleness();
  await Promise.all([loadRow(isStale), loadNewest(isStale)]);
  if (isStale()) return;
  void findSubgraphs(isStale);
}

const loadRow = (isStale: () => boolean): Promise<void> => load(row, () => readRow(threadId.value), isStale);

const readSteps = (limit: number, before?: string): Promise<Step[]> =>
  readStepsOf(threadId.value, namespace.value, { limit, before });

interface StepsWish {
  limit: number;
  before?: string | undefined;
  /** Only steps with this number. */
  step?: number;
}

/** Steps of a thread, newest first, without their values. */
export async function readStepsOf(
  id: string,
  ns: string,
  { limit, before, step }: StepsWish,
): Promise<Step[]> {
  const body = {
    limit,
    select: STEP_FIELDS,
    ...(ns !== "" && { checkpoint: { checkpoint_ns: ns } }),
    ...(before !== undefined && { before }),
    ...(step !== undefined && { metadata: { step } }),
  };
  const path = `/threads/${encodeURIComponent(id)}/history`;
  return (await askStates<SelectedState[]>("POST", path, body)).body.map(stepOf);
}

const loadNewest = (isStale: () => boolean): Promise<void> =>
  load(
    page,
    async () => {
      const fresh = await readSteps(FIRST_PAGE);
      if (!isStale()) list.value = withNewest(list.value, fresh, { isWhole: fresh.length < FIRST_PAGE });
    },
    isStale,
  );

/** Load a page of an unloaded range: from its start or, far inside it, from the step expected there. */
const loadGap = (gap: GapRow, isStale: () => boolean): Promise<void> =>
  load(
    page,
    async () => {
      const start = gap.offset < PAGE ? undefined : await findIn(gap);
      const more = await readSteps(PAGE, start === undefined ? gap.above.id : justAfter(start));
      if (isStale()) return;
      const skipped = start === undefined ? 0 : gap.offset;
      list.value = withPage(list.value, gap.above, more, { skipped, isEnd: more.length < PAGE });
    },
    isStale,
  );

/** Id of the step with the expected number; undefined if branches make that number ambiguous. */
async function findIn(gap: GapRow): Promise<string | undefined> {
  const step = numberAt(gap);
  if (step === undefined) return undefined;
  const [found] = await readStepsOf(threadId.value, namespace.value, {
    limit: 1,
    before: gap.above.id,
    step,
  });
  return found && (!gap.below || found.id > gap.below.id) ? found.id : undefined;
}

let seen = { from: 0, to: 0 };
let reading: Promise<void> | undefined;

/** Load the unloaded rows in the visible range and around it. */
export function see(from: number, to: number): Promise<void> {
  seen = { from: from - MARGIN, to: to + MARGIN };
  reading ??= readSeen().finally(() => (reading = undefined));
  return reading;
}

async function readSeen(): Promise<void> {
  const gapInSight = () => rows.value.gapIn(seen.from, seen.to, PAGE);
  for (let gap = gapInSight(); gap && !page.error.value; gap = gapInSight()) {
    await loadGap(gap, staleness());
  }
}

/** Continue loading after an error. */
export function readAgain(): void {
  page.error.value = undefined;
  reading ??= readSeen().finally(() => (reading = undefined));
}

/** The last requested step, so that a missing step is requested only once. */
let sought: string | undefined;

/** Load the step of the address and the steps after it, at any depth. Call it in an effect. */
export function findNamed(): void {
  const id = named.value;
  if (id === undefined || id === sought || steps.value.length === 0 || chosenIndex.value >= 0) return;
  sought = id;
  const isStale = staleness();
  const read = async () => {
    const found = await readSteps(PAGE, justAfter(id));
    if (!isStale() && found[0]?.id === id) list.value = withNamed(list.value, found, found.length < PAGE);
  };
  void load(page, read, isStale);
}

async function findSubgraphs(isStale: () => boolean): Promise<void> {
  const graph = row.value.value && graphOf(row.value.value);
  if (!graph) return;
  try {
    const { body } = await ask<Record<string, unknown>>(
      "GET",
      `/assistants/${encodeURIComponent(graph)}/subgraphs`,
    );
    if (!isStale()) subgraphs.value = new Set(Object.keys(body));
  } catch {
    // The graph is not available, so it has no drawing either.
  }
}

/** Load newer steps and the current status of the thread. */
export async function refresh(): Promise<void> {
  if (threadId.peek() === "") return;
  const isStale = staleness();
  const before = row.value.value?.updated_at;
  await loadRow(isStale);
  const now = row.value.value;
  if (isStale() || (now?.updated_at === before && now?.status !== "busy")) return;
  const fresh = await readSteps(FIRST_PAGE).catch(() => undefined);
  if (!fresh || isStale()) return;
  const known = byId.value;
  batch(() => {
    if (!isFollowing.value) newerCount.value += fresh.filter(({ id }) => !known.has(id)).length;
    list.value = withNewest(list.value, fresh, { isWhole: fresh.length < FIRST_PAGE });
  });
  void see(seen.from + MARGIN, seen.to - MARGIN);
  // The head's task results and interrupts may have changed since it was loaded.
  const [head] = fresh;
  if (head && known.has(head.id)) states.delete(stateKey(head.id));
  stateVersion.value += 1;
}

const REFRESH_MS = 400;
let soon: Promise<void> | undefined;

/** Like `refresh`, debounced. */
export function refreshSoon(): Promise<void> {
  const isStale = staleness();
  soon ??= new Promise((resolve) => setTimeout(resolve, REFRESH_MS)).then(() => {
    soon = undefined;
    // The reader may have left the thread.
    return isStale() ? undefined : refresh();
  });
  return soon;
}

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
  newerCount.value = 0;
  go(stepHref(undefined), { replace: true });
}

// Full states are loaded only for the selected step and its parent.

const MOST_STATES = 12;
const states = new Map<string, Promise<ThreadState>>();
const stateKey = (id: string): string => `${shown.value} ${namespace.value} ${id}`;
/** Incremented to reload a state. */
const stateVersion = signal(0);

function stateAt(id: string): Promise<ThreadState> {
  const key = stateKey(id);
  let state = states.get(key);
  if (!state) {
    const checkpoint = { checkpoint_ns: namespace.value, checkpoint_id: id };
    const path = `/threads/${encodeURIComponent(threadId.value)}/state/checkpoint`;
    state = askStates<ThreadState>("POST", path, { checkpoint }).then(({ body }) => body);
    state.catch(() => states.delete(key));
    const [oldest] = states.keys();
    if (states.size >= MOST_STATES && oldest !== undefined) states.delete(oldest);
  }
  states.delete(key);
  states.set(key, state);
  return state;
}

export interface Looked {
  state: ThreadState;
  /** The previous state; undefined for the first step, or if it no longer exists. */
  parent: ThreadState | undefined;
}

export const looked = loading<Looked>();
let looks = 0;

/** Load the selected state and the previous one. Call it in an effect. */
export function look(): void {
  const id = chosenId.value;
  void stateVersion.value;
  void shown.value;
  const mine = ++looks;
  if (id === undefined || threadId.value === "") {
    looked.value.value = undefined;
    return;
  }
  void load(
    looked,
    async () => {
      const state = await stateAt(id);
      const before = state.parent_checkpoint?.checkpoint_id;
      return { state, parent: before == null ? undefined : await stateAt(before).catch(onlyGone) };
    },
    () => mine !== looks,
  );
}

function onlyGone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === "checkpoint_not_found") return undefined;
  throw error;
}
