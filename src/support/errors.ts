/** The one table of failures: every error that leaves the service carries one of these codes. */
const TABLE = {
  invalid_request: { status: 422, exitCode: 2 },
  unsupported_option: { status: 400, exitCode: 2 },
  unauthorized: { status: 401, exitCode: 2 },
  forbidden_origin: { status: 403, exitCode: 2 },
  thread_not_found: { status: 404, exitCode: 4 },
  run_not_found: { status: 404, exitCode: 4 },
  assistant_not_found: { status: 404, exitCode: 4 },
  checkpoint_not_found: { status: 404, exitCode: 4 },
  cron_not_found: { status: 404, exitCode: 4 },
  webhook_not_found: { status: 404, exitCode: 4 },
  route_not_found: { status: 404, exitCode: 4 },
  method_not_allowed: { status: 405, exitCode: 2 },
  thread_exists: { status: 409, exitCode: 5 },
  thread_busy: { status: 409, exitCode: 5 },
  thread_changed: { status: 409, exitCode: 5 },
  run_not_redrivable: { status: 409, exitCode: 5 },
  graph_not_loaded: { status: 409, exitCode: 2 },
  read_only: { status: 409, exitCode: 2 },
  payload_too_large: { status: 413, exitCode: 2 },
  too_many_streams: { status: 429, exitCode: 5 },
  too_many_runs: { status: 429, exitCode: 5 },
  config_invalid: { status: 500, exitCode: 2 },
  graph_load_failed: { status: 500, exitCode: 2 },
  run_failed: { status: 500, exitCode: 1 },
  storage_unavailable: { status: 503, exitCode: 3 },
  clock_behind: { status: 503, exitCode: 3 },
  server_busy: { status: 503, exitCode: 3 },
  auth_timeout: { status: 503, exitCode: 3 },
  server_unreachable: { status: 503, exitCode: 3 },
  shutting_down: { status: 503, exitCode: 3 },
  internal_error: { status: 500, exitCode: 70 },
} as const satisfies Record<string, { status: number; exitCode: number }>;

export type ErrorCode = keyof typeof TABLE;
export const ERROR_CODES = TABLE;

/** One fault of an input: where it is (`["body", "limit"]`), what is wrong, and a stable kind. */
export interface Issue {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** Where in a user's file a fault stands; `frame` is a few source lines with a marker. */
export interface SourceLocation {
  file: string;
  line?: number;
  column?: number;
  frame?: string;
}

export interface ErrorDetails {
  /** How to put it right, in one line. */
  hint?: string;
  issues?: Issue[];
  location?: SourceLocation;
  cause?: unknown;
}

/** Base of every error the service throws on purpose. `message` says what happened, to what, in plain words. */
export class GraphServeError extends Error {
  readonly code: ErrorCode;
  readonly hint?: string;
  readonly issues?: Issue[];
  readonly location?: SourceLocation;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = details.hint;
    this.issues = details.issues;
    this.location = details.location;
  }

  /** HTTP status of the answer that reports this error. */
  get status(): number {
    return TABLE[this.code].status;
  }

  /** Exit code of a command that ends with this error. */
  get exitCode(): number {
    return TABLE[this.code].exitCode;
  }
}

/** A request whose shape or values are wrong; `issues` names each fault. */
export class InvalidRequestError extends GraphServeError {
  constructor(message: string, issues?: Issue[], details: ErrorDetails = {}) {
    super("invalid_request", message, { ...details, issues });
  }

  /** One fault at one place, for instance `InvalidRequestError.at(["body", "as_node"], "unknown node")`. */
  static at(loc: Issue["loc"], msg: string, type = "value_error", cause?: unknown): InvalidRequestError {
    return new InvalidRequestError(`${loc.join(".")}: ${msg}`, [{ loc, msg, type }], { cause });
  }
}

/** A well-formed option that this version refuses (docs/specification.md#run-requests, 2). */
export class UnsupportedOptionError extends GraphServeError {
  constructor(option: string, why: string) {
    super("unsupported_option", `${option} is not supported: ${why}`);
  }
}

type Resource = "thread" | "run" | "assistant" | "checkpoint" | "cron" | "webhook";

export class NotFoundError extends GraphServeError {
  constructor(resource: Resource, id: string) {
    super(`${resource}_not_found`, `${resource} ${JSON.stringify(id)} does not exist`);
  }
}

export class ThreadExistsError extends GraphServeError {
  constructor(threadId: string) {
    super("thread_exists", `thread "${threadId}" already exists`, {
      hint: 'send "if_exists": "do_nothing" to get the existing thread',
    });
  }
}

export class ThreadBusyError extends GraphServeError {
  constructor(threadId: string, why = "a run is in flight on it") {
    super("thread_busy", `thread "${threadId}" is busy: ${why}`);
  }
}

export class PayloadTooLargeError extends GraphServeError {
  constructor(limit: number) {
    super("payload_too_large", `request body is larger than ${limit} bytes`, {
      hint: "raise the setting body_limit",
    });
  }
}

/** The thread got a checkpoint that this writer did not know of: its own write would hide it, and is refused. */
export class ThreadChangedError extends GraphServeError {
  constructor(threadId: string) {
    super("thread_changed", `thread "${threadId}" was changed by another writer: nothing was written`, {
      hint: "read the thread's state and try again",
    });
  }
}

/** Checkpoints are ordered by their time: one that this clock would date before the newest could never be found. */
export class ClockBehindError extends GraphServeError {
  constructor(threadId: string, behindMs: number) {
    const seconds = (behindMs / 1000).toFixed(1);
    super(
      "clock_behind",
      `the clock of this server is ${seconds} s behind the newest checkpoint of thread "${threadId}": nothing was written`,
      { hint: "synchronize the clocks of all servers (NTP), or try again when the clock has caught up" },
    );
  }
}

/** No known key, or no identity; what exactly is wrong with it is not said. */
export class UnauthorizedError extends GraphServeError {
  constructor(message: string) {
    super("unauthorized", message);
  }
}

export class ConfigError extends GraphServeError {
  constructor(message: string, details?: ErrorDetails) {
    super("config_invalid", message, details);
  }
}

export class GraphLoadError extends GraphServeError {
  constructor(message: string, details?: ErrorDetails) {
    super("graph_load_failed", message, details);
  }
}

/** What was asked for needs the code of a graph that does not load; the message is one line, for clients too. */
export class GraphNotLoadedError extends GraphServeError {
  constructor(graphId: string, fault: GraphLoadError) {
    const { hint, location } = fault;
    super("graph_not_loaded", `graph ${JSON.stringify(graphId)} does not load: ${oneLine(fault.message)}`, {
      hint,
      location,
      cause: fault,
    });
  }
}

/** The lines of a message as one. */
export const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ": ");

/** The storage could not be reached or refused a call; the message never holds a connection string. */
export class StorageUnavailableError extends GraphServeError {
  constructor(message: string, details?: ErrorDetails) {
    super("storage_unavailable", message, details);
  }
}

/** Another process has taken the run over, or ended it: what this one still writes for it is refused. */
export class RunTakenError extends GraphServeError {
  constructor(runId: string) {
    super("run_failed", `run "${runId}" is no longer this process's: its late write is refused`);
  }
}

/** An answer to what is not asked, of a client that wants no such answer ignored: its run executes nothing. */
export class UnknownInterruptError extends GraphServeError {
  /** As newer clients read it: what was answered and is not asked, and what is. */
  readonly refusal: { reason: string; interrupt_ids: string[]; pending_ids: string[] };

  constructor(answered: string[], pending: string[]) {
    const which = answered.length > 0 ? answered.join(", ") : "anything";
    const asked = pending.length > 0 ? `it asks ${pending.join(", ")}` : "it asks nothing";
    super("run_failed", `the thread does not ask ${which}: ${asked}, and nothing was run`);
    this.refusal = { reason: "unknown_interrupt", interrupt_ids: answered, pending_ids: pending };
  }
}

/** A large body whose bytes make room for those of others. */
export class ServerBusyError extends GraphServeError {
  constructor(maxBytes: number) {
    super("server_busy", `the bodies that the server is reading exceed ${maxBytes} bytes together`, {
      hint: "try again, or raise the setting max_incoming_bytes",
    });
  }
}

export class ShuttingDownError extends GraphServeError {
  constructor() {
    super("shutting_down", "the server is shutting down");
  }
}

/** Server faults whose message is written for clients; of all others they learn no more than that it happened. */
const PUBLIC_FAULTS: readonly ErrorCode[] = [
  "storage_unavailable",
  "clock_behind",
  "server_busy",
  "auth_timeout",
  "shutting_down",
  "server_unreachable",
];

/** Whatever was thrown, as an error of the table. Never throws. */
export function asServiceError(thrown: unknown): GraphServeError {
  // A graph may throw what throws when it is looked at.
  if (tryOr(() => thrown instanceof GraphServeError) === true) return thrown as GraphServeError;
  return new GraphServeError("internal_error", "internal error", { cause: thrown });
}

/** What clients see of an error: the message and its fix, or only that an error occurred. */
export function publicMessage({ code, status, message, hint }: GraphServeError): string {
  if (status >= 500 && !PUBLIC_FAULTS.includes(code)) return "internal error";
  return hint ? `${message}; ${hint}` : message;
}

/** Maximum length of a thrown value's message in rows, frames and logs, in characters. */
export const LONGEST_MESSAGE = 10_000;
const LONGEST_NAME = 200;
/** Causes that are looked at: a chain may have no end. */
const MOST_CAUSES = 10;

/** The text of anything that was thrown, bounded. Never throws, whatever the thing does when it is looked at. */
export function errorMessage(error: unknown): string {
  const text =
    tryOr(() => messageOf(error)) || tryOr(() => nameOf(error)) || "something without a message was thrown";
  const more = text.length - LONGEST_MESSAGE;
  return more > 0 ? `${text.slice(0, LONGEST_MESSAGE)}... (${more} more characters)` : text;
}

/** The error's name as clients see it (`RangeError`, ...). Never throws. */
export function errorName(error: unknown): string {
  return (tryOr(() => nameOf(error)) || "Error").slice(0, LONGEST_NAME);
}

/** The error, what caused it, what caused that: ten at most, each once. Never throws. */
export function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  const causeOf = (effect: unknown) => tryOr(() => (effect as { cause?: unknown }).cause);
  for (let next = error; next != null && !chain.includes(next); next = causeOf(next)) {
    if (chain.length === MOST_CAUSES) break;
    chain.push(next);
  }
  return chain;
}

/** What `look` gives; undefined when it throws, as things of graphs may when they are looked at. */
export function tryOr<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === "function") return "a function was thrown";
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  const { message } = thrown as { message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  const text = tryOr(() => ownText(message)) || tryOr(() => ownText(thrown));
  if (text || thrown instanceof Error) return text ?? "";
  // LangGraph marks what it catches.
  const keys = Object.keys(thrown).filter((key) => key !== "pregelTaskId");
  return `an object without a message was thrown, with ${keys.length > 0 ? `the keys ${keys.join(", ")}` : "no keys"}`;
}

const textOf: (value: unknown) => string = String;

/** The text that a value makes of itself; none for an object that has but that of every object. */
function ownText(value: unknown): string {
  const text = value === undefined || value instanceof Error ? "" : textOf(value);
  return text.startsWith("[object ") ? "" : text;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { name } = error as { name: unknown };
  return typeof name === "string" && name !== "" ? name : String(error.constructor.name);
}
