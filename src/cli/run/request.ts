/** From the flags of `run` to the body of a run. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { type Client, graphIdOf } from "../../client/client.js";
import { splitList } from "../../config/environment.js";
import { errorMessage, InvalidRequestError } from "../../support/errors.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { Thread } from "../../models/thread.js";
import { STREAM_MODES, type RunCreateRequest, type StreamMode } from "../../models/run.js";
import { oneOf, parseJsonFlag } from "../options.js";
import type { CliIo } from "../io.js";

export interface RequestFlags {
  input?: string;
  message?: string;
  thread: string;
  stream?: string;
  runConfig?: string;
  context?: string;
  resume?: string;
  goto?: string;
  checkpoint?: string;
  durability?: Durability;
  interactive?: boolean;
}

export const DURABILITIES = ["sync", "async", "exit"] as const;
export type Durability = (typeof DURABILITIES)[number];

/** A run without its assistant, which the target knows. */
export type RunBody = Omit<RunCreateRequest, "assistant_id">;

/**
 * The run that the flags ask for.
 * @throws InvalidRequestError when they do not fit together or hold no JSON (`invalid_request`)
 */
export async function runBody(
  flags: RequestFlags,
  io: CliIo,
  warn: (message: string) => void,
): Promise<RunBody> {
  refuseContradictions(flags);
  const { resume, goto, durability } = flags;
  const input = await inputOf(flags, io);
  return {
    if_not_exists: flags.thread === "new" ? "create" : "reject",
    ...(input !== undefined && { input }),
    ...((resume !== undefined || goto !== undefined) && {
      command: {
        ...(resume !== undefined && { resume: answerOf(resume, warn) }),
        ...(goto !== undefined && { goto }),
      },
    }),
    ...(durability !== undefined && { durability }),
    ...objectField("config", "--run-config", flags.runConfig),
    ...objectField("context", "--context", flags.context),
  };
}

function refuseContradictions({
  input,
  message,
  resume,
  goto,
  checkpoint,
  thread,
  interactive,
}: RequestFlags): void {
  const refuse = (fault: string, hint: string): never => {
    throw new InvalidRequestError(fault, undefined, { hint });
  };
  const hasInput = input !== undefined || message !== undefined;
  const hasCommand = resume !== undefined || goto !== undefined;
  if (input !== undefined && message !== undefined)
    refuse("--input and --message exclude each other", "give one of them");
  if (hasInput && hasCommand) refuse("--resume and --goto take no input", "leave --input and --message out");
  if (interactive && input === "-") refuse("--interactive reads stdin itself", "give the input as @file");
  if (thread === "new" && resume !== undefined)
    refuse("--resume needs the thread that waits", "add --thread ID");
  if (thread === "new" && checkpoint !== undefined)
    refuse("--checkpoint needs its thread", "add --thread ID");
  if (!hasInput && !hasCommand && !interactive && thread === "new") {
    refuse("there is nothing to run", 'give --message "hello", or --input JSON');
  }
}

/** A text that someone may have meant as a value. */
const LIKE_A_VALUE = /^(true|false|null|none|nil|undefined|nan|[-+.\d].*|'.*')$/is;

/**
 * An answer is JSON where it is JSON, else a text as it stands.
 * @throws InvalidRequestError for what begins as JSON of many parts does, and is none (`invalid_request`)
 */
function answerOf(text: string, warn: (message: string) => void): unknown {
  if (/^\s*[[{"]/.test(text)) return parseJsonFlag("--resume", text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    if (LIKE_A_VALUE.test(text.trim()))
      warn(`--resume is not JSON: ${JSON.stringify(text)} is taken as a text`);
    return text;
  }
}

/** The flag that gives a graph its input: a message, or the keys that its input has. */
export function inputFlag(schema: JsonObject | null, message = "..."): string {
  const properties = isRecord(schema?.properties) ? schema.properties : {};
  const keys = Object.keys(properties);
  if (keys.length === 0 || keys.includes(MESSAGES)) return `--message ${JSON.stringify(message)}`;
  const required = Array.isArray(schema?.required) ? schema.required.map(String) : [];
  const shown = required.length > 0 ? required : keys.slice(0, MOST_KEYS);
  const input = Object.fromEntries(shown.map((key) => [key, sampleOf(properties[key], message)]));
  return `--input '${JSON.stringify(input).replaceAll("'", `'\\''`)}'`;
}

/** As `inputFlag`, for the graph of a thread; a message where the graph does not tell. */
export async function inputFlagFor(client: Client, thread: Pick<Thread, "metadata">): Promise<string> {
  const schemas = async () =>
    client.assistants.getSchemas(graphIdOf(thread) ?? (await client.defaultAssistant()));
  const schema = await schemas().then(
    ({ input_schema }) => input_schema,
    () => null,
  );
  return inputFlag(schema);
}

const MESSAGES = "messages";
const MOST_KEYS = 4;

/** A value of the type, to be written over. */
function sampleOf(schema: unknown, message: string): unknown {
  if (!isRecord(schema)) return "...";
  const { default: preset, const: only, enum: words, anyOf } = schema;
  if (schema.langgraph_type === MESSAGES) return [{ role: "user", content: message }];
  const [given] = [preset, only, Array.isArray(words) ? (words[0] as unknown) : undefined].filter(
    (value) => value !== undefined,
  );
  if (given !== undefined) return given;
  if (Array.isArray(anyOf)) return sampleOf(anyOf[0], message);
  const samples: Record<string, unknown> = {
    number: 1,
    integer: 1,
    boolean: true,
    array: [],
    object: {},
    null: null,
  };
  return typeof schema.type === "string" && schema.type in samples ? samples[schema.type] : "...";
}

/**
 * Keys that the graph's input does not have are left out by LangGraph without a word.
 * @throws InvalidRequestError when nothing is left (`invalid_request`)
 */
export function unknownKeys(
  schema: JsonObject | null,
  input: JsonObject,
  { isMessage }: { isMessage: boolean },
): string | undefined {
  const known = isRecord(schema?.properties) ? Object.keys(schema.properties) : [];
  const keys = Object.keys(input);
  const unknown = keys.filter((key) => !known.includes(key));
  if (known.length === 0 || unknown.length === 0) return undefined;
  const refuse = (fault: string, hint: string): never => {
    throw new InvalidRequestError(fault, undefined, { hint });
  };
  const has = `its keys are: ${known.join(", ")}`;
  if (isMessage)
    refuse(
      "the input of this graph has no messages, so it takes no --message",
      `${has}; give ${inputFlag(schema)}`,
    );
  const fault = `the graph's input has no key ${unknown.join(", ")}`;
  if (unknown.length === keys.length) refuse(fault, `${has}; give ${inputFlag(schema)}`);
  return `${fault}, which is left out; ${has}`;
}

/** One message of the user, in the form that a graph over messages takes. */
export function messageInput(text: string): JsonObject {
  return { messages: [{ role: "user", content: text }] };
}

async function inputOf({ input, message }: RequestFlags, io: CliIo): Promise<unknown> {
  if (message !== undefined) return messageInput(message);
  if (input === undefined) return undefined;
  if (input === "-") return parseJsonFlag("--input", await readText(io.stdin));
  if (input.startsWith("@"))
    return parseJsonFlag("--input", await readInputFile(resolve(io.cwd, input.slice(1))));
  return parseJsonFlag("--input", input);
}

async function readInputFile(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: unknown) => {
    throw new InvalidRequestError(`--input: ${file} cannot be read: ${errorMessage(error)}`, undefined, {
      hint: "check the path behind the @",
      cause: error,
    });
  });
}

function objectField(name: "config" | "context", flag: string, text: string | undefined): Partial<RunBody> {
  if (text === undefined) return {};
  const value = parseJsonFlag(flag, text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidRequestError(`${flag} must be a JSON object, it is ${text}`);
  }
  return { [name]: value };
}

/**
 * The stream modes that were asked for.
 * @throws InvalidRequestError for an unknown one (`invalid_request`)
 */
export function streamModes(text: string | undefined, fallback: readonly StreamMode[]): StreamMode[] {
  if (text === undefined) return [...fallback];
  return splitList(text).map((word) => oneOf("--stream", word, STREAM_MODES));
}
