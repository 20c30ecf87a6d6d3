/** Recordings of model and tool calls: recording, replay and the file format. */
import { basename } from "node:path";
import type { BaseMessage } from "@langchain/core/messages";
import { isRecord, type JsonObject } from "../../models/common.js";
import { ConfigError } from "../../support/errors.js";
import { errorMessage, errorName } from "../../support/errors/thrown.js";
import { readIfExists } from "../../support/read-text.js";
import { firstDifference, normalized } from "../cases/normalized.js";
import type { Redact } from "../cases/redact.js";
import { mismatch, type Mismatch } from "../cases/result.js";

/** Thrown for a call without a recorded response; fails the run like an unavailable model. */
class NotRecordedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotRecordedError";
  }
}

interface RecordingOptions {
  caseName: string;
  /** Path of the recording for error messages; undefined if the case file has no `mock`. */
  file?: string;
  redact: Redact;
  /** Leave tools and fake models alone; only models that make requests are answered or refused. */
  modelsOnly?: boolean;
  /** What to do about a call that is not recorded, for its message; by default the command that records the case. */
  remedy?: string;
  /** Call fake models without a recording: they make no requests. */
  callsFakes?: boolean;
  /** Execute calls that are not recorded, instead of refusing them. */
  callsUnrecorded?: boolean;
  /** Called with the first call that is refused. */
  onRefused?: (divergence: Mismatch) => void;
}

/** Records real calls, with secrets removed. */
export class NewRecording {
  readonly mode = "record";
  readonly #options: RecordingOptions;
  readonly #keep: (entry: RecordedCall) => void;

  constructor(options: RecordingOptions, keep: (entry: RecordedCall) => void) {
    this.#options = options;
    this.#keep = keep;
  }

  covers(_kind: CallKind, _isFake?: boolean): boolean {
    return true;
  }

  add(kind: CallKind, name: string, request: JsonObject, answer: Answer): void {
    const { caseName, redact } = this.#options;
    this.#keep(redact({ case: caseName, kind, name, asked: request, answer }));
  }

  addError(kind: CallKind, name: string, request: JsonObject, error: unknown): void {
    this.add(kind, name, request, { error: { name: errorName(error), message: errorMessage(error) } });
  }

  end(): Mismatch[] {
    return [];
  }
}

/**
 * Answers each call with the response recorded for the same request. Repeated requests get their responses in order, so
 * parallel branches can make calls in any order.
 */
export class StoredRecording {
  readonly mode = "replay";
  readonly #options: RecordingOptions;
  readonly #left: RecordedCall[];
  readonly #isRecorded: boolean;
  #divergence: Mismatch | undefined;
  #calls: Record<CallKind, number> = { model: 0, tool: 0 };
  /** Number of calls that were not executed, because their responses were recorded. */
  answered = 0;

  constructor(entries: readonly RecordedCall[] | undefined, options: RecordingOptions) {
    this.#options = options;
    this.#isRecorded = entries !== undefined;
    this.#left = (entries ?? []).filter((entry) => entry.case === options.caseName);
  }

  /** Whether calls of this kind are answered or refused, instead of executed. `isFake`: by a fake model. */
  covers(kind: CallKind, isFake = false): boolean {
    if (isFake && this.#options.callsFakes && !this.#isRecorded) return false;
    return this.#options.modelsOnly !== true || (kind === "model" && !isFake);
  }

  /** The recorded response; undefined if the call must be executed. @throws NotRecordedError */
  answer(kind: CallKind, name: string, request: JsonObject): Answer | undefined {
    this.#calls[kind] += 1;
    const question = this.#options.redact(request);
    const key = requestKey(name, question);
    const index = this.#left.findIndex(
      (entry) => entry.kind === kind && requestKey(entry.name, entry.asked) === key,
    );
    const [found] = index < 0 ? [] : this.#left.splice(index, 1);
    if (found) {
      if (!found.answer.live) this.answered += 1;
      return found.answer;
    }
    if (this.#options.callsUnrecorded) return undefined;
    const divergence = this.#diverged(kind, name, question);
    if (!this.#divergence) this.#options.onRefused?.(divergence);
    this.#divergence ??= divergence;
    throw new NotRecordedError(divergence.message);
  }

  /** The first call that differs from the recording; else, if the run succeeded, recorded calls that were not made. */
  end(isFine: boolean): Mismatch[] {
    if (this.#divergence) return [this.#divergence];
    const calls = this.#left;
    const [first] = calls;
    if (!first || !isFine) return [];
    const message = `${calls.length} recorded ${calls.length === 1 ? "call was" : "calls were"} not made, the first by ${first.name}${this.#placeOf(first)}`;
    return [mock(message, { expected: first.asked })];
  }

  #diverged(kind: CallKind, name: string, request: JsonObject): Mismatch {
    const number = `${kind} call ${this.#calls[kind]} (${name})`;
    const { file, caseName } = this.#options;
    if (file === undefined)
      return this.#again(`${number} is not recorded: the case file has no mock`, { actual: request });
    if (!this.#isRecorded)
      return this.#again(`${number} is not recorded: ${basename(file)} does not exist`, { actual: request });
    const next =
      this.#left.find((entry) => entry.kind === kind && entry.name === name) ??
      this.#left.find((entry) => entry.kind === kind);
    if (!next) {
      const why = `no more calls are recorded for "${caseName}" in ${basename(file)}`;
      return this.#again(`${number} is not recorded: ${why}`, { actual: request });
    }
    const difference = firstDifference(
      normalized({ name: next.name, ...next.asked }),
      normalized({ name, ...request }),
      [],
    );
    const { path = [], expected, actual } = difference ?? {};
    const place = `${path.join(".")}${this.#placeOf(next)}`;
    return this.#again(`${number} differs from the recorded request at ${place}`, { expected, actual });
  }

  #again(message: string, values: { expected?: unknown; actual?: unknown }): Mismatch {
    const { caseName, remedy = `record again: graph-serve test --record -t ${JSON.stringify(caseName)}` } =
      this.#options;
    return mock(`${message}; ${remedy}`, values);
  }

  #placeOf({ line }: RecordedCall): string {
    const { file } = this.#options;
    return file === undefined || line === undefined ? "" : `, ${basename(file)}:${line}`;
  }
}

const mock = (message: string, values: { expected?: unknown; actual?: unknown }): Mismatch => ({
  ...mismatch([], message, values),
  expectation: "mock",
});

export type Recording = NewRecording | StoredRecording;

// A recording: one JSON line per call, in the order in which the calls ended.

/** The non-empty fields of a message or chunk. */
export type StoredMessage = JsonObject;

/** Response of a model or tool. */
export interface Answer {
  /** Chunks of a streamed response; for a response that was not streamed, the tokens reported meanwhile. */
  chunks?: StoredMessage[];
  /** Of a response that was not streamed. */
  generations?: StoredMessage[];
  llmOutput?: JsonObject;
  /** Plain result of a tool. */
  result?: unknown;
  /** Messages returned by a tool. */
  messages?: StoredMessage[];
  /** Events that a tool wrote to the stream of the run. */
  events?: unknown[];
  error?: { name: string; message: string };
  /** The tool's result cannot be stored, or the tool interrupted the run: it is also called in replay. */
  live?: true;
}

type CallKind = "model" | "tool";

export interface RecordedCall {
  case: string;
  kind: CallKind;
  /** Class of the model, or name of the tool. */
  name: string;
  /** The request, without values that differ in every run. */
  asked: JsonObject;
  answer: Answer;
  /** Line of the file. */
  line?: number;
}

const FORMAT = "graph-serve tape";
const VERSION = 1;

/**
 * Reads the entries of a file; undefined if the file does not exist.
 * @throws ConfigError with the invalid line (`config_invalid`)
 */
export async function readRecording(file: string): Promise<RecordedCall[] | undefined> {
  const text = await readIfExists(file);
  if (text === undefined) return undefined;
  const [head, ...lines] = text.split("\n");
  const format = parseLine(file, head ?? "", 1);
  if (format.format !== FORMAT || format.version !== VERSION) {
    throw new ConfigError(`${file} is not a recording of this version`, {
      location: { file, line: 1 },
      hint: "record it again: graph-serve test --record",
    });
  }
  return lines.flatMap((line, index) =>
    line.trim() === ""
      ? []
      : [{ ...(parseLine(file, line, index + 2) as unknown as RecordedCall), line: index + 2 }],
  );
}

function parseLine(file: string, line: string, number: number): JsonObject {
  try {
    const value = JSON.parse(line) as unknown;
    if (isRecord(value)) return value;
    throw new Error("it is not an object");
  } catch (error) {
    throw new ConfigError(`invalid line in the recording: ${errorMessage(error)}`, {
      location: { file, line: number },
      hint: "record it again: graph-serve test --record",
      cause: error,
    });
  }
}

/** The first line of a recording. */
export const RECORDING_HEAD = `${JSON.stringify({ format: FORMAT, version: VERSION })}\n`;

export function entryText({ line: _line, ...entry }: RecordedCall): string {
  return `${JSON.stringify(entry)}\n`;
}

export const recordingText = (entries: readonly RecordedCall[]): string =>
  RECORDING_HEAD + entries.map(entryText).join("");

// Requests to models and tools in the form in which they are stored and compared.

/** Messages and the names of available tools, without ids, which differ in every run. */
export function modelRequest(messages: readonly BaseMessage[], options: unknown): JsonObject {
  const tools = isRecord(options) && Array.isArray(options.tools) ? options.tools.map(toolName) : [];
  return plain({
    messages: messages.map((message) => {
      const { tool_calls, name } = message as unknown as { tool_calls?: JsonObject[]; name?: string };
      return {
        type: message.getType(),
        ...(name !== undefined && { name }),
        content: message.content,
        ...(tool_calls?.length && {
          tool_calls: tool_calls.map((call) => ({ name: call.name, args: call.args })),
        }),
      };
    }),
    ...(tools.length > 0 && { tools }),
  });
}

function toolName(tool: unknown): string {
  if (!isRecord(tool)) return String(tool);
  const { name, function: inner } = tool;
  if (typeof name === "string") return name;
  if (isRecord(inner) && typeof inner.name === "string") return inner.name;
  return typeof tool.type === "string" ? tool.type : "tool";
}

export function toolRequest(args: unknown): JsonObject {
  return plain({ args: args ?? null });
}

/** Requests with the same key are equal except for ids and times. */
function requestKey(name: string, request: JsonObject): string {
  return JSON.stringify([name, normalized(request)]);
}

const plain = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;
