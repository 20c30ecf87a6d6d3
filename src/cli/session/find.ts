/** Resolves short references: the beginning of an id, a step number, or a position counted from the end. */
import { GraphServeError, InvalidRequestError, NotFoundError } from "../../support/errors.js";
import { canonicalUuid, timeOfId } from "../../support/ids.js";
import type { Run } from "../../models/run.js";
import type { ThreadState } from "../../models/state.js";
import type { Client } from "../../client/client.js";
import type { RowsClient } from "../../client/rows.js";
import { walkRuns, walkStates, walkThreads } from "../../client/walk.js";
import { findNamespace } from "./namespace.js";
import { type IdKind, missingCheckpoint, NotAnId } from "./not-found.js";

/** Minimum length of an abbreviated id, in characters. */
const SHORTEST = 4;

/** Names the newest: the thread changed last, the newest run, the latest checkpoint. */
export const LAST = "@last";

/**
 * The id of the thread that `text` names: an id in any form, the beginning of one, or `@last`.
 * @throws NotFoundError (`thread_not_found`), InvalidRequestError if several threads match (`invalid_request`)
 */
export async function findThreadId(client: Pick<RowsClient, "threads">, text: string): Promise<string> {
  const id = canonicalUuid(text);
  if (id !== undefined) return id;
  if (text === LAST) return lastThreadId(client);
  const start = startOfId("thread", text);
  const found: string[] = [];
  for await (const threadId of threadIds(client)) if (threadId.startsWith(start)) found.push(threadId);
  return onlyOne("thread", text, found, (threadId) => threadId);
}

async function lastThreadId({ threads }: Pick<RowsClient, "threads">): Promise<string> {
  const [last] = await threads.search({ select: ["thread_id"], sort_by: "updated_at", limit: 1 });
  if (last?.thread_id !== undefined) return last.thread_id;
  throw new GraphServeError("thread_not_found", "there are no threads yet", {
    hint: 'create one: graph-serve run --message "hello"',
  });
}

async function* threadIds(client: Pick<RowsClient, "threads">): AsyncGenerator<string> {
  for await (const { thread_id = "" } of walkThreads(client, { select: ["thread_id"] })) yield thread_id;
}

interface FoundRun {
  threadId: string;
  run: Run;
}

/**
 * The run that `text` names, by its id, the beginning of one, or `@last`, and its thread. Searches first the threads changed
 * since a run with this id was created, then all: ids do not go back when the server's clock does.
 * @throws NotFoundError (`run_not_found`), InvalidRequestError if several runs match (`invalid_request`)
 */
export async function findRun(client: Client, text: string, threadId?: string): Promise<FoundRun> {
  const id = canonicalUuid(text);
  const thread = threadId === undefined ? undefined : await findThreadId(client, threadId);
  if (text === LAST) return lastRun(client, thread);
  if (id === undefined) return findRunByStart(client, text, thread);
  if (thread !== undefined) return { threadId: thread, run: await client.runs.get(thread, id) };
  const made = timeOfId(id);
  // Allows one second of clock skew.
  const since = made === undefined ? undefined : new Date(made - 1000).toISOString();
  const threads = walkThreads(client, { select: ["thread_id", "updated_at"], sort_by: "updated_at" });
  for await (const { thread_id = "", updated_at = "" } of threads) {
    if (since !== undefined && updated_at < since) break;
    const run = await runOn(client, thread_id, id);
    if (run) return { threadId: thread_id, run };
  }
  return findRunByStart(client, id, undefined);
}

async function lastRun(client: Client, thread: string | undefined): Promise<FoundRun> {
  const page = { limit: 1, offset: 0 };
  const [last] = await (thread === undefined ? client.runs.search(page) : client.runs.list(thread, page));
  const { thread_id: threadId, run_id: runId } = last ?? {};
  if (threadId === undefined || runId === undefined)
    throw new GraphServeError("run_not_found", "there are no runs yet", {
      hint: 'start one: graph-serve run --message "hello"',
    });
  return { threadId, run: await client.runs.get(threadId, runId) };
}

/** Reads every run, because the match must be unique. */
async function findRunByStart(client: Client, text: string, thread: string | undefined): Promise<FoundRun> {
  const start = startOfId("run", text);
  const found: FoundRun[] = [];
  for await (const threadId of thread === undefined ? threadIds(client) : [thread]) {
    for await (const run of walkRuns(client, threadId))
      if (run.run_id.startsWith(start)) found.push({ threadId, run });
  }
  return onlyOne("run", text, found, ({ run }) => run.run_id);
}

/**
 * The graph named by the command, else the first graph of the server.
 * @throws GraphServeError if the server has no assistants (`assistant_not_found`)
 */
export async function findGraph(client: Client, target: string | undefined): Promise<string> {
  if (target !== undefined) return target;
  const [first] = await client.assistants.search({ limit: 1 });
  if (first?.graph_id !== undefined) return first.graph_id;
  throw new GraphServeError("assistant_not_found", `the server at ${client.place} has no assistants`);
}

async function runOn(client: Client, threadId: string, runId: string): Promise<Run | undefined> {
  try {
    return await client.runs.get(threadId, runId);
  } catch (error) {
    if ((error as { code?: unknown }).code === "run_not_found") return undefined;
    throw error;
  }
}

/** A checkpoint reference: `THREAD@n`, or `THREAD` and `--checkpoint n`. */
export interface NamedCheckpoint {
  thread: string;
  /** An id, the beginning of one, a step, or a negative position from the end; undefined for the latest. */
  checkpoint: string | undefined;
}

/** @throws InvalidRequestError if both forms name a checkpoint (`invalid_request`) */
export function namedCheckpoint(text: string, checkpoint?: string): NamedCheckpoint {
  const [, thread = "", at] = /^(@last|[^@]*)(?:@(.*))?$/s.exec(text) ?? [];
  if (at !== undefined && checkpoint !== undefined && at !== checkpoint)
    throw new InvalidRequestError(`${text} and --checkpoint ${checkpoint} name two checkpoints`, undefined, {
      hint: "remove one of them",
    });
  return { thread, checkpoint: at ?? checkpoint };
}

/**
 * The state at the checkpoint given as `THREAD@n`, or as `THREAD` and a checkpoint.
 * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
 */
export async function findCheckpoint(
  client: Client,
  text: string,
  { checkpoint, ns }: { checkpoint?: string; ns?: string } = {},
): Promise<{ threadId: string; state: ThreadState }> {
  const named = namedCheckpoint(text, checkpoint);
  const threadId = await findThreadId(client, named.thread);
  const namespace = ns === undefined ? "" : await findNamespace(client, threadId, ns);
  return { threadId, state: await findState(client, threadId, { at: named.checkpoint, ns: namespace }) };
}

/**
 * The state of a thread at the checkpoint `at`: an id or the beginning of one, a step, or a position from the end (-1 is
 * the latest). Defaults to the latest.
 * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
 */
export async function findState(
  client: Client,
  threadId: string,
  { at, ns = "" }: { at?: string; ns?: string } = {},
): Promise<ThreadState> {
  const inNamespace = { checkpoint: { checkpoint_ns: ns } };
  if (at === undefined || at === LAST || at === LAST.slice(1)) {
    return client.threads.getState(threadId, ns === "" ? undefined : inNamespace);
  }
  if (canonicalUuid(at) !== undefined) {
    const checkpoint = { checkpoint_id: at.toLowerCase(), checkpoint_ns: ns };
    return client.threads.getState(threadId, { checkpoint }).catch(async (error: unknown) => {
      if ((error as { code?: unknown }).code !== "checkpoint_not_found") throw error;
      throw await missingCheckpoint(client, threadId, at, ns);
    });
  }
  if (/^-\d+$/.test(at)) return stateFromEnd(client, threadId, at, inNamespace);
  if (/^\d{1,6}$/.test(at)) return stateOfStep(client, threadId, at, inNamespace);
  return stateOfStart(client, threadId, at, inNamespace);
}

type Namespace = { checkpoint: { checkpoint_ns: string } };

async function stateFromEnd(
  client: Client,
  threadId: string,
  at: string,
  ns: Namespace,
): Promise<ThreadState> {
  let place = Number(at);
  for await (const state of walkStates(client, threadId, { ...ns, limit: -place })) {
    place += 1;
    if (place === 0) return state;
  }
  throw await missingCheckpoint(client, threadId, at, ns.checkpoint.checkpoint_ns);
}

/** Several branches may have this step; the newest checkpoint is returned. */
async function stateOfStep(
  client: Client,
  threadId: string,
  at: string,
  ns: Namespace,
): Promise<ThreadState> {
  const [state] = await client.threads.getHistory(threadId, {
    ...ns,
    metadata: { step: Number(at) },
    limit: 1,
  });
  if (state) return state;
  throw await missingCheckpoint(client, threadId, at, ns.checkpoint.checkpoint_ns);
}

async function stateOfStart(
  client: Client,
  threadId: string,
  at: string,
  ns: Namespace,
): Promise<ThreadState> {
  const start = startOfId("checkpoint", at);
  for await (const state of walkStates(client, threadId, ns)) {
    if (state.checkpoint?.checkpoint_id?.startsWith(start)) return state;
  }
  throw await missingCheckpoint(client, threadId, at, ns.checkpoint.checkpoint_ns);
}

function startOfId(what: IdKind, text: string): string {
  const start = text.toLowerCase().replace(/(…|\.\.\.)$/, "");
  if (start.length >= SHORTEST && /^[0-9a-f-]+$/.test(start)) return start;
  throw new NotAnId(what, text, `use an id, at least its first ${SHORTEST} characters, or ${LAST}`);
}

/**
 * The item that `text` names, by its id, the beginning of one, or `@last`.
 * @param newest where `@last` is in the list
 * @throws NotFoundError, InvalidRequestError if several items match (`invalid_request`)
 */
export async function findItem<T>(
  what: "cron" | "webhook" | "assistant",
  text: string,
  items: AsyncIterable<T>,
  { idOf, newest }: { idOf: (item: T) => string; newest: "first" | "last" },
): Promise<T> {
  const isLast = text === LAST;
  const start = isLast ? "" : startOfId(what, text);
  let found: T[] = [];
  for await (const item of items) {
    if (isLast) found = [item];
    else if (idOf(item).startsWith(start)) found.push(item);
    if (isLast && newest === "first") break;
  }
  return onlyOne(what, text, found, idOf);
}

/** @throws NotFoundError if nothing matches, InvalidRequestError if several match */
function onlyOne<T>(
  what: "thread" | "run" | "cron" | "webhook" | "assistant",
  text: string,
  found: readonly T[],
  idOf: (one: T) => string,
): T {
  const [first] = found;
  if (first === undefined) throw new NotFoundError(what, text);
  if (found.length === 1) return first;
  throw new InvalidRequestError(`${found.length} ${what}s begin with ${text}`, undefined, {
    hint: `use more characters of the id: ${found.slice(0, 3).map(idOf).join(", ")}`,
  });
}
