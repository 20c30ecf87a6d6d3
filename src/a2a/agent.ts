/** One graph as an A2A agent: implements the protocol's methods on behalf of the caller. */
import type {
  AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { type AnsweredStream, FramesLostError, type RunFrame, type RunStream } from "../models/run-stream.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import { isFinished } from "../models/run-status.js";
import { CONVERSATION_TTL_MINUTES } from "../models/thread.js";
import type { CallerService } from "../service/service.js";
import type { A2aSdk } from "../support/a2a-sdk.js";
import { asServiceError, GraphServeError, publicMessage } from "../support/errors.js";
import { type Outcome, runOutcome, statusOf } from "../view/outcome.js";
import { RunProgress, PROGRESS_MODES } from "../view/progress.js";
import { agentMessage, resumeValue, givenBy, inputOf } from "./messages.js";
import {
  endedTask,
  taskId,
  lastRun,
  openTask,
  parseTaskId,
  STATES,
  taskMetadata,
  currentTask,
  type TaskRef,
} from "./tasks.js";

interface AgentParts {
  sdk: A2aSdk;
  service: CallerService;
  graphId: string;
  card: AgentCard;
  /** Aborts when the client disconnects. The setting on_disconnect decides what happens to the run. */
  disconnected: AbortSignal;
}

/** A run to start. With `task`, it continues that task; otherwise it starts a new one. */
interface Start {
  threadId: string;
  request: RunCreateRequest;
  task?: TaskRef;
  /** Whether the thread was created for this run. */
  isNew: boolean;
}

export class Agent implements A2ARequestHandler {
  readonly #sdk: A2aSdk;
  readonly #service: CallerService;
  readonly #graphId: string;
  readonly #card: AgentCard;
  readonly #disconnected: AbortSignal;
  #isCalled = false;

  constructor({ sdk, service, graphId, card, disconnected }: AgentParts) {
    this.#sdk = sdk;
    this.#service = service;
    this.#graphId = graphId;
    this.#card = card;
    this.#disconnected = disconnected;
  }

  /** Whether the SDK has called a method. If it failed before that, it could not convert the params of the request. */
  get isCalled(): boolean {
    return this.#isCalled;
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#card;
  }

  async sendMessage(params: SendMessageRequest): Promise<Task> {
    return this.#guarded(async () => {
      const start = await this.#startOf(params);
      if (params.configuration?.returnImmediately) {
        const { runs } = this.#service;
        const run = await this.#started(start, () => runs.background(start.threadId, start.request));
        return openTask(start.task ?? { threadId: start.threadId, runId: run.run_id }, STATES.submitted);
      }
      const { ref, stream } = await this.#stream(start);
      let last: RunFrame | undefined;
      for await (const batch of this.#framesOf(stream)) last = batch.at(-1) ?? last;
      return endedTask(ref, stream.run.run_id, runOutcome(await stream.answer(), statusOf(last)));
    });
  }

  async *sendMessageStream(params: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const { ref, stream } = await this.#guarded(async () => this.#stream(await this.#startOf(params)));
    yield* this.#events(ref, stream, () => stream.answer());
  }

  /** Remaining events of a task that was started earlier. */
  async *resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const { ref, stream } = await this.#guarded(async () => {
      const { ref, run } = await this.#find(id);
      if (isFinished(run)) throw this.#refused("the task has ended: request its result");
      const { runs } = this.#service;
      return { ref, stream: await runs.joinStream(ref.threadId, run.run_id, { modes: [...PROGRESS_MODES] }) };
    });
    const { run_id } = stream.run;
    yield* this.#events(
      ref,
      stream,
      async () => (await this.#service.runs.join(ref.threadId, run_id)).answer,
    );
  }

  async getTask({ id }: GetTaskRequest): Promise<Task> {
    return this.#guarded(async () => {
      const { ref, run } = await this.#find(id);
      return currentTask(this.#service, ref, run);
    });
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return this.#guarded(async () => {
      const { ref, run } = await this.#find(id);
      const { TaskNotCancelableError } = this.#sdk.errors;
      if (isFinished(run)) throw new TaskNotCancelableError({ message: "the task is not running" });
      await this.#service.runs.cancel(ref.threadId, run.run_id, { wait: true, signal: this.#disconnected });
      return currentTask(this.#service, ref, await this.#service.runs.get(ref.threadId, run.run_id));
    });
  }

  async listTasks(): Promise<ListTasksResponse> {
    throw this.#refused("listing tasks is not supported");
  }

  async getAuthenticatedExtendedAgentCard(): Promise<never> {
    const { ExtendedAgentCardNotConfiguredError } = this.#sdk.errors;
    throw new ExtendedAgentCardNotConfiguredError({ message: "there is no extended agent card" });
  }

  createTaskPushNotificationConfig = (): Promise<never> => this.#refusePushes();
  getTaskPushNotificationConfig = (): Promise<never> => this.#refusePushes();
  listTaskPushNotificationConfigs = (): Promise<never> => this.#refusePushes();
  deleteTaskPushNotificationConfig = (): Promise<never> => this.#refusePushes();

  async #refusePushes(): Promise<never> {
    const { PushNotificationNotSupportedError } = this.#sdk.errors;
    throw new PushNotificationNotSupportedError({ message: "push notifications are not supported" });
  }

  #refused(message: string): Error {
    return new this.#sdk.errors.UnsupportedOperationError({ message });
  }

  #malformed(message: string): Error {
    return new this.#sdk.errors.RequestMalformedError({ message });
  }

  async #startOf({ message, configuration }: SendMessageRequest): Promise<Start> {
    if (configuration?.taskPushNotificationConfig) return this.#refusePushes();
    if (!message) throw this.#malformed("message is missing");
    // Most models refuse an empty message, and an empty answer to a question is more likely a mistake.
    if (message.parts.length === 0) throw this.#malformed("the message has no parts");
    if (givenBy(message).hasOthers) {
      const { ContentTypeNotSupportedError } = this.#sdk.errors;
      throw new ContentTypeNotSupportedError({ message: "graphs accept text and data, not files" });
    }
    return message.taskId === "" ? this.#newTask(message) : this.#resumed(message);
  }

  async #newTask({ contextId, ...message }: Message): Promise<Start> {
    const { input_schema } = await this.#service.assistants.schemas(this.#graphId);
    const input = inputOf(givenBy(message), input_schema);
    if (input === undefined)
      throw this.#malformed("the graph does not accept messages: send its input as data");
    const isNew = contextId === "";
    const { thread_id } = await this.#service.threads.create({
      ttl: CONVERSATION_TTL_MINUTES,
      ...(!isNew && { thread_id: contextId, if_exists: "do_nothing" }),
    });
    return { threadId: thread_id, request: { assistant_id: this.#graphId, input }, isNew };
  }

  /** A message to a task that waits for input. */
  async #resumed(message: Message): Promise<Start> {
    const { ref, run } = await this.#find(message.taskId);
    if (message.contextId !== "" && message.contextId !== ref.threadId)
      throw this.#malformed("the task belongs to another context");
    const { status } = await currentTask(this.#service, ref, run);
    if (Number(status?.state) !== STATES.inputRequired && !(await this.#asksUnseen(ref, run)))
      throw this.#refused("the task is not waiting for input");
    const command = { resume: resumeValue(givenBy(message)) };
    const request = { assistant_id: this.#graphId, command, metadata: taskMetadata(ref) };
    return { threadId: ref.threadId, request, task: ref, isNew: false };
  }

  /** Whether the task waits in a node that its graph no longer has: its question is not shown. The run reports that. */
  async #asksUnseen({ threadId }: TaskRef, { status }: Run): Promise<boolean> {
    return status === "interrupted" && (await this.#service.threads.get(threadId)).status === "interrupted";
  }

  /** The last run of a task of this graph. */
  async #find(taskId: string) {
    const ref = parseTaskId(taskId);
    const run = ref && (await lastRun(this.#service, ref));
    if (ref && run?.metadata.graph_id === this.#graphId) return { ref, run };
    throw new this.#sdk.errors.TaskNotFoundError({ message: "the task does not exist" });
  }

  async #stream(start: Start): Promise<{ ref: TaskRef; stream: AnsweredStream }> {
    const request = { ...start.request, stream_mode: [...PROGRESS_MODES] };
    const stream = await this.#started(start, () =>
      this.#service.runs.streamAndWait(start.threadId, request, { signal: this.#disconnected }),
    );
    return { ref: start.task ?? { threadId: start.threadId, runId: stream.run.run_id }, stream };
  }

  /** Deletes a newly created thread if its run is rejected. */
  async #started<T>({ isNew, threadId }: Start, begin: () => Promise<T>): Promise<T> {
    try {
      return await begin();
    } catch (error) {
      const { threads, logger } = this.#service;
      if (isNew)
        await threads
          .delete(threadId)
          .catch((failure: unknown) =>
            logger.warn(
              { err: failure, thread_id: threadId },
              "the thread of a rejected run could not be deleted",
            ),
          );
      throw error;
    }
  }

  async *#framesOf(stream: RunStream): AsyncGenerator<readonly RunFrame[]> {
    const disconnect = () => stream.disconnect();
    this.#disconnected.addEventListener("abort", disconnect, { once: true });
    try {
      yield* stream.frames;
    } catch (error) {
      // Progress events are lost; the outcome is not.
      if (!(error instanceof FramesLostError)) throw error;
    } finally {
      this.#disconnected.removeEventListener("abort", disconnect);
    }
  }

  /** Follows a task from start to end: the run's progress events, its output and its outcome. */
  async *#events(
    ref: TaskRef,
    stream: RunStream,
    answer: () => Promise<Parameters<typeof runOutcome>[0]>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const ids = { taskId: taskId(ref), contextId: ref.threadId };
    const messages: string[] = [];
    const progress = new RunProgress((text) => messages.push(text));
    yield { payload: { $case: "task", value: openTask(ref, STATES.working) } };
    let last: RunFrame | undefined;
    for await (const batch of this.#framesOf(stream)) {
      for (const frame of batch) progress.take((last = frame));
      for (const text of messages.splice(0)) {
        const { status } = openTask(ref, STATES.working);
        const working = status && { ...status, message: agentMessage(ids, text) };
        yield { payload: { $case: "statusUpdate", value: { ...ids, status: working, metadata: undefined } } };
      }
    }
    const outcome = await this.#guarded(async () => runOutcome(await answer(), statusOf(last)));
    yield* endOf(endedTask(ref, stream.run.run_id, outcome), outcome);
  }

  /**
   * Converts errors of the service to errors of the protocol. Internal errors do not reveal details
   * to clients.
   */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    this.#isCalled = true;
    try {
      return await work();
    } catch (thrown) {
      const { A2AError, TaskNotFoundError } = this.#sdk.errors;
      if (thrown instanceof A2AError) throw thrown;
      const error = asServiceError(thrown);
      if (error.status >= 500) this.#service.logger.error({ err: thrown }, "request failed");
      const message = publicMessage(error);
      if (error.code === "thread_not_found" || error.code === "run_not_found")
        throw new TaskNotFoundError({ message: "the task does not exist" });
      throw error.status < 500 ? this.#malformed(message) : new GraphServeError("internal_error", message);
    }
  }
}

function* endOf(
  { id, contextId, status, artifacts }: Task,
  { status: outcome }: Outcome,
): Generator<StreamResponse> {
  const ids = { taskId: id, contextId };
  const [artifact] = artifacts;
  if (outcome === "success")
    yield {
      payload: {
        $case: "artifactUpdate",
        value: { ...ids, artifact, append: false, lastChunk: true, metadata: undefined },
      },
    };
  yield { payload: { $case: "statusUpdate", value: { ...ids, status, metadata: undefined } } };
}
