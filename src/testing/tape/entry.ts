/** A recording: one line of JSON a call, in the order the calls ended. */
import { readFile } from "node:fs/promises";
import { ConfigError, errorMessage } from "../../errors.js";
import { isRecord, type JsonObject } from "../../models/common.js";

/** A message or a chunk, by the fields that hold something. */
export type StoredMessage = JsonObject;

/** What a model or a tool answered. */
export interface Answer {
  /** Of a streamed reply: its chunks. Of a whole one: the tokens that were told of on the way. */
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

export type CallKind = "model" | "tool";

export interface TapeEntry {
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
export async function readTape(file: string): Promise<TapeEntry[] | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const [head, ...lines] = text.split("\n");
  const format = parseLine(file, head ?? "", 1);
  if (format.format !== FORMAT || format.version !== VERSION) {
    throw new ConfigError(`${file} is no recording of this version`, {
      location: { file, line: 1 },
      hint: "record it anew: graph-serve test --record",
    });
  }
  return lines.flatMap((line, index) =>
    line.trim() === ""
      ? []
      : [{ ...(parseLine(file, line, index + 2) as unknown as TapeEntry), line: index + 2 }],
  );
}

function parseLine(file: string, line: string, number: number): JsonObject {
  try {
    const value = JSON.parse(line) as unknown;
    if (isRecord(value)) return value;
    throw new Error("it is no object");
  } catch (error) {
    throw new ConfigError(`a line of the recording cannot be read: ${errorMessage(error)}`, {
      location: { file, line: number },
      hint: "record it anew: graph-serve test --record",
      cause: error,
    });
  }
}

/** The first line of a recording. */
export const TAPE_HEAD = `${JSON.stringify({ format: FORMAT, version: VERSION })}\n`;

export function entryText({ line: _line, ...entry }: TapeEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

export const tapeText = (entries: readonly TapeEntry[]): string =>
  TAPE_HEAD + entries.map(entryText).join("");
