/** Creates the checkpoint that a run resumes from, on a copy or a branch of a thread, and writes values to it. */
import { RunSoFar } from "../../client/run-events.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { RunCreateRequest } from "../../models/run.js";
import type { CheckpointSelector, StateWriteResult, ThreadState } from "../../models/state.js";
import type { Thread } from "../../models/thread.js";
import type { ThreadInMemory } from "../../service/thread-copy.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { refuseUnknownState } from "../session/graph-keys.js";
import { clientOf } from "../session/open-client.js";
import { parseJsonFlag, type PlaceFlags } from "../session/options.js";
import { withRememberedGraphs } from "../session/open.js";
import { attachFault, runReport, type RunReport } from "../run/outcome.js";
import { loadSettings, type Session } from "../session/session.js";
import { type Client, graphIdOf } from "../../client/client.js";
import { abortOnStop } from "../session/stop.js";

interface ForkRequest {
  /** Fork on the same thread instead of a copy. */
  branch: boolean;
  values?: JsonObject | unknown[];
  asNode?: string;
  /** Drop the pending writes of tasks after the checkpoint, so that the tasks run again. */
  afresh?: boolean;
}

export interface Forked {
  thread: Thread;
  /** Checkpoint to resume from; undefined for the latest, which is the only one of a copy. */
  checkpointId: string | undefined;
  /** Parent of the next checkpoint. */
  base: string;
}

/** @throws ThreadBusyError, InvalidRequestError if the graph rejects the values */
export async function fork(client: Client, from: ThreadState, request: ForkRequest): Promise<Forked> {
  const { checkpoint } = from;
  if (!checkpoint?.checkpoint_id) {
    throw new InvalidRequestError("the thread has no checkpoint to resume from", undefined, {
      hint: "run it first: graph-serve run --thread ID --message TEXT",
    });
  }
  const { thread_id, checkpoint_id } = checkpoint;
  if (request.branch) {
    const isWritten = request.values !== undefined || request.asNode !== undefined;
    const id = isWritten ? await write(client, thread_id, request, checkpoint_id) : checkpoint_id;
    return { thread: await client.threads.get(thread_id), checkpointId: id, base: id ?? checkpoint_id };
  }
  const latest = (await client.threads.getState(thread_id)).checkpoint?.checkpoint_id;
  const isWhole = latest === checkpoint_id && !request.afresh;
  const copy = await client.threads.copy(thread_id, isWhole ? {} : { checkpoint_id });
  if (request.values === undefined && request.asNode === undefined)
    return { thread: copy, checkpointId: undefined, base: checkpoint_id };
  try {
    const written = await write(client, copy.thread_id, request);
    const thread = await client.threads.get(copy.thread_id);
    return { thread, checkpointId: undefined, base: written ?? checkpoint_id };
  } catch (error) {
    await client.threads.delete(copy.thread_id);
    throw error;
  }
}

async function write(
  client: Client,
  threadId: string,
  { values, asNode }: ForkRequest,
  checkpointId?: string,
): Promise<string | undefined> {
  const checkpoint = checkpointId === undefined ? undefined : { checkpoint_id: checkpointId };
  const written = await writeState(client, threadId, { values, asNode, checkpoint });
  return written.checkpoint.checkpoint_id ?? undefined;
}

interface StateWrite extends Pick<ForkRequest, "values" | "asNode"> {
  /** Write after this checkpoint instead of the latest. */
  checkpoint?: CheckpointSelector;
}

/**
 * Writes to a thread's state, using the reducers of its graph.
 * @throws InvalidRequestError if the graph does not have a key or rejects the values (`invalid_request`)
 */
export async function writeState(
  client: Client,
  threadId: string,
  { values, asNode, checkpoint }: StateWrite,
): Promise<StateWriteResult> {
  await refuseUnknownState(client, await client.threads.get(threadId), values);
  return client.threads.updateState(threadId, {
    values: values ?? null,
    ...(asNode !== undefined && { as_node: asNode }),
    ...(checkpoint && { checkpoint }),
  });
}

/**
 * Parses `--values`.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function valuesFlag(text: string | undefined): JsonObject | unknown[] | undefined {
  if (text === undefined) return undefined;
  const values = parseJsonFlag("--values", text);
  if (isRecord(values) || Array.isArray(values)) return values;
  throw new InvalidRequestError(`--values must be a JSON object, got ${text}`, undefined, {
    hint: `for example --values '{"count": 3}'`,
  });
}

// Resumes a thread from its latest checkpoint, or an earlier one, without new input.

interface RunOnOptions {
  threadId: string;
  flags: PlaceFlags;
  /** Graph to run; defaults to the default graph. */
  graph?: string;
  checkpointId?: string;
  /** Requests of consecutive runs while the thread is interrupted; without any, one run without input. */
  requests?: readonly Pick<RunCreateRequest, "input" | "command">[];
  /** A copy in memory to run on. */
  storage?: ThreadInMemory["storage"] | undefined;
}

/** @throws GraphServeError if the run cannot be started or its stream is lost */
export async function runOn(session: Session, options: RunOnOptions): Promise<RunReport> {
  const { threadId, flags, graph, checkpointId, requests = [], storage } = options;
  const client = await clientOf(session, { ...flags, raw: false }, { access: "run", graph, storage });
  const stop = abortOnStop(session.io);
  const place = {
    assistant_id: await client.defaultAssistant(),
    if_not_exists: "reject" as const,
    stream_mode: ["values" as const],
    ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
  };
  try {
    const [first = {}, ...others] = requests;
    let run = await ranTo(client, threadId, { ...place, ...first }, stop.signal);
    for (const other of others) {
      if (run.interrupts.length === 0 || stop.signal.aborted) break;
      run = await ranTo(client, threadId, { ...place, ...other }, stop.signal);
    }
    const outcome = runReport(threadId, run);
    await attachFault(session.print, client, outcome);
    return outcome;
  } finally {
    stop.dispose();
    await client.close();
  }
}

/** Runs until the end. @throws GraphServeError if the stream is lost */
async function ranTo(
  client: Client,
  threadId: string,
  request: RunCreateRequest,
  signal: AbortSignal,
): Promise<RunSoFar> {
  const run = new RunSoFar();
  for await (const event of client.runs.stream(threadId, request, signal)) run.take(event);
  if (run.status === "running")
    throw new GraphServeError("server_unreachable", "the stream ended before the run finished");
  return run;
}

/**
 * The graph that last ran on the thread. Undefined if the thread has none; then the default graph runs.
 * @throws GraphServeError if the graph is not configured (`assistant_not_found`)
 */
export async function graphToRun(
  session: Session,
  thread: Pick<Thread, "metadata">,
  { url }: PlaceFlags,
): Promise<string | undefined> {
  const id = graphIdOf(thread);
  if (id === undefined || url !== undefined) return id;
  const configured = await loadSettings(session, { warn: () => undefined });
  if (Object.hasOwn(configured.settings.graphs, id)) return id;
  const { targets } = await withRememberedGraphs(configured, session.io.cwd);
  if (targets[id] !== undefined) return targets[id];
  throw new GraphServeError(
    "assistant_not_found",
    `the thread ran on graph ${JSON.stringify(id)}, which is not configured`,
    { hint: "add it to `graphs` in the configuration, or specify the project folder with --cwd" },
  );
}
