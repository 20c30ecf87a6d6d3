import type { Assistant, AssistantSearchRequest, GraphDrawing, GraphSchema } from "../models/assistant.js";
import type { Cron, CronPatchRequest, CronSearchRequest } from "../models/cron.js";
import type { DeadRun, DeadRunFilter } from "../models/dead-run.js";
import type { Run, RunCreateRequest, RunFilter, RunSearchRequest, RunTasks } from "../models/run.js";
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
import type { Usage, UsageFilter } from "../models/usage.js";
import type { Webhook, WebhookFilter } from "../models/webhook.js";
import type { RunFault } from "../support/run-fault.js";
import type { RunEvent } from "./run-events.js";

/**
 * A LangGraph service, in this process or on a server. Both have the same calls, responses and
 * errors.
 * Methods follow the LangGraph SDK; requests and responses are the bodies of the REST API. Created
 * by `localClient` or `remoteClient` and closed by its owner.
 */
export interface Client {
  readonly threads: ThreadsClient;
  readonly runs: RunsClient;
  readonly assistants: AssistantsClient;
  readonly crons: CronsClient;
  readonly webhooks: WebhooksClient;
  /** Usage of models, in groups. @throws GraphServeError (`unsupported_option`) */
  usage(filter: UsageFilter): Promise<Usage[]>;
  /** Location of the service for display: `sqlite .graph-serve/dev.db`, or the server's address. */
  readonly place: string;
  /** The server's address; undefined for a service in this process. */
  readonly url?: string;
  /** Whether threads can still be read after this client is closed. */
  readonly keepsThreads: boolean;
  /** A thread's stored checkpoints; undefined for a server, which exposes states only. */
  readonly stored?: (threadId: string) => AsyncIterable<StoredCheckpoint>;
  /**
   * Error that a run threw, with its location; undefined for a server, which exposes no code.
   * @throws NotFoundError (`run_not_found`)
   */
  readonly fault?: (threadId: string, runId: string) => Promise<RunFault | undefined>;
  /**
   * Yields after changes of threads and runs, first when it is connected; ends with the connection. Undefined for a service
   * in this process. @throws GraphServeError, for example by a server without this stream
   */
  readonly changes?: (signal: AbortSignal) => AsyncIterable<void>;
  /** The assistant that runs by default. @throws GraphServeError (`assistant_not_found`) */
  defaultAssistant(): Promise<string>;
  /** Argument that selects the thread's graph in `graph-serve run`; undefined if it is the default graph. */
  graphOf(thread: Partial<Pick<Thread, "metadata">>): string | undefined;
  /**
   * Reason why values of this thread are hidden: its graph is missing or does not load. Call it
   * after reading the state.
   */
  whyHidden(thread: Partial<Pick<Thread, "metadata">>): HiddenReason | undefined;
  close(): Promise<void>;
}

export interface HiddenReason {
  message: string;
  /** How to see the values. */
  hint: string;
  /** Whether keys of other graphs may still be shown. */
  isPartial: boolean;
}

interface ThreadsClient {
  search(request: ThreadSearchRequest): Promise<Partial<Thread>[]>;
  count(request: ThreadCountRequest): Promise<number>;
  /** @throws NotFoundError (`thread_not_found`), as do all methods with a thread id */
  get(threadId: string): Promise<Thread>;
  /** @throws GraphServeError (`thread_exists`) */
  create(request: ThreadCreateRequest): Promise<Thread>;
  update(threadId: string, request: ThreadPatchRequest): Promise<Thread>;
  /** Copies the latest state, or that of a checkpoint. @throws UnsupportedOptionError if the server cannot */
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
  /** @throws ThreadBusyError (`thread_busy`), InvalidRequestError if the graph rejects the values */
  updateState(threadId: string, request: ThreadStateUpdateRequest): Promise<StateWriteResult>;
}

interface RunsClient {
  /** Newest first. */
  list(threadId: string, filter: RunFilter): Promise<Run[]>;
  /** Runs of all threads, newest first by default. */
  search(request: RunSearchRequest): Promise<Partial<Run>[]>;
  /** @throws NotFoundError (`run_not_found`) */
  get(threadId: string, runId: string): Promise<Run>;
  /** The steps of a run with their times. @throws NotFoundError (`run_not_found`) */
  tasks(threadId: string, runId: string): Promise<RunTasks>;
  /** Runs that died with their processes, newest first. */
  dead(filter: DeadRunFilter): Promise<DeadRun[]>;
  /** Requeues a dead run. @throws GraphServeError (`run_not_found`, `run_not_redrivable`, `thread_busy`) */
  redrive(threadId: string, runId: string): Promise<Run>;
  /** Starts a run and yields its events until it ends. Aborting the signal interrupts the run. */
  stream(threadId: string, request: RunCreateRequest, signal: AbortSignal): AsyncIterable<RunEvent>;
}

interface AssistantsClient {
  search(request: AssistantSearchRequest): Promise<Partial<Assistant>[]>;
  getSchemas(assistantId: string): Promise<GraphSchema>;
  getGraph(assistantId: string, options: { xray: boolean }): Promise<GraphDrawing>;
  /** @throws NotFoundError (`assistant_not_found`), GraphServeError for one of the configuration (`unsupported_option`) */
  delete(assistantId: string): Promise<void>;
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

/** Defaults of a run started through a client, regardless of the service's own defaults. */
export const RUN_DEFAULTS = {
  on_disconnect: "cancel",
  multitask_strategy: "enqueue",
} as const satisfies Partial<RunCreateRequest>;

/** Resolves with undefined if the call fails with `thread_not_found`. */
export async function foundOnly<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { code?: unknown }).code === "thread_not_found") return undefined;
    throw error;
  }
}

/** The graph that a thread ran last, from its metadata. */
export function graphIdOf(thread: Partial<Pick<Thread, "metadata">> | undefined): string | undefined {
  const id = thread?.metadata?.graph_id;
  return typeof id === "string" ? id : undefined;
}
