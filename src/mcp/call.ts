/**
 * Executes a tool call: a run on a thread, elicitation of answers if the client supports it, and
 * the result.
 */
import type { CallToolResult, ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { FramesLostError, type RunFrame, type RunStream } from "../models/run-stream.js";
import type { RunCreateRequest } from "../models/run.js";
import { CONVERSATION_TTL_MINUTES } from "../models/thread.js";
import type { CallerService } from "../service/service.js";
import { InvalidRequestError } from "../support/errors.js";
import {
  type Outcome,
  runOutcome,
  outputText,
  type Question,
  questionsText,
  statusOf,
} from "../view/outcome.js";
import { RunProgress, PROGRESS_MODES } from "../view/progress.js";
import { type Form, formOf } from "./questions.js";
import type { CalledTool } from "./tools.js";

/** One call and the capabilities of its client. */
export interface ToolCall {
  service: CallerService;
  /** Aborts when the client cancels the call. */
  signal: AbortSignal;
  /** Aborts when the client disconnects. The setting on_disconnect decides what happens to the run. */
  disconnected?: AbortSignal;
  /** Shows a form to the user; unset if the client does not support it. */
  ask?: (form: Form) => Promise<ElicitResult>;
  /** Sends progress; unset if the client did not request it. */
  progress?: (message: string) => void;
  resume: string;
}

/** Runs or resumes a graph. @throws errors of the service */
export async function callTool(call: ToolCall, called: CalledTool): Promise<CallToolResult> {
  if (called.kind === "resume") return resumeThread(call, called);
  const request = { assistant_id: called.graphId, input: called.input };
  if (called.threadId != null) return converse(call, textOf(called.threadId), request);
  return onNewThread(call, request);
}

async function resumeThread(
  call: ToolCall,
  { threadId: given, answer }: Extract<CalledTool, { kind: "resume" }>,
): Promise<CallToolResult> {
  const threadId = textOf(given);
  if (answer == null)
    throw new InvalidRequestError("answer is missing: pass the answer to the question of the thread");
  const { metadata, status } = await call.service.threads.get(threadId);
  const assistant_id = textOf(metadata.graph_id, "the thread has no run to continue");
  // Such a run would succeed without the answer, which a model would take as read.
  if (status === "idle")
    throw new InvalidRequestError(
      "the thread asks no question: it was answered already, or its graph never asked. To continue the conversation, call the tool of its graph with this thread_id",
    );
  return converse(call, threadId, { assistant_id, command: { resume: answer } });
}

function textOf(value: unknown, otherwise = "thread_id must be the id of a conversation"): string {
  if (typeof value === "string") return value;
  throw new InvalidRequestError(otherwise);
}

/** Deletes the new thread if its run is rejected. */
async function onNewThread(call: ToolCall, request: RunCreateRequest): Promise<CallToolResult> {
  const { threads, logger } = call.service;
  const { thread_id } = await threads.create({ ttl: CONVERSATION_TTL_MINUTES });
  let isAccepted = false;
  try {
    return await converse(call, thread_id, request, () => (isAccepted = true));
  } finally {
    // A failed deletion must not hide the original error.
    if (!isAccepted)
      await threads
        .delete(thread_id)
        .catch((error: unknown) =>
          logger.warn({ err: error, thread_id }, "the thread of a rejected run could not be deleted"),
        );
  }
}

/** Executes a run, and resumes it each time the user has answered its interrupts. */
async function converse(
  call: ToolCall,
  threadId: string,
  request: RunCreateRequest,
  accepted?: () => void,
): Promise<CallToolResult> {
  const outcome = await execute(call, threadId, request, accepted);
  if (outcome.status !== "interrupted" || !call.ask || call.signal.aborted)
    return resultOf(call, threadId, outcome);
  const answer = await answersTo(outcome.questions, call.ask);
  if (!answer) return resultOf(call, threadId, outcome);
  return converse(call, threadId, { assistant_id: request.assistant_id, command: { resume: answer.resume } });
}

/** The user's answers to all interrupts; undefined if one is not answered. */
async function answersTo(
  questions: readonly Question[],
  ask: NonNullable<ToolCall["ask"]>,
): Promise<{ resume: unknown } | undefined> {
  const answers: [string, unknown][] = [];
  for (const { id, value } of questions) {
    const form = formOf(value);
    // If the client times out or fails, the interrupt stays pending.
    const reply = await ask(form).catch(() => undefined);
    if (reply?.action !== "accept") return undefined;
    answers.push([id, form.answerOf(reply.content ?? {})]);
  }
  const [only] = answers;
  return { resume: answers.length === 1 ? only?.[1] : Object.fromEntries(answers) };
}

async function execute(
  { service, signal, disconnected, progress }: ToolCall,
  threadId: string,
  request: RunCreateRequest,
  accepted?: () => void,
): Promise<Outcome> {
  const aborted = disconnected ? AbortSignal.any([signal, disconnected]) : signal;
  const stream = await service.runs.streamAndWait(
    threadId,
    { ...request, stream_mode: progress ? [...PROGRESS_MODES] : ["custom"] },
    { signal: aborted },
  );
  accepted?.();
  const { run_id } = stream.run;
  const cancel = () =>
    service.runs
      .cancel(threadId, run_id)
      .catch((error: unknown) =>
        service.logger.warn({ err: error, run_id }, "the run of a cancelled call could not be cancelled"),
      );
  const removers = [onAbort(signal, () => void cancel()), onAbort(disconnected, () => stream.disconnect())];
  try {
    const last = await lastFrame(stream, progress && new RunProgress(progress));
    return runOutcome(await stream.answer(), statusOf(last));
  } finally {
    for (const remove of removers) remove();
  }
}

function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener();
  signal?.addEventListener("abort", listener, { once: true });
  return () => signal?.removeEventListener("abort", listener);
}

/** Reports each frame of a run and returns the last; undefined if none arrived. */
async function lastFrame(
  { frames }: RunStream,
  progress: RunProgress | undefined,
): Promise<RunFrame | undefined> {
  let last: RunFrame | undefined;
  try {
    for await (const batch of frames) {
      for (const frame of batch) progress?.take(frame);
      last = batch.at(-1) ?? last;
    }
  } catch (error) {
    if (!(error instanceof FramesLostError)) throw error;
  }
  return last;
}

// The result for the client: as text for models, and as structured data.

function resultOf({ resume }: ToolCall, thread_id: string, outcome: Outcome): CallToolResult {
  const { status, values, questions, error } = outcome;
  const isError = status === "error" || status === "cancelled";
  return {
    content: textsOf(outcome, resume, thread_id).map((text) => ({ type: "text", text })),
    structuredContent: {
      thread_id,
      status,
      output: values,
      ...(questions.length > 0 && { interrupts: questions }),
      ...(error && { error }),
    },
    ...(isError && { isError }),
  };
}

function textsOf({ status, values, questions, error }: Outcome, resume: string, threadId: string): string[] {
  const thread = `thread_id: ${threadId}`;
  switch (status) {
    case "error":
      return [error?.message ?? "", thread];
    case "cancelled":
      return ["The run was cancelled.", thread];
    case "success":
      return [outputText(values), thread];
    case "interrupted":
      return [
        `The graph has stopped and asks:\n${questionsText(questions)}`,
        `Call ${resume} with the answer and this thread to resume it.\n${thread}`,
      ];
  }
}
