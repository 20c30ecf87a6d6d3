/** A call of a tool: a run on a thread, its questions asked while the client can, and the answer. */
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

/** One call, and what its client can do. */
export interface ToolCall {
  service: CallerService;
  /** Aborts when the client cancels the call. */
  signal: AbortSignal;
  /** Aborts when the client is gone; what becomes of the run then is the setting on_disconnect's to say. */
  disconnected?: AbortSignal;
  /** Shows a form to a person; left out where the client cannot. */
  ask?: (form: Form) => Promise<ElicitResult>;
  /** Unset if the client asked for no progress. */
  tell?: (message: string) => void;
  /** Name of the tool that resumes. */
  resume: string;
}

/** Run a graph, or resume one; what the service refuses is thrown. */
export async function callTool(call: ToolCall, called: CalledTool): Promise<CallToolResult> {
  if (called.kind === "resume") {
    const threadId = textOf(called.threadId);
    const { metadata } = await call.service.threads.get(threadId);
    const assistant_id = textOf(metadata.graph_id, "the thread has no run to continue");
    return converse(call, threadId, { assistant_id, command: { resume: called.answer } });
  }
  const request = { assistant_id: called.graphId, input: called.input };
  if (called.threadId != null) return converse(call, textOf(called.threadId), request);
  return onNewThread(call, request);
}

function textOf(value: unknown, otherwise = "thread_id must be the id of a conversation"): string {
  if (typeof value === "string") return value;
  throw new InvalidRequestError(otherwise);
}

/** Where the run is refused, its thread is of no use. */
async function onNewThread(call: ToolCall, request: RunCreateRequest): Promise<CallToolResult> {
  const { threads } = call.service;
  const { thread_id } = await threads.create({ ttl: CONVERSATION_TTL_MINUTES });
  let isAccepted = false;
  try {
    return await converse(call, thread_id, request, () => (isAccepted = true));
  } finally {
    // Why it was refused is what matters.
    if (!isAccepted) await threads.delete(thread_id).catch(() => undefined);
  }
}

/** One run, and one more for each time that a person has answered what the run before has asked. */
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

/** What a person answers to all questions; undefined when there is one that the person does not answer. */
async function answersTo(
  questions: readonly Question[],
  ask: NonNullable<ToolCall["ask"]>,
): Promise<{ resume: unknown } | undefined> {
  const answers: [string, unknown][] = [];
  for (const { id, value } of questions) {
    const form = formOf(value);
    // A client that does not answer in time, or not by the form, leaves the question open.
    const reply = await ask(form).catch(() => undefined);
    if (reply?.action !== "accept") return undefined;
    answers.push([id, form.answerOf(reply.content ?? {})]);
  }
  const [only] = answers;
  return { resume: answers.length === 1 ? only?.[1] : Object.fromEntries(answers) };
}

/** Execute one run to its end. */
async function execute(
  { service, signal, disconnected, tell }: ToolCall,
  threadId: string,
  request: RunCreateRequest,
  accepted?: () => void,
): Promise<Outcome> {
  const left = disconnected ? AbortSignal.any([signal, disconnected]) : signal;
  const stream = await service.runs.streamAndWait(
    threadId,
    { ...request, stream_mode: tell ? [...PROGRESS_MODES] : ["custom"] },
    { signal: left },
  );
  accepted?.();
  const { run_id } = stream.run;
  const forget = [
    onAbort(signal, () => void service.runs.cancel(threadId, run_id).catch(() => undefined)),
    onAbort(disconnected, () => stream.disconnect()),
  ];
  try {
    const last = await lastFrame(stream, tell && new RunProgress(tell));
    return runOutcome(await stream.answer(), statusOf(last));
  } finally {
    for (const stop of forget) stop();
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

// What the client is answered: as text for models, and the same as data.

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
