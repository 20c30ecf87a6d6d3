/** Executes a unit on a graph: its requests one by one, on an imported copy of the thread as it was before. */
import type { Client } from "../../client/client.js";
import { RunSoFar } from "../../client/run-events.js";
import { walkStates } from "../../client/walk.js";
import { isRecord } from "../../models/common.js";
import type { Run, RunCreateRequest } from "../../models/run.js";
import type { ThreadState } from "../../models/state.js";
import type { ThreadFile } from "../../models/thread-file.js";
import type { Redact } from "../cases/redact.js";
import { makeDeterministic } from "../deterministic.js";
import type { ShadowBudget } from "./budget.js";
import type { ShadowCalls } from "./calls.js";
import { isOpen, observe, type Observed } from "./observed.js";
import type { StoredUnit } from "./stored-unit.js";

/** A graph on a storage in memory. */
export interface ShadowGraph {
  client: Client;
  assistantId: string;
  restore(file: ThreadFile): Promise<unknown>;
  /** Deletes what graphs stored in the long-term memory. */
  clearItems(): Promise<void>;
  close(): Promise<void>;
}

export interface PlayOptions {
  calls: ShadowCalls;
  redact: Redact;
  /** What all units together may spend on models; unlimited if undefined. */
  budget?: ShadowBudget | undefined;
  /** Time limit of a unit in seconds. */
  timeoutSeconds: number;
  signal: AbortSignal;
  /** Distinguishes executions that get other random values. */
  seed?: string;
}

export interface Played {
  observed: Observed;
  /** The first call that was refused. */
  refused: string | undefined;
  /** Whether the unit ended because of it. */
  isCut: boolean;
}

export async function play(
  graph: ShadowGraph,
  unit: StoredUnit,
  before: ThreadFile,
  { calls, redact, budget, timeoutSeconds, signal, seed = "" }: PlayOptions,
): Promise<Played> {
  const { thread_id, runs } = unit;
  const [first] = runs;
  const cut = new AbortController();
  await graph.restore(before);
  await calls.prepare();
  const values = { seed: `${seed}${first.run_id}`, time: Date.parse(first.created_at) };
  const restore = await makeDeterministic((id) => (id === thread_id ? values : undefined));
  const guarded = await calls.begin(
    thread_id,
    runs.map(({ run_id }) => run_id),
    () => cut.abort(),
  );
  try {
    const limit = AbortSignal.timeout(timeoutSeconds * 1000);
    const made = await repeat(graph, unit, {
      signal: AbortSignal.any([signal, cut.signal, limit]),
      budget,
      onRun: (run) => {
        values.time = Date.parse(run.created_at);
      },
    });
    const observed = await observe(graph.client, await madeBy(graph.client, unit, made), redact);
    if (limit.aborted) observed.status = "timeout";
    return { observed, refused: guarded.end(), isCut: cut.signal.aborted };
  } finally {
    guarded.end();
    restore();
    await graph.client.threads.delete(thread_id);
    await graph.clearItems();
  }
}

/** Executes the requests of the unit, as long as they have something to resume; returns the ids of the new runs. */
async function repeat(
  { client, assistantId }: ShadowGraph,
  { thread_id, runs, states }: StoredUnit,
  { signal, budget, onRun }: Pick<PlayOptions, "signal" | "budget"> & { onRun: (run: Run) => void },
): Promise<string[]> {
  const made: string[] = [];
  for (const run of runs) {
    const request = requestOf(run, assistantId);
    const command = request.command;
    if (made.length > 0) {
      const state = await client.threads.getState(thread_id);
      const steers = command?.goto != null || command?.update != null;
      if (signal.aborted || (!isOpen(state) && !steers)) break;
      if (command?.resume !== undefined)
        request.command = { ...command, resume: readdressed(command.resume, states, state) };
    }
    onRun(run);
    if (budget) request.budget = budget.left;
    const soFar = new RunSoFar();
    for await (const event of client.runs.stream(thread_id, request, signal)) soFar.take(event);
    if (soFar.runId === undefined) continue;
    made.push(soFar.runId);
    budget?.add(await client.runs.get(thread_id, soFar.runId), await client.threads.getState(thread_id));
  }
  return made;
}

/** The request without what has effects outside of the run, and without the checkpoint, which is the imported one. */
function requestOf({ kwargs, metadata }: Run, assistantId: string): RunCreateRequest {
  const { config, input, command, context, stream_mode, stream_subgraphs, durability } = kwargs;
  const { interrupt_before, interrupt_after, strict_resume } = kwargs;
  const { configurable, ...others } = isRecord(config) ? config : {};
  const kept = Object.entries(isRecord(configurable) ? configurable : {}).filter(
    ([key]) => !/^(thread_id|run_id|checkpoint_(id|ns|map))$/.test(key),
  );
  const own = Object.entries(metadata).filter(
    ([key]) => !/^(graph_id|assistant_id|graph_version)$/.test(key),
  );
  return {
    ...{ input, command, context, stream_mode, stream_subgraphs, durability },
    ...{ interrupt_before, interrupt_after, strict_resume },
    assistant_id: assistantId,
    config: { ...others, ...(kept.length > 0 && { configurable: Object.fromEntries(kept) }) },
    metadata: Object.fromEntries(own),
  } as RunCreateRequest;
}

/** Answers by interrupt id: the ids differ in each execution, the nodes that ask do not. */
function readdressed(resume: unknown, stored: readonly ThreadState[], now: ThreadState): unknown {
  if (!isRecord(resume)) return resume;
  const places = new Map(stored.flatMap((state) => questionsOf(state)));
  const ids = new Map(questionsOf(now).map(([id, place]) => [place, id]));
  const isByIds = Object.keys(resume).length > 0 && Object.keys(resume).every((id) => places.has(id));
  if (!isByIds) return resume;
  return Object.fromEntries(
    Object.entries(resume).map(([id, answer]) => [ids.get(places.get(id) ?? "") ?? id, answer]),
  );
}

/** The ids of the open interrupts, each with its node and its number in it. */
const questionsOf = ({ tasks }: ThreadState): [id: string, place: string][] => {
  const numbers = new Map<string, number>();
  return tasks.flatMap(({ name, interrupts }) =>
    interrupts.map(({ id }): [string, string] => {
      const number = (numbers.get(name) ?? 0) + 1;
      numbers.set(name, number);
      return [id, `${name} ${number}`];
    }),
  );
};

async function madeBy(client: Client, { thread_id, base }: StoredUnit, runIds: readonly string[]) {
  const runs: Run[] = [];
  for (const id of runIds) runs.push(await client.runs.get(thread_id, id));
  const states: ThreadState[] = [];
  for await (const state of walkStates(client, thread_id))
    if (runIds.includes(String(state.metadata.run_id))) states.unshift(state);
  return { runs, states, base };
}
