/** Runs with an idempotency key: accepted once. A repeated request joins the existing run. */
import type { RunStream, WaitingRun } from "../models/run-stream.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import { joinRun, joinRunStream, joinStatelessStream } from "../delivery/follow.js";
import { executeOnce } from "../runs/idempotency.js";
import type { EngineContext } from "../runs/live-runs.js";
import { disconnectOf, type KnownRun } from "../runs/run-request.js";
import { runModel, runRow } from "../threads/thread-origin.js";

/** Fixed ids of a stateless run and its thread. */
export interface OwnIds {
  known?: KnownRun;
  threadId?: string;
}

interface CallOptions {
  /** Aborts when the caller disconnects. */
  signal?: AbortSignal;
}

/** Accepts a run on a given or a temporary thread. The request no longer has the key. */
type Accepting<T> =
  | { onThread: (threadId: string, request: RunCreateRequest, known: KnownRun) => Promise<T> }
  | { onOwn: (request: RunCreateRequest, own: OwnIds) => Promise<T> };

export class KeyedRuns {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** The newly accepted run, or the current state of the existing one. */
  async background(
    request: RunCreateRequest,
    threadId: string | undefined,
    accepting: Accepting<Run>,
  ): Promise<Run> {
    const found = await this.#once(request, { threadId }, accepting, (run) => run);
    if ("first" in found) return found.first;
    const { thread_id, run_id, run } = found.again;
    const row = await this.#context.storage.runs.get(thread_id, run_id);
    return row ? runModel(row) : (run ?? runModel(await runRow(this.#context, thread_id, run_id)));
  }

  async wait(
    request: RunCreateRequest,
    options: CallOptions & { threadId?: string },
    accepting: Accepting<WaitingRun>,
  ): Promise<WaitingRun> {
    const found = await this.#once(request, options, accepting, ({ run }) => run);
    if ("first" in found) return found.first;
    const { thread_id, run_id } = found.again;
    return joinRun(this.#context, thread_id, run_id, {
      signal: options.signal,
      cancelOnDisconnect: this.#endsWithClient(request),
    });
  }

  async stream(
    request: RunCreateRequest,
    options: CallOptions & { threadId?: string },
    accepting: Accepting<RunStream>,
  ): Promise<RunStream> {
    const found = await this.#once(request, options, accepting, () => null);
    if ("first" in found) return found.first;
    const { thread_id, run_id } = found.again;
    const follow = { cancelOnDisconnect: this.#endsWithClient(request) };
    return options.threadId === undefined
      ? joinStatelessStream(this.#context, run_id, follow)
      : joinRunStream(this.#context, thread_id, run_id, follow);
  }

  #once<T>(
    request: RunCreateRequest,
    { threadId, signal }: CallOptions & { threadId?: string },
    accepting: Accepting<T>,
    runOf: (accepted: T) => Run | null,
  ) {
    const { idempotency_key: _, ...own } = request;
    const accept = (known: KnownRun, thread: string) =>
      "onOwn" in accepting
        ? accepting.onOwn(own, { known, threadId: thread })
        : accepting.onThread(thread, own, known);
    return executeOnce(this.#context, { request, threadId, signal }, accept, runOf);
  }

  #endsWithClient(request: RunCreateRequest): boolean {
    const { ignore_on_disconnect_continue } = this.#context.settings;
    return ignore_on_disconnect_continue || disconnectOf(this.#context, request) === "cancel";
  }
}
