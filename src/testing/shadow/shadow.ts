/** Executes stored runs again on a changed graph, in memory, and says what it would have done differently. */
import type { Client } from "../../client/client.js";
import type { ThreadFile } from "../../models/thread-file.js";
import { OverBudget } from "./budget.js";
import type { Difference } from "./differences.js";
import { differenceOf } from "./differences.js";
import { observe, type Observed } from "./observed.js";
import { play, type Played, type PlayOptions, type ShadowGraph } from "./play.js";
import { NotRepeatable, readUnit, type StoredUnit, threadBefore } from "./stored-unit.js";
import { graphOfRun, type UnitRef } from "./units.js";

/**
 * `same`; a difference in `words`, `path`, `status` or `cost`; `unrecorded`: a call has no recorded response; `unstable`: two
 * executions of the same graph differ; `skipped`: the runs cannot be executed again; `over_budget`: they were not executed to
 * their end, because the budget is used up.
 */
export const OUTCOMES = [
  "same",
  "cost",
  "words",
  "path",
  "status",
  "unrecorded",
  "unstable",
  "skipped",
  "over_budget",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface ShadowResult {
  thread_id: string;
  /** Oldest first. */
  run_ids: string[];
  graph_id: string | null;
  outcome: Outcome;
  /** Of the stored run; null if it was skipped. */
  stored_status: string | null;
  /** Of its repetition; null if it was skipped. */
  status: string | null;
  difference: Difference | null;
  /** What the repetition was compared with: the stored run, or the unchanged graph if that cannot reproduce it. */
  compared_with: "stored" | "unchanged" | null;
  /** Why the run was skipped or not executed to its end, or which call was refused. */
  reason: string | null;
}

export interface ShadowGraphs {
  /** The graph to check; undefined if it is not configured. */
  target: ShadowGraph | undefined;
  /** The unchanged graph, if there is another one. */
  control: ShadowGraph | undefined;
}

interface ShadowOptions extends Omit<PlayOptions, "seed"> {
  source: Client;
  graphs: (graphId: string | undefined) => Promise<ShadowGraphs>;
}

/** Yields one result for each unit. The source is only read. */
export async function* shadow(
  units: readonly UnitRef[],
  options: ShadowOptions,
): AsyncGenerator<ShadowResult> {
  for (const ref of units) {
    if (options.signal.aborted) return;
    yield await shadowOf(ref, options);
  }
}

async function shadowOf(ref: UnitRef, options: ShadowOptions): Promise<ShadowResult> {
  const { source, graphs } = options;
  const head = { thread_id: ref.thread_id, run_ids: ref.run_ids };
  let graph_id: string | undefined;
  try {
    const unit = await readUnit(source, ref);
    graph_id = graphOfRun(unit.runs[0]);
    const { target, control } = await graphs(graph_id);
    if (!target) throw new NotRepeatable(`graph ${JSON.stringify(graph_id)} is not configured`);
    const comparison = new Comparison(unit, await threadBefore(source, unit), { target, control }, options);
    return {
      ...head,
      graph_id: graph_id ?? null,
      ...(await comparison.result(await observe(source, unit, options.redact))),
    };
  } catch (error) {
    const isGone = (error as { code?: unknown }).code === "thread_not_found";
    const isOver = error instanceof OverBudget;
    if (!isGone && !isOver && !(error instanceof NotRepeatable)) throw error;
    const reason = isGone ? "its thread was deleted" : (error as Error).message;
    const result = skipped(reason);
    return { ...head, graph_id: graph_id ?? null, ...result, ...(isOver && { outcome: "over_budget" }) };
  }
}

type Compared = Omit<ShadowResult, "thread_id" | "run_ids" | "graph_id">;

const skipped = (reason: string): Compared => ({
  ...{ outcome: "skipped", stored_status: null, status: null },
  ...{ difference: null, compared_with: null, reason },
});

/** One unit on the changed graph, and on the unchanged one if that is needed to explain a difference. */
class Comparison {
  readonly #unit: StoredUnit;
  readonly #before: ThreadFile;
  readonly #graphs: { target: ShadowGraph; control: ShadowGraph | undefined };
  readonly #options: PlayOptions;

  constructor(
    unit: StoredUnit,
    before: ThreadFile,
    graphs: { target: ShadowGraph; control: ShadowGraph | undefined },
    options: PlayOptions,
  ) {
    this.#unit = unit;
    this.#before = before;
    this.#graphs = graphs;
    this.#options = options;
  }

  async result(stored: Observed): Promise<Compared> {
    const { target, control } = this.#graphs;
    const played = await this.#play(target);
    const { observed, refused } = played;
    const ends = { stored_status: stored.status, status: observed.status };
    const none = { difference: null, compared_with: "stored" as const, reason: null };
    const difference = differenceOf(stored, observed);
    if (played.isCut || (difference && refused !== undefined))
      return { ...ends, ...none, outcome: "unrecorded", reason: refused ?? null };
    if (!difference) return { ...ends, ...none, outcome: "same" };
    return control
      ? { ...ends, ...none, ...(await this.#againstControl(stored, observed, difference, control)) }
      : { ...ends, ...none, ...(await this.#withoutControl(stored, played, difference)) };
  }

  /** A difference that the unchanged graph has too is not caused by the change. */
  async #againstControl(
    stored: Observed,
    now: Observed,
    difference: Difference,
    control: ShadowGraph,
  ): Promise<Pick<Compared, "outcome"> & Partial<Compared>> {
    const unchanged = await this.#play(control);
    if (unchanged.isCut || !differenceOf(stored, unchanged.observed))
      return { outcome: difference.kind, difference };
    const fromUnchanged = differenceOf(unchanged.observed, now);
    if (!fromUnchanged) return { outcome: "same", compared_with: "unchanged" };
    const again = await this.#play(control);
    if (differenceOf(unchanged.observed, again.observed)) return { outcome: "unstable", difference };
    return { outcome: fromUnchanged.kind, difference: fromUnchanged, compared_with: "unchanged" };
  }

  /** Without an unchanged graph, a difference is doubtful if other random values change the result. */
  async #withoutControl(
    stored: Observed,
    { observed }: Played,
    difference: Difference,
  ): Promise<Pick<Compared, "outcome"> & Partial<Compared>> {
    const [last] = this.#unit.runs.slice(-1);
    const { interrupt_before, interrupt_after } = last?.kwargs ?? {};
    const hasQuestion = "(questions)" in stored.values;
    const isStopped = stored.status === "interrupted" && !hasQuestion;
    if (isStopped && interrupt_before == null && interrupt_after == null)
      return skipped("it was cancelled, or stopped at a breakpoint of the graph");
    const again = await this.#play(this.#graphs.target, "again ");
    return { outcome: differenceOf(observed, again.observed) ? "unstable" : difference.kind, difference };
  }

  #play(graph: ShadowGraph, seed?: string): Promise<Played> {
    return play(graph, this.#unit, this.#before, {
      ...this.#options,
      ...(seed !== undefined && { seed }),
    });
  }
}
