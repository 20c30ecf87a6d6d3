/** The steps of one thread or subgraph, newest first, and the states that a page has loaded of it. */
import { batch, computed, signal } from "@preact/signals";
import type { SelectedState, ThreadState } from "../../src/models/state.js";
import { userNodes } from "../../src/view/diagram.js";
import { ApiError, ask } from "../api.js";
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
/** Full states are loaded only for the selected step and its parent. */
const MOST_STATES = 12;
const REFRESH_MS = 400;

export interface Looked {
  state: ThreadState;
  /** The previous state; undefined for the first step, or if it no longer exists. */
  parent: ThreadState | undefined;
}

interface StepsWish {
  limit: number;
  before?: string | undefined;
  /** Only steps with this number. */
  step?: number;
}

/** Steps of a thread, newest first, without their values. */
async function readStepsOf(id: string, ns: string, { limit, before, step }: StepsWish): Promise<Step[]> {
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

export class StepsView {
  readonly threadId: string;
  /** Namespace of the subgraph; empty for the root graph. */
  readonly namespace: string;
  readonly row = loading<ListedThread>();
  readonly page = loading<void>();
  /** The selected state. */
  readonly looked = loading<Looked>();
  /** Nodes of the graph that are subgraphs. */
  readonly subgraphs = signal<ReadonlySet<string>>(new Set());
  /** Number of steps that arrived after the user selected one. */
  readonly newerCount = signal(0);

  readonly #list = signal<StepList>(NO_STEPS);
  /** Loaded steps, newest first. */
  readonly steps = computed(() => this.#list.value.steps);
  readonly rows = computed(() => new StepRows(this.#list.value));
  readonly #byId = computed(() => new Map(this.steps.value.map((step) => [step.id, step])));
  readonly #states = new Map<string, Promise<ThreadState>>();
  /** Incremented to reload a state. */
  readonly #stateVersion = signal(0);
  #isLeft = false;
  #seen = { from: 0, to: 0 };
  #opening: Promise<unknown> | undefined;
  #reading: Promise<void> | undefined;
  /** The last requested step, so that a missing step is requested only once. */
  #sought: string | undefined;
  #soon: Promise<void> | undefined;
  #looks = 0;

  constructor(threadId: string, namespace: string) {
    this.threadId = threadId;
    this.namespace = namespace;
  }

  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** Ignore the responses that arrive from now on. */
  leave(): void {
    this.#isLeft = true;
  }

  /** Load the row and the newest steps. */
  async open(): Promise<void> {
    await (this.#opening = Promise.all([this.#loadRow(), this.#loadNewest()]));
    if (!this.#isLeft) void this.#findSubgraphs();
  }

  /** True if the next step in the list is not loaded. */
  isAboveGap({ id }: Step): boolean {
    return this.#list.value.gaps.has(id);
  }

  /** The previous step, if it is loaded. */
  parentOf({ parent }: Step): Step | undefined {
    return parent === undefined ? undefined : this.#byId.value.get(parent);
  }

  /** The tasks of the superstep that created this checkpoint; undefined while the previous step is not loaded. */
  ranIn(step: Step): readonly string[] | undefined {
    return step.source === "loop" ? this.parentOf(step)?.next : [];
  }

  /** Like `ranIn`, without LangGraph's internal first node. */
  nodesOf(step: Step): readonly string[] | undefined {
    const ran = this.ranIn(step);
    return ran && userNodes(ran);
  }

  /** Duration of the superstep in milliseconds; undefined if the previous step belongs to another run. */
  durationOf(step: Step): number | undefined {
    const { source, runId, createdAt } = step;
    const before = this.parentOf(step);
    if (source !== "loop" || !before || before.runId !== runId || !before.createdAt || !createdAt)
      return undefined;
    return Date.parse(createdAt) - Date.parse(before.createdAt);
  }

  /** Load the unloaded rows in the visible range and around it. */
  see(from: number, to: number): Promise<void> {
    this.#seen = { from: from - MARGIN, to: to + MARGIN };
    return this.#read();
  }

  /** Continue loading after an error. */
  readAgain(): void {
    this.page.error.value = undefined;
    void this.#read();
  }

  /** Load a step that is not in the list, and the steps after it, at any depth. */
  find(id: string): void {
    if (id === this.#sought || this.steps.value.length === 0 || this.#byId.value.has(id)) return;
    this.#sought = id;
    void this.#load(this.page, async () => {
      const found = await this.#readSteps(PAGE, justAfter(id));
      if (!this.#isLeft && found[0]?.id === id)
        this.#list.value = withNamed(this.#list.value, found, found.length < PAGE);
    });
  }

  /** Load newer steps and the current status of the thread. They are counted as new unless the user follows them. */
  async refresh(isFollowing: boolean): Promise<void> {
    // What is being loaded is compared, not loaded a second time.
    await this.#opening;
    if (this.threadId === "" || this.#isLeft) return;
    const before = this.row.value.value?.updated_at;
    await this.#loadRow();
    const now = this.row.value.value;
    if (this.#isLeft || (now?.updated_at === before && now?.status !== "busy")) return;
    const fresh = await this.#readSteps(FIRST_PAGE).catch(() => undefined);
    if (!fresh || this.#isLeft) return;
    const known = this.#byId.value;
    batch(() => {
      if (!isFollowing) this.newerCount.value += fresh.filter(({ id }) => !known.has(id)).length;
      this.#list.value = withNewest(this.#list.value, fresh, { isWhole: fresh.length < FIRST_PAGE });
    });
    void this.see(this.#seen.from + MARGIN, this.#seen.to - MARGIN);
    // The head's task results and interrupts may have changed since it was loaded.
    const [head] = fresh;
    if (head && known.has(head.id)) this.#states.delete(this.#stateKey(head.id));
    this.lookAgain();
  }

  /** Like `refresh`, debounced. */
  refreshSoon(isFollowing: () => boolean): Promise<void> {
    this.#soon ??= new Promise((resolve) => setTimeout(resolve, REFRESH_MS)).then(() => {
      this.#soon = undefined;
      return this.refresh(isFollowing());
    });
    return this.#soon;
  }

  /** Load this step's state and the previous one. Call it in an effect. */
  look(id: string | undefined): void {
    void this.#stateVersion.value;
    void shown.value;
    const mine = ++this.#looks;
    if (id === undefined || this.threadId === "") {
      this.looked.value.value = undefined;
      return;
    }
    void load(
      this.looked,
      async () => {
        const state = await this.#stateAt(id);
        const before = state.parent_checkpoint?.checkpoint_id;
        return { state, parent: before == null ? undefined : await this.#stateAt(before).catch(onlyGone) };
      },
      () => this.#isLeft || mine !== this.#looks,
    );
  }

  /** Load the selected state again after an error. */
  lookAgain(): void {
    this.#stateVersion.value += 1;
  }

  #load<T>(target: Parameters<typeof load<T>>[0], work: () => Promise<T>): Promise<void> {
    return load(target, work, () => this.#isLeft);
  }

  #loadRow(): Promise<void> {
    return this.#load(this.row, () => readRow(this.threadId));
  }

  #readSteps(limit: number, before?: string): Promise<Step[]> {
    return readStepsOf(this.threadId, this.namespace, { limit, before });
  }

  #loadNewest(): Promise<void> {
    return this.#load(this.page, async () => {
      const fresh = await this.#readSteps(FIRST_PAGE);
      if (!this.#isLeft)
        this.#list.value = withNewest(this.#list.value, fresh, { isWhole: fresh.length < FIRST_PAGE });
    });
  }

  #read(): Promise<void> {
    return (this.#reading ??= this.#readSeen().finally(() => (this.#reading = undefined)));
  }

  async #readSeen(): Promise<void> {
    const gapInSight = () => this.rows.value.gapIn(this.#seen.from, this.#seen.to, PAGE);
    for (let gap = gapInSight(); gap && !this.page.error.value && !this.#isLeft; gap = gapInSight())
      await this.#loadGap(gap);
  }

  /** Load a page of an unloaded range: from its start or, far inside it, from the step expected there. */
  #loadGap(gap: GapRow): Promise<void> {
    return this.#load(this.page, async () => {
      const start = gap.offset < PAGE ? undefined : await this.#findIn(gap);
      const more = await this.#readSteps(PAGE, start === undefined ? gap.above.id : justAfter(start));
      if (this.#isLeft) return;
      const skipped = start === undefined ? 0 : gap.offset;
      const isEnd = more.length < PAGE;
      this.#list.value = withPage(this.#list.value, gap.above, more, { skipped, isEnd });
    });
  }

  /** Id of the step with the expected number; undefined if branches make that number ambiguous. */
  async #findIn(gap: GapRow): Promise<string | undefined> {
    const step = numberAt(gap);
    if (step === undefined) return undefined;
    const wish = { limit: 1, before: gap.above.id, step };
    const [found] = await readStepsOf(this.threadId, this.namespace, wish);
    return found && (!gap.below || found.id > gap.below.id) ? found.id : undefined;
  }

  async #findSubgraphs(): Promise<void> {
    const graph = this.row.value.value && graphOf(this.row.value.value);
    if (!graph) return;
    try {
      const path = `/assistants/${encodeURIComponent(graph)}/subgraphs`;
      const { body } = await ask<Record<string, unknown>>("GET", path);
      if (!this.#isLeft) this.subgraphs.value = new Set(Object.keys(body));
    } catch {
      // The graph is not available, so it has no drawing either.
    }
  }

  #stateKey(id: string): string {
    return `${shown.value} ${id}`;
  }

  #stateAt(id: string): Promise<ThreadState> {
    const key = this.#stateKey(id);
    let state = this.#states.get(key);
    if (!state) {
      const checkpoint = { checkpoint_ns: this.namespace, checkpoint_id: id };
      const path = `/threads/${encodeURIComponent(this.threadId)}/state/checkpoint`;
      state = askStates<ThreadState>("POST", path, { checkpoint }).then(({ body }) => body);
      state.catch(() => this.#states.delete(key));
      const [oldest] = this.#states.keys();
      if (this.#states.size >= MOST_STATES && oldest !== undefined) this.#states.delete(oldest);
    }
    this.#states.delete(key);
    this.#states.set(key, state);
    return state;
  }
}

function onlyGone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === "checkpoint_not_found") return undefined;
  throw error;
}
