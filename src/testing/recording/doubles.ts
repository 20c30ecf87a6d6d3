/** Replaces the provider methods of chat models and tools, to record or replay responses. */
import type { AsyncLocalStorage } from "node:async_hooks";
import type { BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, ChatResult } from "@langchain/core/outputs";
import { isRecord, type JsonObject } from "../../models/common.js";
import { isMessageObject, type MessageMaker, storeChunk, storeMessage } from "./messages.js";
import {
  type Answer,
  modelRequest,
  toolRequest,
  type NewRecording,
  type StoredMessage,
  type Recording,
} from "./recording.js";

interface LlmRun {
  handleLLMNewToken?(
    token: string,
    index?: { prompt: number; completion: number },
    runId?: string,
    parentRunId?: string,
    tags?: string[],
    fields?: { chunk: ChatGenerationChunk },
  ): Promise<void>;
}

type Call = [messages: BaseMessage[], options: unknown, run?: LlmRun];

export interface ModelLike {
  constructor: { name: string };
  _llmType?: () => string;
  _generate: (...call: Call) => Promise<ChatResult>;
  _streamResponseChunks: (...call: Call) => AsyncGenerator<ChatGenerationChunk>;
  _streamChatModelEvents?: (...call: unknown[]) => AsyncGenerator<unknown>;
}

const modelStandIns = new WeakSet<ModelLike>();

/** Overrides the provider methods of a model. Does not add streaming to a model without it, because callers check for it. */
export function modelDouble(model: ModelLike, base: ModelLike, recorder: Recorder): void {
  if (modelStandIns.has(model)) return;
  modelStandIns.add(model);
  const { _generate, _streamResponseChunks, _streamChatModelEvents } = model;
  const own = (name: keyof ModelLike, value: unknown) =>
    Object.defineProperty(model, name, { value, configurable: true, writable: true });
  own("_generate", (...call: Call) => generate(model, _generate, call, recorder));
  if (_streamResponseChunks !== base._streamResponseChunks)
    own("_streamResponseChunks", (...call: Call) => stream(model, _streamResponseChunks, call, recorder));
  if (_streamChatModelEvents && _streamChatModelEvents !== base._streamChatModelEvents) {
    // With a recording, create events from the chunks, as the base class does.
    own("_streamChatModelEvents", (...call: Call) =>
      (recorder.recordingOf(call[2], call[1])?.covers("model", isFake(model))
        ? base._streamChatModelEvents
        : _streamChatModelEvents
      )?.apply(model, call),
    );
  }
}

/** By convention of the library, fake models of tests are of a type such as `fake` or `fake-list`. */
const isFake = (model: ModelLike): boolean => /^fake/i.test(model._llmType?.() ?? "");

async function generate(
  model: ModelLike,
  real: ModelLike["_generate"],
  call: Call,
  recorder: Recorder,
): Promise<ChatResult> {
  const [messages, options, run] = call;
  const recording = recorder.recordingOf(run, options);
  if (!recording?.covers("model", isFake(model)) || recorder.inside.getStore())
    return real.apply(model, call);
  const [name, request] = [model.constructor.name, modelRequest(messages, options)];
  if (recording.mode === "replay") {
    const answer = recording.answer("model", name, request);
    return answer ? wholeReply(answer, run, recorder) : executed(recorder, () => real.apply(model, call));
  }
  const chunks: StoredMessage[] = [];
  try {
    const result = await recorder.inside.run({ model, chunks }, () => real.apply(model, call));
    recording.add("model", name, request, {
      generations: result.generations.map(storeChunk),
      ...(isFilled(result.llmOutput) && { llmOutput: result.llmOutput }),
      ...(chunks.length > 0 && { chunks }),
    });
    return result;
  } catch (error) {
    recording.addError("model", name, request, error);
    throw error;
  }
}

const isFilled = (value: unknown): value is JsonObject => isRecord(value) && Object.keys(value).length > 0;

async function wholeReply(answer: Answer, run: LlmRun | undefined, { maker }: Recorder): Promise<ChatResult> {
  const { chunks = [], generations, llmOutput } = answer;
  throwRecorded(answer);
  if (generations) {
    for (const chunk of chunks) await tellToken(maker.chunk(chunk), run);
    return { generations: generations.map((one) => maker.generation(one)), ...(llmOutput && { llmOutput }) };
  }
  const whole = chunks.map((chunk) => maker.chunk(chunk)).reduce((before, chunk) => before.concat(chunk));
  return { generations: [{ text: whole.text, message: whole.message }] };
}

async function* stream(
  model: ModelLike,
  real: ModelLike["_streamResponseChunks"],
  call: Call,
  recorder: Recorder,
): AsyncGenerator<ChatGenerationChunk> {
  const [messages, options, run] = call;
  const recording = recorder.recordingOf(run, options);
  const outer = recorder.inside.getStore();
  if (!recording?.covers("model", isFake(model)) || outer) {
    for await (const chunk of real.apply(model, call)) {
      // The model streams internally to create a full response: its tokens belong to that response.
      if (outer?.model === model) outer.chunks.push(storeChunk(chunk));
      yield chunk;
    }
    return;
  }
  const request = modelRequest(messages, options);
  if (recording.mode === "record") {
    yield* recorded(model, real.apply(model, call), request, recording, recorder);
    return;
  }
  const answer = recording.answer("model", model.constructor.name, request);
  yield* answer ? replayed(answer, run, recorder) : real.apply(model, call);
}

/** Executes a call that has no recorded response; nested calls are part of it. */
const executed = <T>({ inside }: Recorder, call: () => T): T => inside.run({ chunks: [] }, call);

async function* recorded(
  model: ModelLike,
  real: AsyncGenerator<ChatGenerationChunk>,
  request: JsonObject,
  recording: NewRecording,
  { inside }: Recorder,
): AsyncGenerator<ChatGenerationChunk> {
  const { name } = model.constructor;
  const chunks: StoredMessage[] = [];
  try {
    for (;;) {
      const next = await inside.run({ chunks: [] }, () => real.next());
      if (next.done) break;
      // Store the chunk before the library assigns an id.
      chunks.push(storeChunk(next.value));
      yield next.value;
    }
    recording.add("model", name, request, { chunks });
  } catch (error) {
    recording.addError("model", name, request, error);
    throw error;
  } finally {
    await real.return(undefined);
  }
}

async function* replayed(
  answer: Answer,
  run: LlmRun | undefined,
  { maker }: Recorder,
): AsyncGenerator<ChatGenerationChunk> {
  throwRecorded(answer);
  const { chunks, generations } = answer;
  const made = generations
    ? generations.slice(0, 1).map((one) => maker.wholeChunk(one))
    : (chunks ?? []).map((chunk) => maker.chunk(chunk));
  for (const chunk of made) {
    yield chunk;
    await tellToken(chunk, run);
  }
}

async function tellToken(chunk: ChatGenerationChunk, run: LlmRun | undefined): Promise<void> {
  await run?.handleLLMNewToken?.(chunk.text, { prompt: 0, completion: 0 }, undefined, undefined, undefined, {
    chunk,
  });
}

/** Throws the recorded error, if any. */
function throwRecorded({ error }: Answer): void {
  if (error) throw Object.assign(new Error(error.message), { name: error.name });
}

// Replaces the implementation of a tool.

type ToolCall = [args: unknown, run: unknown, config?: unknown];

export interface ToolLike {
  name: string;
  _call: (...call: ToolCall) => unknown;
}

const toolStandIns = new WeakSet<ToolLike>();

export function toolDouble(tool: ToolLike, recorder: Recorder): void {
  if (toolStandIns.has(tool)) return;
  toolStandIns.add(tool);
  const { _call } = tool;
  Object.defineProperty(tool, "_call", {
    value: (...call: ToolCall) => callTool(tool, _call, call, recorder),
    configurable: true,
    writable: true,
  });
}

function callTool(tool: ToolLike, real: ToolLike["_call"], call: ToolCall, recorder: Recorder): unknown {
  const [args, run, config] = call;
  const recording = recorder.recordingOf(config, run);
  if (!recording?.covers("tool") || recorder.inside.getStore()) return real.apply(tool, call);
  const request = toolRequest(args);
  if (recording.mode === "record") return record(tool, real, call, request, recording, recorder);
  const answer = recording.answer("tool", tool.name, request);
  return answer
    ? replay(tool, real, call, answer, recorder)
    : executed(recorder, () => real.apply(tool, call));
}

async function record(
  tool: ToolLike,
  real: ToolLike["_call"],
  [args, run, config]: ToolCall,
  request: JsonObject,
  recording: NewRecording,
  recorder: Recorder,
): Promise<unknown> {
  const events: unknown[] = [];
  try {
    const result = await recorder.inside.run({ chunks: [] }, () =>
      real.call(tool, args, run, listening(config, events)),
    );
    recording.add("tool", tool.name, request, { ...answerOf(result), ...(events.length > 0 && { events }) });
    return result;
  } catch (error) {
    if (isQuestion(error)) recording.add("tool", tool.name, request, { live: true });
    else recording.addError("tool", tool.name, request, error);
    throw error;
  }
}

/** Whether LangGraph threw this for control flow: an interrupt or a command to a parent graph. */
const isQuestion = (error: unknown): boolean =>
  (error as { is_bubble_up?: unknown } | null)?.is_bubble_up === true;

/** The config of a call, with a writer that also records what the tool writes to the stream. */
function listening(config: unknown, events: unknown[]): unknown {
  if (!isRecord(config) || typeof config.writer !== "function") return config;
  const write = config.writer as (event: unknown) => void;
  return {
    ...config,
    writer: (event: unknown) => {
      events.push(JSON.parse(JSON.stringify(event ?? null)));
      write(event);
    },
  };
}

function answerOf(result: unknown): Answer {
  if (isMessageObject(result)) return { messages: [storeMessage(result)] };
  return isPlain(result) ? { result: result ?? null } : { live: true };
}

/** Whether a value survives a JSON round trip: not a command, class instance or function. */
function isPlain(value: unknown): boolean {
  if (value === null || ["string", "number", "boolean", "undefined"].includes(typeof value)) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlain);
}

function replay(
  tool: ToolLike,
  real: ToolLike["_call"],
  call: ToolCall,
  answer: Answer,
  { maker }: Recorder,
): unknown {
  if (answer.live) return real.apply(tool, call);
  const [, , config] = call;
  const writer = isRecord(config) ? (config.writer as ((event: unknown) => void) | undefined) : undefined;
  for (const event of answer.events ?? []) writer?.(event);
  throwRecorded(answer);
  const [message] = answer.messages ?? [];
  return message ? maker.message(message) : answer.result;
}

/** Finds the recording of a call; nested calls do not use it. */
export interface Recorder {
  /** The recording of a call's thread; undefined if it has none. */
  recordingOf(...hints: unknown[]): Recording | undefined;
  /** Set during a recorded call, because nested calls are part of it. */
  readonly inside: AsyncLocalStorage<{ model?: unknown; chunks: unknown[] }>;
  readonly maker: MessageMaker;
}
