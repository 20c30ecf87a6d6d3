/**
 * All error codes with their HTTP status and exit code. Every error that leaves the service has one
 * of them.
 */
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

/** One error in an input: its location (such as `["body", "limit"]`), a message, and a stable type. */
export interface Issue {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** Location in a user's file; `frame` is a few source lines with a marker. */
export interface SourceLocation {
  file: string;
  line?: number;
  column?: number;
  frame?: string;
}

export interface ErrorDetails {
  /** How to fix it, in one line. */
  hint?: string;
  issues?: Issue[];
  location?: SourceLocation;
  cause?: unknown;
}

/**
 * Base class of all errors that the service throws deliberately. `message` says what happened and
 * to which object.
 */
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

  /** HTTP status of the error response. */
  get status(): number {
    return TABLE[this.code].status;
  }

  /** Exit code of a command that fails with this error. */
  get exitCode(): number {
    return TABLE[this.code].exitCode;
  }
}

/** A request with an invalid shape or invalid values; `issues` lists each error. */
export class InvalidRequestError extends GraphServeError {
  constructor(message: string, issues?: Issue[], details: ErrorDetails = {}) {
    super("invalid_request", message, { ...details, issues });
  }

  /** An error with a single issue, such as `InvalidRequestError.at(["body", "as_node"], "unknown node")`. */
  static at(loc: Issue["loc"], msg: string, type = "value_error", cause?: unknown): InvalidRequestError {
    return new InvalidRequestError(`${loc.join(".")}: ${msg}`, [{ loc, msg, type }], { cause });
  }
}

/** A well-formed option that this version does not support (docs/specification.md#run-requests, 2). */
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
  constructor(threadId: string, why = "it has an active run") {
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

/**
 * The thread has a newer checkpoint than the one this write is based on. The write would hide it,
 * so it is rejected.
 */
export class ThreadChangedError extends GraphServeError {
  constructor(threadId: string) {
    super("thread_changed", `thread "${threadId}" was changed by another writer: nothing was written`, {
      hint: "read the thread's state and try again",
    });
  }
}

/** Checkpoints are ordered by time. A checkpoint dated before the newest one would never be found. */
export class ClockBehindError extends GraphServeError {
  constructor(threadId: string, behindMs: number) {
    const seconds = (behindMs / 1000).toFixed(1);
    super(
      "clock_behind",
      `the clock of this server is ${seconds} s behind the newest checkpoint of thread "${threadId}": nothing was written`,
      { hint: "synchronize the clocks of all servers with NTP, or retry when the clock has caught up" },
    );
  }
}

/** Missing or invalid API key or identity; the message does not reveal what is wrong. */
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

/**
 * The operation needs the code of a graph that does not load. The message is one line and visible
 * to clients.
 */
export class GraphNotLoadedError extends GraphServeError {
  constructor(graphId: string, error: GraphLoadError) {
    const { hint, location } = error;
    super("graph_not_loaded", `graph ${JSON.stringify(graphId)} does not load: ${oneLine(error.message)}`, {
      hint,
      location,
      cause: error,
    });
  }
}

/** Joins the lines of a message. */
export const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ": ");

/** The storage is unreachable or rejected a call. The message never contains a connection string. */
export class StorageUnavailableError extends GraphServeError {
  constructor(message: string, details?: ErrorDetails) {
    super("storage_unavailable", message, details);
  }
}

/** Another process has claimed or ended the run; late writes of this process are rejected. */
export class RunTakenError extends GraphServeError {
  constructor(runId: string) {
    super("run_failed", `run "${runId}" is no longer owned by this process: the late write is rejected`);
  }
}

/**
 * The client answered an interrupt that is not pending and asked not to ignore this; its run
 * executes nothing.
 */
export class UnknownInterruptError extends GraphServeError {
  /** Sent to newer clients: the answered interrupts that are not pending, and the pending ones. */
  readonly refusal: { reason: string; interrupt_ids: string[]; pending_ids: string[] };

  constructor(answered: string[], pending: string[]) {
    const which = answered.length > 0 ? answered.join(", ") : "to answer";
    const waiting = pending.length > 0 ? `pending: ${pending.join(", ")}` : "no interrupt is pending";
    super("run_failed", `the thread has no pending interrupt ${which}; ${waiting}. Nothing was executed`);
    this.refusal = { reason: "unknown_interrupt", interrupt_ids: answered, pending_ids: pending };
  }
}

/** A large body is rejected to free memory for others. */
export class ServerBusyError extends GraphServeError {
  constructor(maxBytes: number) {
    super("server_busy", `the request bodies being read exceed ${maxBytes} bytes in total`, {
      hint: "retry, or raise the setting max_incoming_bytes",
    });
  }
}

export class ShuttingDownError extends GraphServeError {
  constructor() {
    super("shutting_down", "the server is shutting down");
  }
}

/** Server errors whose messages are shown to clients; all others are reported as `internal error`. */
const PUBLIC_CODES: readonly ErrorCode[] = [
  "storage_unavailable",
  "clock_behind",
  "server_busy",
  "auth_timeout",
  "shutting_down",
  "server_unreachable",
];

/** Converts any thrown value to an error with a code. Never throws. */
export function asServiceError(thrown: unknown): GraphServeError {
  // A graph may throw a value that itself throws when inspected.
  if (tryOr(() => thrown instanceof GraphServeError) === true) return thrown as GraphServeError;
  return new GraphServeError("internal_error", "internal error", { cause: thrown });
}

/** The text that clients see: the message with its hint, or only `internal error`. */
export function publicMessage({ code, status, message, hint }: GraphServeError): string {
  if (status >= 500 && !PUBLIC_CODES.includes(code)) return "internal error";
  return hint ? `${message}; ${hint}` : message;
}

/** Maximum length of a thrown value's message in rows, frames and logs, in characters. */
export const LONGEST_MESSAGE = 10_000;
const LONGEST_NAME = 200;
/** Maximum number of causes that are read; a chain can be cyclic. */
const MOST_CAUSES = 10;

/** Message of any thrown value, truncated. Never throws, even if the value throws when inspected. */
export function errorMessage(error: unknown): string {
  const text =
    tryOr(() => messageOf(error)) || tryOr(() => nameOf(error)) || "something without a message was thrown";
  const more = text.length - LONGEST_MESSAGE;
  return more > 0 ? `${text.slice(0, LONGEST_MESSAGE)}... (${more} more characters)` : text;
}

/** The error's name as clients see it, such as `RangeError`. Never throws. */
export function errorName(error: unknown): string {
  return (tryOr(() => nameOf(error)) || "Error").slice(0, LONGEST_NAME);
}

/** The error followed by its causes: at most 10, each once. Never throws. */
export function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  const causeOf = (effect: unknown) => tryOr(() => (effect as { cause?: unknown }).cause);
  for (let next = error; next != null && !chain.includes(next); next = causeOf(next)) {
    if (chain.length === MOST_CAUSES) break;
    chain.push(next);
  }
  return chain;
}

/** Result of `read`; undefined if it throws, as getters of graph values can. */
export function tryOr<T>(read: () => T): T | undefined {
  try {
    return read();
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
  // LangGraph adds this key to errors it catches.
  const keys = Object.keys(thrown).filter((key) => key !== "pregelTaskId");
  return `an object without a message was thrown, with ${keys.length > 0 ? `the keys ${keys.join(", ")}` : "no keys"}`;
}

const textOf: (value: unknown) => string = String;

/** Custom string form of a value; empty if an object only has the default one. */
function ownText(value: unknown): string {
  const text = value === undefined || value instanceof Error ? "" : textOf(value);
  return text.startsWith("[object ") ? "" : text;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { name } = error as { name: unknown };
  return typeof name === "string" && name !== "" ? name : String(error.constructor.name);
}
