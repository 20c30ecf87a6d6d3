/** Converts the flags of `run` to a run request. */
import { resolve } from "node:path";
import { text as streamText } from "node:stream/consumers";
import { splitList } from "../../config/environment.js";
import { InvalidRequestError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { readText } from "../../support/read-text.js";
import { parseBudget } from "../../support/budgets/budget.js";
import type { JsonObject } from "../../models/common.js";
import { STREAM_MODES, type RunCreateRequest, type StreamMode } from "../../models/run.js";
import { oneOf, parseJsonFlag } from "../session/options.js";
import type { CliIo } from "../terminal/io.js";

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
  budget?: string;
  interactive?: boolean;
}

export const DURABILITIES = ["sync", "async", "exit"] as const;
type Durability = (typeof DURABILITIES)[number];

/** A run request without its assistant. */
export type RunBody = Omit<RunCreateRequest, "assistant_id">;

/**
 * The run request from the flags.
 * @throws InvalidRequestError if flags cannot be combined or contain invalid JSON (`invalid_request`)
 */
export async function runBody(
  flags: RequestFlags,
  io: CliIo,
  warn: (message: string) => void,
): Promise<RunBody> {
  refuseContradictions(flags);
  const { resume, goto, durability, budget } = flags;
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
    ...(budget !== undefined && { budget: budgetOf(budget) }),
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
    refuse("--input and --message cannot be combined", "remove one of them");
  if (hasInput && hasCommand)
    refuse("--resume and --goto cannot be combined with an input", "remove --input and --message");
  if (interactive && input === "-") refuse("--interactive reads from stdin", "pass the input as @file");
  if (thread === "new" && resume !== undefined) refuse("--resume requires a thread", "add --thread ID");
  if (thread === "new" && checkpoint !== undefined)
    refuse("--checkpoint requires a thread", "add --thread ID");
  if (!hasInput && !hasCommand && !interactive && thread === "new") {
    refuse("no input to run", 'add --message "hello", or --input JSON');
  }
}

/** @throws InvalidRequestError for another text (`invalid_request`) */
function budgetOf(text: string): string {
  if (parseBudget(text)) return text;
  throw new InvalidRequestError(`--budget ${JSON.stringify(text)} is not an amount`, undefined, {
    hint: 'use US dollars or tokens: --budget "0.50 USD", or --budget "200k tokens"',
  });
}

/** Text that may have been meant as a value other than a string. */
const LIKE_A_VALUE = /^(true|false|null|none|nil|undefined|nan|[-+.\d].*|'.*')$/is;

/**
 * Parses an answer as JSON; if that fails, it is plain text.
 * @throws InvalidRequestError for invalid JSON that starts like an object, array or string (`invalid_request`)
 */
function answerOf(text: string, warn: (message: string) => void): unknown {
  if (/^\s*[[{"]/.test(text)) return parseJsonFlag("--resume", text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    if (LIKE_A_VALUE.test(text.trim()))
      warn(`--resume is not valid JSON: using ${JSON.stringify(text)} as text`);
    return text;
  }
}

/** Input with one user message. */
export function messageInput(text: string): JsonObject {
  return { messages: [{ role: "user", content: text }] };
}

async function inputOf({ input, message }: RequestFlags, io: CliIo): Promise<unknown> {
  if (message !== undefined) return messageInput(message);
  if (input === undefined) return undefined;
  if (input === "-") return parseJsonFlag("--input", await streamText(io.stdin));
  if (input.startsWith("@"))
    return parseJsonFlag("--input", await readInputFile(resolve(io.cwd, input.slice(1))));
  return parseJsonFlag("--input", input);
}

async function readInputFile(file: string): Promise<string> {
  return readText(file).catch((error: unknown) => {
    throw new InvalidRequestError(`--input: ${file} cannot be read: ${errorMessage(error)}`, undefined, {
      hint: "check the path after the @",
      cause: error,
    });
  });
}

function objectField(name: "config" | "context", flag: string, text: string | undefined): Partial<RunBody> {
  if (text === undefined) return {};
  const value = parseJsonFlag(flag, text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidRequestError(`${flag} must be a JSON object, got ${text}`);
  }
  return { [name]: value };
}

/**
 * Parses `--stream`.
 * @throws InvalidRequestError for an unknown mode (`invalid_request`)
 */
export function streamModes(text: string | undefined, fallback: readonly StreamMode[]): StreamMode[] {
  if (text === undefined) return [...fallback];
  return splitList(text).map((word) => oneOf("--stream", word, STREAM_MODES));
}
