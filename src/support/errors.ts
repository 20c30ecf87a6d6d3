import { didYouMean } from "./nearest.js";

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
  graph_changed: { status: 409, exitCode: 5 },
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

/**
 * Code of an error, such as `thread_not_found`: stable across releases, unlike messages.
 * @example
 * ```ts
 * import { ThreadBusyError, type ErrorCode } from "graph-serve";
 *
 * const retried: ErrorCode[] = ["thread_busy", "server_busy", "storage_unavailable"];
 * retried.includes(new ThreadBusyError("thread-1").code); // => true
 * ```
 */
export type ErrorCode = keyof typeof TABLE;
/**
 * All error codes, each with its HTTP status and the exit code of a command that fails with it.
 * @example
 * ```ts
 * import { ERROR_CODES } from "graph-serve";
 *
 * ERROR_CODES.thread_busy; // => { status: 409, exitCode: 5 }
 * ```
 */
export const ERROR_CODES = TABLE;

/**
 * One error in an input: its location (such as `["body", "limit"]`), a message, and a stable type.
 * @example
 * ```ts
 * import { InvalidRequestError, type Issue } from "graph-serve";
 *
 * const issue: Issue = { loc: ["body", "limit"], msg: "must be at least 1", type: "value_error" };
 * new InvalidRequestError("body.limit: must be at least 1", [issue]).issues; // => [issue]
 * ```
 */
export interface Issue {
  /** Keys and indexes from the root of the input to the value. */
  loc: (string | number)[];
  /** What is wrong with the value. */
  msg: string;
  /** Such as `value_error`. */
  type: string;
}

/**
 * Location in a user's file.
 * @example
 * ```ts
 * import { ConfigError, type SourceLocation } from "graph-serve";
 *
 * const location: SourceLocation = { file: "/app/storage.yaml", line: 3 };
 * new ConfigError("unknown region", { location }).location; // => { file: "/app/storage.yaml", line: 3 }
 * ```
 */
export interface SourceLocation {
  file: string;
  /** Line number, from 1. */
  line?: number;
  /** Column number, from 1. */
  column?: number;
  /** A few source lines with a marker. */
  frame?: string;
}

/**
 * Details of an error, all optional.
 * @example
 * ```ts
 * import { ConfigError, type ErrorDetails } from "graph-serve";
 *
 * const details: ErrorDetails = { hint: "set checkpointer_options.url" };
 * new ConfigError("the storage needs a URL", details).hint; // => "set checkpointer_options.url"
 * ```
 */
export interface ErrorDetails {
  /** How to fix it, in one line. */
  hint?: string;
  /** Each error in an invalid request. */
  issues?: Issue[];
  /** Location of the error in a user's file. */
  location?: SourceLocation;
  /** The error that caused this one. */
  cause?: unknown;
}

/**
 * Base class of all errors that the service throws deliberately. `message` says what happened and
 * to which object; `code` decides the HTTP status.
 * @example
 * ```ts
 * import { GraphServeError } from "graph-serve";
 * import { service } from "./service.js";
 *
 * try {
 *   await service.threads.get("0198c0de-0000-7000-8000-000000000000");
 * } catch (error) {
 *   if (!(error instanceof GraphServeError)) throw error;
 *   error.code; // => "thread_not_found"
 *   error.status; // => 404
 * }
 * ```
 */
export class GraphServeError extends Error {
  /** Stable code; compare this rather than the message. */
  readonly code: ErrorCode;
  /** How to fix it, in one line. */
  readonly hint?: string;
  /** Each error in an invalid request. */
  readonly issues?: Issue[];
  /** Location of the error in a user's file. */
  readonly location?: SourceLocation;

  /**
   * @param code decides the HTTP status and the exit code
   * @param message what happened, and to which object
   * @param details hint, issues, location and cause
   */
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

/**
 * A request has an invalid shape or invalid values; `issues` lists each error. Code
 * `invalid_request`, HTTP status 422.
 * @example
 * ```ts
 * import { InvalidRequestError } from "graph-serve";
 *
 * const error = InvalidRequestError.at(["body", "limit"], "must be at least 1");
 * error.issues; // => [{ loc: ["body", "limit"], msg: "must be at least 1", type: "value_error" }]
 * error.status; // => 422
 * ```
 */
export class InvalidRequestError extends GraphServeError {
  constructor(message: string, issues?: Issue[], details: ErrorDetails = {}) {
    super("invalid_request", message, { ...details, issues });
  }

  /** An error with a single issue, such as `InvalidRequestError.at(["body", "as_node"], "unknown node")`. */
  static at(loc: Issue["loc"], msg: string, type = "value_error", cause?: unknown): InvalidRequestError {
    return new InvalidRequestError(`${loc.join(".")}: ${msg}`, [{ loc, msg, type }], { cause });
  }
}

/**
 * This version does not support a well-formed option (docs/specification.md#run-requests, 2). Code
 * `unsupported_option`, HTTP status 400.
 * @example
 * ```ts
 * import { UnsupportedOptionError } from "graph-serve";
 *
 * const error = new UnsupportedOptionError("after_seconds", "the setting delayed_runs is off");
 * error.message; // => "after_seconds is not supported: the setting delayed_runs is off"
 * error.status; // => 400
 * ```
 */
export class UnsupportedOptionError extends GraphServeError {
  constructor(option: string, why: string) {
    super("unsupported_option", `${option} is not supported: ${why}`);
  }
}

type Resource = "thread" | "run" | "assistant" | "checkpoint" | "cron" | "webhook";

/**
 * An object does not exist, or the caller cannot access it. Code `thread_not_found`,
 * `run_not_found` and so on, HTTP status 404.
 * @example
 * ```ts
 * import { NotFoundError } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const id = "0198c0de-0000-7000-8000-000000000000";
 * const error = await service.threads.get(id).catch((thrown: unknown) => thrown);
 * error instanceof NotFoundError && error.code; // => "thread_not_found"
 * ```
 */
export class NotFoundError extends GraphServeError {
  constructor(resource: Resource, id: string) {
    super(`${resource}_not_found`, `${resource} ${JSON.stringify(id)} does not exist`);
  }
}

/**
 * A thread with the requested id exists. Code `thread_exists`, HTTP status 409.
 * @example
 * ```ts
 * import { ThreadExistsError } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const { thread_id } = await service.threads.create({});
 * const error = await service.threads.create({ thread_id }).catch((thrown: unknown) => thrown);
 * error instanceof ThreadExistsError && error.code; // => "thread_exists"
 * ```
 */
export class ThreadExistsError extends GraphServeError {
  constructor(threadId: string) {
    super("thread_exists", `thread "${threadId}" already exists`, {
      hint: 'send "if_exists": "do_nothing" to get the existing thread',
    });
  }
}

/**
 * The thread has an active run, or too many callers wait for it. Code `thread_busy`, HTTP status
 * 409.
 * @example
 * ```ts
 * import { createThreadLocks, ThreadBusyError } from "graph-serve";
 *
 * const locks = createThreadLocks({ maxWaiting: 0 });
 * await locks.acquire("thread-1", { wait: true });
 * const error = await locks.acquire("thread-1", { wait: true }).catch((thrown: unknown) => thrown);
 * error instanceof ThreadBusyError && error.code; // => "thread_busy"
 * ```
 */
export class ThreadBusyError extends GraphServeError {
  constructor(threadId: string, why = "it has an active run") {
    super("thread_busy", `thread "${threadId}" is busy: ${why}`);
  }
}

/**
 * A request body is larger than the setting body_limit. Code `payload_too_large`, HTTP status 413.
 * @example
 * ```ts
 * import { PayloadTooLargeError } from "graph-serve";
 *
 * const limitBytes = 1_000_000;
 * new PayloadTooLargeError(limitBytes).status; // => 413
 * ```
 */
export class PayloadTooLargeError extends GraphServeError {
  /** @param limit maximum size of a request body, in bytes */
  constructor(limit: number) {
    super("payload_too_large", `request body is larger than ${limit} bytes`, {
      hint: "raise the setting body_limit",
    });
  }
}

/**
 * The thread has a newer checkpoint than the one this write is based on. The write would hide it,
 * so it is rejected. Code `thread_changed`, HTTP status 409.
 * @example
 * ```ts
 * import { ThreadChangedError } from "graph-serve";
 *
 * new ThreadChangedError("0198c0de-0000-7000-8000-000000000001").status; // => 409
 * ```
 */
export class ThreadChangedError extends GraphServeError {
  constructor(threadId: string) {
    super("thread_changed", `thread "${threadId}" was changed by another writer: nothing was written`, {
      hint: "read the thread's state and try again",
    });
  }
}

/**
 * Checkpoints are ordered by time. A checkpoint dated before the newest one would never be found,
 * so it is rejected. Code `clock_behind`, HTTP status 503.
 * @example
 * ```ts
 * import { ClockBehindError } from "graph-serve";
 *
 * const behindMs = 2_500;
 * new ClockBehindError("0198c0de-0000-7000-8000-000000000001", behindMs).status; // => 503
 * ```
 */
export class ClockBehindError extends GraphServeError {
  /**
   * @param threadId id of the thread
   * @param behindMs difference of the clocks, in milliseconds
   */
  constructor(threadId: string, behindMs: number) {
    const seconds = (behindMs / 1000).toFixed(1);
    super(
      "clock_behind",
      `the clock of this server is ${seconds} s behind the newest checkpoint of thread "${threadId}": nothing was written`,
      { hint: "synchronize the clocks of all servers with NTP, or retry when the clock has caught up" },
    );
  }
}

/**
 * An API key or identity is missing or invalid; the message does not reveal which. Code
 * `unauthorized`, HTTP status 401.
 * @example
 * ```ts
 * import { openService, UnauthorizedError } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const service = await openService({ graphs: { agent: graph }, authenticate: () => null });
 * const request = { method: "GET", path: "/threads", headers: {} };
 * const error = await service.authenticate?.(request).catch((thrown: unknown) => thrown);
 * error instanceof UnauthorizedError && error.code; // => "unauthorized"
 * await service.close();
 * ```
 */
export class UnauthorizedError extends GraphServeError {
  constructor(message: string) {
    super("unauthorized", message);
  }
}

/**
 * A setting, an option or a file of the configuration is invalid. Code `config_invalid`, HTTP
 * status 500.
 * @example
 * ```ts
 * import { ConfigError, openService } from "graph-serve";
 *
 * const settings = { checkpointer_scheme: "sqlit" };
 * const error = await openService({ settings, graphs: {} }).catch((thrown: unknown) => thrown);
 * error instanceof ConfigError && error.code; // => "config_invalid"
 * ```
 */
export class ConfigError extends GraphServeError {
  constructor(message: string, details?: ErrorDetails) {
    super("config_invalid", message, details);
  }
}

/**
 * A graph file cannot be loaded, or its export is not a graph. Code `graph_load_failed`, HTTP status
 * 500.
 * @example
 * ```ts
 * import { GraphLoadError, openService } from "graph-serve";
 *
 * const graphs = { agent: "./missing.ts:graph" };
 * const error = await openService({ graphs }).catch((thrown: unknown) => thrown);
 * error instanceof GraphLoadError && error.code; // => "graph_load_failed"
 * ```
 */
export class GraphLoadError extends GraphServeError {
  constructor(message: string, details?: ErrorDetails) {
    super("graph_load_failed", message, details);
  }
}

/**
 * The operation needs the code of a graph that does not load. The message is one line and visible
 * to clients. Code `graph_not_loaded`, HTTP status 409.
 * @example
 * ```ts
 * import { GraphLoadError, GraphNotLoadedError } from "graph-serve";
 *
 * const cause = new GraphLoadError("agent.ts does not exist");
 * new GraphNotLoadedError("agent", cause).message; // => 'graph "agent" does not load: agent.ts does not exist'
 * ```
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

/**
 * Joins the lines of a message with colons.
 * @param text one or more lines
 * @returns the text without line breaks
 * @example
 * ```ts
 * import { oneLine } from "graph-serve";
 *
 * oneLine("cannot load agent.ts\n  unexpected token"); // => "cannot load agent.ts: unexpected token"
 * ```
 */
export const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ": ");

/**
 * The run would resume tasks that its graph no longer has, for example because a node was renamed.
 * Code `graph_changed`, HTTP status 409.
 * @example
 * ```ts
 * import { GraphChangedError } from "graph-serve";
 *
 * const lost = { node: "ask", namespace: "", missing: "node", nodes: ["question"] } as const;
 * const error = new GraphChangedError("agent", "0198c0de-0000-7000-8000-000000000001", [lost]);
 * error.status; // => 409
 * error.nodes; // => ["ask"]
 * ```
 */
export class GraphChangedError extends GraphServeError {
  /** Names of the nodes, prefixed with the namespace of their subgraph. */
  readonly nodes: readonly string[];

  /**
   * @param graphId the graph that would execute the tasks
   * @param threadId the thread that waits for them
   * @param lost the tasks, at least one
   */
  constructor(
    graphId: string,
    threadId: string,
    lost: readonly {
      node: string;
      /** Of the subgraph; empty for the root graph. */
      namespace: string;
      /** Whether the node is missing, or the edge that leads to it. */
      missing: "node" | "edge";
      /** The nodes that the graph has. */
      nodes: readonly string[];
    }[],
  ) {
    const reasons = lost.map(({ node, namespace, missing, nodes }) => {
      const place = namespace === "" ? "" : ` of the subgraph ${namespace.replace(/:[^|]*/g, "")}`;
      if (missing === "edge") return `the edge to node "${node}"${place} that the thread has reached is gone`;
      const meant = didYouMean(node, nodes) ?? `the nodes are ${nodes.join(", ")}`;
      return `it waits in node "${node}"${place}, which is gone (${meant})`;
    });
    super(
      "graph_changed",
      `graph "${graphId}" has changed since thread "${threadId}" stopped: ${reasons.join("; ")}. Nothing was executed`,
      {
        hint: "restore the names in the graph, or send new input, which drops these tasks; threads that wait: graph-serve threads list --status interrupted",
      },
    );
    this.nodes = lost.map(({ node, namespace }) => (namespace === "" ? node : `${namespace}|${node}`));
  }
}

/**
 * The storage is unreachable or rejected a call. The message never contains a connection string.
 * Code `storage_unavailable`, HTTP status 503.
 * @example
 * ```ts
 * import { StorageUnavailableError } from "graph-serve";
 *
 * const error = new StorageUnavailableError("the server refused the connection", { hint: "start the server" });
 * error.status; // => 503
 * ```
 */
export class StorageUnavailableError extends GraphServeError {
  constructor(message: string, details?: ErrorDetails) {
    super("storage_unavailable", message, details);
  }
}

/**
 * Another process has claimed or ended the run; late writes of this process are rejected. Code
 * `run_failed`, HTTP status 500.
 * @example
 * ```ts
 * import { RunTakenError } from "graph-serve";
 *
 * new RunTakenError("0198c0de-0000-7000-8000-000000000002").code; // => "run_failed"
 * ```
 */
export class RunTakenError extends GraphServeError {
  constructor(runId: string) {
    super("run_failed", `run "${runId}" is no longer owned by this process: the late write is rejected`);
  }
}

/**
 * The client answered an interrupt that is not pending and set `strict_resume`; its run executes
 * nothing. Code `run_failed`, HTTP status 500.
 * @example
 * ```ts
 * import { UnknownInterruptError } from "graph-serve";
 *
 * const [answered, pending] = [["interrupt-1"], ["interrupt-2"]];
 * const error = new UnknownInterruptError(answered, pending);
 * error.message.includes("pending: interrupt-2"); // => true
 * error.code; // => "run_failed"
 * ```
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

/**
 * A large body is rejected to free memory for others. Code `server_busy`, HTTP status 503.
 * @example
 * ```ts
 * import { ServerBusyError } from "graph-serve";
 *
 * const maxBytes = 100_000_000;
 * new ServerBusyError(maxBytes).hint; // => "retry, or raise the setting max_incoming_bytes"
 * ```
 */
export class ServerBusyError extends GraphServeError {
  /** @param maxBytes maximum size of all request bodies being read, in bytes */
  constructor(maxBytes: number) {
    super("server_busy", `the request bodies being read exceed ${maxBytes} bytes in total`, {
      hint: "retry, or raise the setting max_incoming_bytes",
    });
  }
}

/**
 * The server is shutting down and accepts no runs. Code `shutting_down`, HTTP status 503.
 * @example
 * ```ts
 * import { openService, ShuttingDownError } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const service = await openService({ graphs: { agent: graph } });
 * await service.close();
 * const request = { assistant_id: "agent", input: { name: "Ada" } };
 * const error = await service.runs.createStateless(request).catch((thrown: unknown) => thrown);
 * error instanceof ShuttingDownError && error.code; // => "shutting_down"
 * ```
 */
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

/**
 * Converts any thrown value to an error with a code. Never throws.
 * @param thrown any value
 * @returns the value itself if it is a GraphServeError, otherwise an `internal_error` with the value as its cause
 * @example
 * ```ts
 * import { asServiceError } from "graph-serve";
 *
 * asServiceError(new TypeError("x is not a function")).code; // => "internal_error"
 * ```
 */
export function asServiceError(thrown: unknown): GraphServeError {
  // A graph may throw a value that itself throws when inspected.
  if (tryOr(() => thrown instanceof GraphServeError) === true) return thrown as GraphServeError;
  return new GraphServeError("internal_error", "internal error", { cause: thrown });
}

/**
 * The text that clients see: the message with its hint, or only `internal error`.
 * @param error the error; messages of most errors with status 500 are hidden from clients
 * @returns the text of the response
 * @example
 * ```ts
 * import { NotFoundError, publicMessage } from "graph-serve";
 *
 * publicMessage(new NotFoundError("run", "run-1")); // => 'run "run-1" does not exist'
 * ```
 */
export function publicMessage({ code, status, message, hint }: GraphServeError): string {
  if (status >= 500 && !PUBLIC_CODES.includes(code)) return "internal error";
  return hint ? `${message}; ${hint}` : message;
}

/**
 * Maximum length of a thrown value's message in rows, frames and logs, in characters.
 * @example
 * ```ts
 * import { errorMessage, LONGEST_MESSAGE } from "graph-serve";
 *
 * errorMessage("x".repeat(LONGEST_MESSAGE)).length; // => LONGEST_MESSAGE
 * ```
 */
export const LONGEST_MESSAGE = 10_000;
const LONGEST_NAME = 200;
/** Maximum number of causes that are read; a chain can be cyclic. */
const MOST_CAUSES = 10;

/**
 * Message of any thrown value. Never throws, even if the value throws when inspected.
 * @param error any value
 * @returns the message, truncated to LONGEST_MESSAGE characters and never empty
 * @example
 * ```ts
 * import { errorMessage } from "graph-serve";
 *
 * errorMessage(new RangeError("too large")); // => "too large"
 * errorMessage({ secret: 1 }); // => "an object without a message was thrown, with the keys secret"
 * ```
 */
export function errorMessage(error: unknown): string {
  const text =
    tryOr(() => messageOf(error)) || tryOr(() => nameOf(error)) || "something without a message was thrown";
  const more = text.length - LONGEST_MESSAGE;
  return more > 0 ? `${text.slice(0, LONGEST_MESSAGE)}... (${more} more characters)` : text;
}

/**
 * The error's name as clients see it. Never throws.
 * @param error any value
 * @returns the name, such as `RangeError`, truncated to 200 characters; `Error` for a value that is not an error
 * @example
 * ```ts
 * import { errorName } from "graph-serve";
 *
 * errorName(new RangeError("too large")); // => "RangeError"
 * errorName("boom"); // => "Error"
 * ```
 */
export function errorName(error: unknown): string {
  return (tryOr(() => nameOf(error)) || "Error").slice(0, LONGEST_NAME);
}

/**
 * The error followed by its causes. Never throws.
 * @param error any value
 * @returns at most 10 values, the error first, each once
 * @example
 * ```ts
 * import { causesOf, errorMessage } from "graph-serve";
 *
 * const error = new Error("query failed", { cause: new Error("connection refused") });
 * causesOf(error).map(errorMessage); // => ["query failed", "connection refused"]
 * ```
 */
export function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  const causeOf = (effect: unknown) => tryOr(() => (effect as { cause?: unknown }).cause);
  for (let next = error; next != null && !chain.includes(next); next = causeOf(next)) {
    if (chain.length === MOST_CAUSES) break;
    chain.push(next);
  }
  return chain;
}

/**
 * Reads a value that may throw, as getters of graph values can.
 * @param read called once
 * @returns the result of `read`; undefined if it throws
 * @example
 * ```ts
 * import { tryOr } from "graph-serve";
 *
 * tryOr(() => JSON.parse("{") as object); // => undefined
 * ```
 */
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
