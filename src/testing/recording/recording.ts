/** The calls of one case: recorded as they happen, or answered from the recording. */
import { basename } from "node:path";
import type { BaseMessage } from "@langchain/core/messages";
import { isRecord, type JsonObject } from "../../models/common.js";
import { ConfigError, errorMessage, errorName } from "../../support/errors.js";
import { readIfExists } from "../../support/read-text.js";
import { firstDifference, normalized } from "../cases/normalized.js";
import type { Redact } from "../cases/redact.js";
import { mismatch, type Mismatch } from "../cases/result.js";

/** A call that the recording has no answer to; it ends the run, as a model that cannot be reached would. */
class NotRecordedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotRecordedError";
  }
}

interface RecordingOptions {
  caseName: string;
  /** The recording, for messages; undefined when the case file names none. */
  file?: string;
  redact: Redact;
}

/** Takes what really happens, and hands it on without secrets. */
export class NewRecording {
  readonly mode = "record";
  readonly #options: RecordingOptions;
  readonly #keep: (entry: RecordedCall) => void;

  constructor(options: RecordingOptions, keep: (entry: RecordedCall) => void) {
    this.#options = options;
    this.#keep = keep;
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
 * Answers each call with what was recorded for the same question; the same question asked twice gets its answers in
 * their order. So branches that run side by side may ask in any order.
 */
export class StoredRecording {
  readonly mode = "replay";
  readonly #options: RecordingOptions;
  readonly #left: RecordedCall[];
  readonly #isRecorded: boolean;
  #divergence: Mismatch | undefined;
  #calls: Record<CallKind, number> = { model: 0, tool: 0 };

  constructor(entries: readonly RecordedCall[] | undefined, options: RecordingOptions) {
    this.#options = options;
    this.#isRecorded = entries !== undefined;
    this.#left = (entries ?? []).filter((entry) => entry.case === options.caseName);
  }

  /** @throws NotRecordedError */
  answer(kind: CallKind, name: string, request: JsonObject): Answer {
    this.#calls[kind] += 1;
    const question = this.#options.redact(request);
    const key = requestKey(name, question);
    const index = this.#left.findIndex(
      (entry) => entry.kind === kind && requestKey(entry.name, entry.asked) === key,
    );
    const [found] = index < 0 ? [] : this.#left.splice(index, 1);
    if (found) return found.answer;
    const divergence = this.#diverged(kind, name, question);
    this.#divergence ??= divergence;
    throw new NotRecordedError(divergence.message);
  }

  /** The first call that went another way than the recording; else, in a run that is fine, calls that were not made. */
  end(isFine: boolean): Mismatch[] {
    if (this.#divergence) return [this.#divergence];
    const calls = this.#left;
    const [first] = calls;
    if (!first || !isFine) return [];
    const message = `${calls.length} recorded ${calls.length === 1 ? "call was" : "calls were"} not made, the first of ${first.name}${this.#placeOf(first)}`;
    return [mock(message, { expected: first.asked })];
  }

  #diverged(kind: CallKind, name: string, request: JsonObject): Mismatch {
    const number = `${kind} call ${this.#calls[kind]} (${name})`;
    const { file, caseName } = this.#options;
    if (file === undefined)
      return mock(`${number} is not recorded: the case file names no mock`, { actual: request });
    if (!this.#isRecorded)
      return mock(`${number} is not recorded: there is no ${basename(file)}; make it with --record`, {
        actual: request,
      });
    const next =
      this.#left.find((entry) => entry.kind === kind && entry.name === name) ??
      this.#left.find((entry) => entry.kind === kind);
    if (!next) {
      const why = `nothing more is recorded of "${caseName}" in ${basename(file)}`;
      return mock(`${number} is not recorded: ${why}`, { actual: request });
    }
    const difference = firstDifference(
      normalized({ name: next.name, ...next.asked }),
      normalized({ name, ...request }),
      [],
    );
    const { path = [], expected, actual } = difference ?? {};
    return mock(`${number} asks something else than recorded, at ${path.join(".")}${this.#placeOf(next)}`, {
      expected,
      actual,
    });
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

// A recording: one line of JSON a call, in the order the calls ended.

/** A message or a chunk, by the fields that hold something. */
export type StoredMessage = JsonObject;

/** What a model or a tool answered. */
export interface Answer {
  /** For a streamed reply its chunks, for a whole reply the tokens reported while it was made. */
  chunks?: StoredMessage[];
  /** Of a reply that came whole. */
  generations?: StoredMessage[];
  llmOutput?: JsonObject;
  /** Of a tool: plain data. */
  result?: unknown;
  /** Of a tool: the messages that it returned. */
  messages?: StoredMessage[];
  /** What a tool wrote to the stream of the run. */
  events?: unknown[];
  error?: { name: string; message: string };
  /** The tool returned what cannot be stored, or asked a person: it is called in replay too. */
  live?: true;
}

type CallKind = "model" | "tool";

export interface RecordedCall {
  case: string;
  kind: CallKind;
  /** Class of the model, name of the tool. */
  name: string;
  /** What it was asked, without what is new in every run. */
  asked: JsonObject;
  answer: Answer;
  /** Line of the file. */
  line?: number;
}

const FORMAT = "graph-serve tape";
const VERSION = 1;

/**
 * The entries of a file; undefined when there is no such file.
 * @throws ConfigError with the line that cannot be read (`config_invalid`)
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
    throw new ConfigError(`a line of the recording cannot be read: ${errorMessage(error)}`, {
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

// What a model or a tool is asked, as recordings keep and compare it.

/** Messages and the names of the tools at hand. Ids are new in every run, so they are left out. */
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

/** The arguments of a tool. */
export function toolRequest(args: unknown): JsonObject {
  return plain({ args: args ?? null });
}

/** Two questions of the same key are the same, whatever ids and times they hold. */
function requestKey(name: string, request: JsonObject): string {
  return JSON.stringify([name, normalized(request)]);
}

const plain = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;
