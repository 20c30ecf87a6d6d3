/** Runs one case: its steps on a new thread, and their expectations. */
import type { Client } from "../client/client.js";
import type { RunCreateRequest, StreamMode } from "../models/run.js";
import { reportedTokens } from "../models/token-counts.js";
import type { ThreadState } from "../models/state.js";
import { GraphServeError, InvalidRequestError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { newId } from "../support/ids.js";
import type { Case, CaseStep } from "./cases/case-files.js";
import type { CheckpointChoice } from "./cases/case-model.js";
import { type Edge, edgesTaken, edgeText } from "./edges.js";
import {
  leaks,
  type ObservedOutput,
  type Seen,
  unexpectedError,
  expectationMismatches,
} from "./expectations.js";
import { Observation } from "./observation.js";
import { type Failure, mismatch, type Mismatch } from "./cases/result.js";
import type { SnapshotFile } from "./snapshot.js";

/** The graph that a case runs: a client of its service, and its assistant there. */
export interface Tested {
  client: Client;
  assistantId: string;
}

const MOST_STATES = 1_000;

const USUAL_MODES: readonly StreamMode[] = [
  "values",
  "updates",
  "messages-tuple",
  "custom",
  "tasks",
  "checkpoints",
];
/** All stream modes that could contain a private key. */
const ALL_MODES: readonly StreamMode[] = [...USUAL_MODES, "messages", "debug", "events"];

export interface CaseContext {
  graph: Tested;
  /** Edges of the graph. */
  edges: readonly Edge[];
  snapshots?: SnapshotFile;
  /** Aborts the case. */
  signal: AbortSignal;
  /** Called with the thread before its first run; `end` is called after its last run. */
  onThread?(threadId: string): { end(isFine: boolean): Mismatch[] };
}

export interface CaseOutcome {
  failures: Failure[];
  nodes: string[];
  edges: Edge[];
  tokens: number;
  /** The run in flight, or the last one. */
  current?: Observation;
}

export const newOutcome = (): CaseOutcome => ({ failures: [], nodes: [], edges: [], tokens: 0 });

/**
 * Runs a case and updates `outcome`, which can be read while it runs. Steps after a failed step are skipped.
 */
export async function runCase(one: Case, context: CaseContext, outcome: CaseOutcome): Promise<void> {
  const threadId = newId();
  const watch = context.onThread?.(threadId);
  try {
    for (const [index, step] of one.steps.entries()) {
      const found = await runStep(one.name, step, { ...context, threadId, number: index + 1 }, outcome);
      outcome.failures.push(...found.map((failure) => located(failure, step, one, index)));
      if (found.length > 0 || context.signal.aborted) break;
    }
  } finally {
    const unplayed = watch?.end(outcome.failures.length === 0 && !context.signal.aborted) ?? [];
    // An unrecorded call causes the other failures, which would hide it.
    if (unplayed.length > 0)
      outcome.failures = unplayed.map((failure) => located(failure, one.steps[0], one, 0));
  }
}

function located(
  { path, ...failure }: Mismatch,
  step: CaseStep | undefined,
  one: Case,
  index: number,
): Failure {
  const hasOwnPlace = step?.expect !== undefined && path.length > 0;
  return {
    ...(one.steps.length > 1 && { step: index + 1 }),
    ...failure,
    location: hasOwnPlace ? step.locate(path) : one.location,
  };
}

interface StepContext extends CaseContext {
  threadId: string;
  number: number;
}

async function runStep(
  name: string,
  step: CaseStep,
  context: StepContext,
  outcome: CaseOutcome,
): Promise<Mismatch[]> {
  const run = new Observation();
  outcome.current = run;
  const start = performance.now();
  try {
    await drain(run, await stepRequest(step, context), context);
  } catch (error) {
    if (context.signal.aborted) return [];
    if (error instanceof GraphServeError && isOutside(error)) throw error;
    return [mismatch([], `the run was rejected: ${errorMessage(error)}`)];
  }
  run.durationMs = performance.now() - start;
  if (context.signal.aborted) return [];
  const {
    graph: { client },
    threadId,
  } = context;
  const values = run.values === undefined ? (await client.threads.getState(threadId)).values : run.values;
  const taken = edgesTaken(run, context.edges, { fromStart: isInput(step) });
  outcome.nodes = outcome.nodes.concat(run.nodes);
  outcome.edges = outcome.edges.concat(taken);
  outcome.tokens += reportedTokens(run.usage).total_tokens;
  const found = await judge(name, step, { run, values, edges: taken.map(edgeText) }, context);
  return found.length > 0 ? withFault(found, run, context) : found;
}

/** Attaches the error of the run to the first failure. */
async function withFault(
  [first, ...others]: Mismatch[],
  { error, runId }: Observation,
  { graph, threadId }: StepContext,
): Promise<Mismatch[]> {
  const isKept = error !== undefined && runId !== undefined;
  const fault = isKept ? await graph.client.fault?.(threadId, runId) : undefined;
  return first ? [{ ...first, ...(fault && { fault }) }, ...others] : others;
}

/** Whether an error comes from the environment instead of the case. */
const isOutside = ({ code }: GraphServeError): boolean =>
  code === "server_unreachable" || code === "storage_unavailable" || code === "graph_load_failed";

const isInput = ({ input, resume, goto, checkpoint }: CaseStep): boolean =>
  input != null && resume === undefined && goto === undefined && checkpoint === undefined;

async function judge(
  name: string,
  { expect }: CaseStep,
  seen: Seen,
  { snapshots, number, graph, threadId }: StepContext,
): Promise<Mismatch[]> {
  if (!expect) return unexpectedError(seen);
  const failures = await expectationMismatches(expect, seen);
  if (expect.private) failures.push(...leaks(expect.private, await outputsOf(seen, graph.client, threadId)));
  // Do not store a snapshot of a failed run.
  if (expect.snapshot && snapshots && failures.length === 0)
    failures.push(...snapshots.compare(name, number, seen));
  return failures;
}

/** Everything about the run that clients can receive. */
async function outputsOf({ run }: Seen, { threads }: Client, threadId: string): Promise<ObservedOutput[]> {
  const [thread, state, history] = await Promise.all([
    threads.get(threadId),
    threads.getState(threadId),
    threads.getHistory(threadId, { limit: MOST_STATES }),
  ]);
  return [
    ...run.events.map(({ event, data }) => ({ name: `stream event ${event}`, value: data })),
    // Values that the caller sent need no redaction for the caller.
    { name: "the thread", value: { ...thread, config: {} } },
    { name: "the state", value: state },
    ...history.map((past, index) => ({ name: `history[${index}]`, value: past })),
  ];
}

/** The run request of a step. @throws InvalidRequestError if its checkpoint does not exist (`invalid_request`) */
export async function stepRequest(
  step: CaseStep,
  { graph, threadId }: Pick<StepContext, "graph" | "threadId">,
): Promise<RunCreateRequest> {
  const { input, resume, goto, update, config, context } = step;
  const hasCommand = resume !== undefined || goto !== undefined || update !== undefined;
  const checkpoint =
    step.checkpoint === undefined
      ? undefined
      : await checkpointOfStep(step.checkpoint, graph.client, threadId);
  return {
    assistant_id: graph.assistantId,
    if_not_exists: "create",
    stream_mode: modesOf(step),
    stream_subgraphs: true,
    ...(input !== undefined && { input }),
    ...(hasCommand && {
      command: {
        ...(resume !== undefined && { resume }),
        ...(goto !== undefined && { goto }),
        ...(update !== undefined && { update }),
      },
    }),
    ...(checkpoint !== undefined && { checkpoint_id: checkpoint }),
    ...(config && { config }),
    ...(context && { context }),
    ...(step.interrupt_before && { interrupt_before: step.interrupt_before }),
    ...(step.interrupt_after && { interrupt_after: step.interrupt_after }),
  };
}

/** The stream modes of a step. Nodes and edges are read from `tasks`, final values from `values`. */
function modesOf({ stream_mode, expect }: CaseStep): StreamMode[] {
  if (expect?.private) return [...ALL_MODES];
  return stream_mode ? [...new Set<StreamMode>([...stream_mode, "values", "tasks"])] : [...USUAL_MODES];
}

async function drain(run: Observation, request: RunCreateRequest, context: StepContext): Promise<void> {
  const { graph, threadId, signal } = context;
  try {
    for await (const event of graph.client.runs.stream(threadId, request, signal)) run.take(event);
  } catch (error) {
    const modes = [request.stream_mode ?? []].flat();
    const isRefused = error instanceof GraphServeError && error.code === "unsupported_option";
    if (!isRefused || !modes.includes("events")) throw error;
    // A server that hides keys does not offer `events`, because it cannot hide keys in them.
    await drain(run, { ...request, stream_mode: modes.filter((mode) => mode !== "events") }, context);
  }
  if (run.status === "running" && !signal.aborted)
    throw new GraphServeError("server_unreachable", "the stream ended before the run finished");
}

// The checkpoint that a step starts from.

/**
 * The id of the newest checkpoint that matches the choice.
 * @throws InvalidRequestError if none matches (`invalid_request`)
 */
async function checkpointOfStep(
  choice: CheckpointChoice,
  { threads }: Client,
  threadId: string,
): Promise<string> {
  const history = await threads.getHistory(threadId, { limit: MOST_STATES });
  const fits = ({ next, metadata }: ThreadState) =>
    typeof choice === "number" ? metadata.step === choice : next.includes(choice.before);
  const id = history.find(fits)?.checkpoint?.checkpoint_id;
  if (id != null) return id;
  const wanted = typeof choice === "number" ? `with step ${choice}` : `before ${choice.before}`;
  const there = history.map(
    ({ next, metadata }) => `${String(metadata.step)} (next ${next.join(", ") || "none"})`,
  );
  throw new InvalidRequestError(
    `the thread has no checkpoint ${wanted}; existing steps: ${there.join("; ") || "none"}`,
  );
}
