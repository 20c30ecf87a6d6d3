/** The errors of the service. */
import {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  type Issue,
  type SourceLocation,
} from "./errors/codes.js";
import { oneLine, tryOr } from "./errors/thrown.js";
import { didYouMean } from "./nearest.js";

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
    return ERROR_CODES[this.code].status;
  }

  /** Exit code of a command that fails with this error. */
  get exitCode(): number {
    return ERROR_CODES[this.code].exitCode;
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
   * @param lost the tasks, at least one: the namespace of a subgraph, empty for the root graph, whether the node or the edge
   *   to it is missing, and the nodes that the graph has; or another reason, such as a migration that failed
   */
  constructor(
    graphId: string,
    threadId: string,
    lost:
      | readonly { node: string; namespace: string; missing: "node" | "edge"; nodes: readonly string[] }[]
      | { reason: string; hint: string },
  ) {
    const changed = `graph "${graphId}" has changed since thread "${threadId}" stopped`;
    if ("reason" in lost) {
      super("graph_changed", `${changed}: ${lost.reason}. Nothing was executed`, { hint: lost.hint });
      this.nodes = [];
      return;
    }
    const reasons = lost.map(({ node, namespace, missing, nodes }) => {
      const place = namespace === "" ? "" : ` of the subgraph ${namespace.replace(/:[^|]*/g, "")}`;
      if (missing === "edge") return `the edge to node "${node}"${place} that the thread has reached is gone`;
      const meant = didYouMean(node, nodes) ?? `the nodes are ${nodes.join(", ")}`;
      return `it waits in node "${node}"${place}, which is gone (${meant})`;
    });
    super("graph_changed", `${changed}: ${reasons.join("; ")}. Nothing was executed`, {
      hint: "restore the names in the graph, or send new input, which drops these tasks; all threads that would be refused: graph-serve versions check",
    });
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
  "embedding_failed",
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
