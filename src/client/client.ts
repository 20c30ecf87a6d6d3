import type { Assistant, AssistantSearchRequest, GraphDrawing, GraphSchema } from "../models/assistant.js";
import type { Cron, CronPatchRequest, CronSearchRequest } from "../models/cron.js";
import type { DeadRun, DeadRunFilter } from "../models/dead-run.js";
import type { Run, RunCreateRequest, RunFilter, RunSearchRequest } from "../models/run.js";
import type {
  CheckpointSelector,
  StateWriteResult,
  ThreadState,
  ThreadStateSearchRequest,
  ThreadStateUpdateRequest,
} from "../models/state.js";
import type { StoredCheckpoint } from "../models/thread-file.js";
import type {
  Thread,
  ThreadCountRequest,
  ThreadCreateRequest,
  ThreadPatchRequest,
  ThreadSearchRequest,
} from "../models/thread.js";
import type { Webhook, WebhookFilter } from "../models/webhook.js";
import type { RunFault } from "../support/run-fault.js";
import type { RunEvent } from "./run-events.js";

/**
 * A LangGraph service, near or far: in this process, or a server that is asked over HTTP. The same calls, the same
 * answers, the same errors. Methods are those of the LangGraph SDK; requests and answers are the bodies of the REST
 * interface. Made by `localClient` or `remoteClient`, closed by its owner.
 */
export interface Client {
  readonly threads: ThreadsClient;
  readonly runs: RunsClient;
  readonly assistants: AssistantsClient;
  readonly crons: CronsClient;
  readonly webhooks: WebhooksClient;
  /** Where the service is, for people: `sqlite .graph-serve/dev.db`, or the server's address. */
  readonly place: string;
  /** The server's address; undefined for a service in this process. */
  readonly url?: string;
  /** Whether a thread can still be read when this client has closed. */
  readonly keepsThreads: boolean;
  /** A thread's checkpoints as they are stored; undefined for a server, which shows states only. */
  readonly stored?: (threadId: string) => AsyncIterable<StoredCheckpoint>;
  /** What a run threw, and where; undefined for a server, which shows no code. @throws NotFoundError (`run_not_found`) */
  readonly fault?: (threadId: string, runId: string) => Promise<RunFault | undefined>;
  /** The assistant that runs where nothing names one. @throws GraphServeError (`assistant_not_found`) */
  defaultAssistant(): Promise<string>;
  /** How `graph-serve run` names the graph of this thread; undefined for the one it takes by itself. */
  graphOf(thread: Partial<Pick<Thread, "metadata">>): string | undefined;
  /** What hides values of this thread: its graph is not there, or does not load. Ask after its state was read. */
  whyHidden(thread: Partial<Pick<Thread, "metadata">>): string | undefined;
  close(): Promise<void>;
}

interface ThreadsClient {
  search(request: ThreadSearchRequest): Promise<Partial<Thread>[]>;
  count(request: ThreadCountRequest): Promise<number>;
  /** @throws NotFoundError (`thread_not_found`), as does all that takes a thread's id */
  get(threadId: string): Promise<Thread>;
  /** @throws GraphServeError (`thread_exists`) */
  create(request: ThreadCreateRequest): Promise<Thread>;
  update(threadId: string, request: ThreadPatchRequest): Promise<Thread>;
  /** Copies the latest state, or that of a checkpoint. @throws UnsupportedOptionError on servers that cannot */
  copy(threadId: string, options?: { checkpoint_id?: string }): Promise<Thread>;
  /** @throws ThreadBusyError (`thread_busy`) */
  delete(threadId: string): Promise<void>;
  /** The latest state, or that of a checkpoint. @throws NotFoundError (`checkpoint_not_found`) */
  getState(
    threadId: string,
    options?: { checkpoint?: CheckpointSelector; subgraphs?: boolean },
  ): Promise<ThreadState>;
  /** Newest first. */
  getHistory(threadId: string, request?: ThreadStateSearchRequest): Promise<ThreadState[]>;
  /** @throws ThreadBusyError (`thread_busy`), InvalidRequestError when the graph refuses the values */
  updateState(threadId: string, request: ThreadStateUpdateRequest): Promise<StateWriteResult>;
}

interface RunsClient {
  /** Newest first. */
  list(threadId: string, filter: RunFilter): Promise<Run[]>;
  /** Of all threads, newest first. */
  search(request: RunSearchRequest): Promise<Partial<Run>[]>;
  /** @throws NotFoundError (`run_not_found`) */
  get(threadId: string, runId: string): Promise<Run>;
  /** Runs that died with their processes, newest first. */
  dead(filter: DeadRunFilter): Promise<DeadRun[]>;
  /** Requeue a dead run. @throws GraphServeError (`run_not_found`, `run_not_redrivable`, `thread_busy`) */
  redrive(threadId: string, runId: string): Promise<Run>;
  /** Starts a run and gives its events, to its end. Aborting the signal interrupts the run. */
  stream(threadId: string, request: RunCreateRequest, signal: AbortSignal): AsyncIterable<RunEvent>;
}

interface AssistantsClient {
  search(request: AssistantSearchRequest): Promise<Partial<Assistant>[]>;
  getSchemas(assistantId: string): Promise<GraphSchema>;
  getGraph(assistantId: string, options: { xray: boolean }): Promise<GraphDrawing>;
}

interface CronsClient {
  search(request: CronSearchRequest): Promise<Cron[]>;
  /** @throws NotFoundError (`cron_not_found`), as does `delete` */
  update(cronId: string, request: CronPatchRequest): Promise<Cron>;
  delete(cronId: string): Promise<void>;
}

interface WebhooksClient {
  list(filter: WebhookFilter): Promise<Webhook[]>;
  /** @throws NotFoundError (`webhook_not_found`), as does `delete` */
  send(runId: string): Promise<void>;
  delete(runId: string): Promise<void>;
}

/** What a run through a client does where its request does not say, whatever the service's own defaults are. */
export const RUN_DEFAULTS = {
  on_disconnect: "cancel",
  multitask_strategy: "enqueue",
} as const satisfies Partial<RunCreateRequest>;

/** The answer, undefined where a thread is asked for that is not there. */
export async function foundOnly<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { code?: unknown }).code === "thread_not_found") return undefined;
    throw error;
  }
}

/** The graph that a thread ran last, by its metadata. */
export function graphIdOf(thread: Partial<Pick<Thread, "metadata">> | undefined): string | undefined {
  const id = thread?.metadata?.graph_id;
  return typeof id === "string" ? id : undefined;
}
