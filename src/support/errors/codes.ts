/** Error codes and the details of an error. */

/**
 * All error codes with their HTTP status and exit code. Every error that leaves the service has one
 * of them.
 */
const TABLE = {
  invalid_request: { status: 422, exitCode: 2 },
  unsupported_option: { status: 400, exitCode: 2 },
  unauthorized: { status: 401, exitCode: 2 },
  forbidden_origin: { status: 403, exitCode: 2 },
  forbidden: { status: 403, exitCode: 2 },
  thread_not_found: { status: 404, exitCode: 4 },
  run_not_found: { status: 404, exitCode: 4 },
  assistant_not_found: { status: 404, exitCode: 4 },
  checkpoint_not_found: { status: 404, exitCode: 4 },
  cron_not_found: { status: 404, exitCode: 4 },
  webhook_not_found: { status: 404, exitCode: 4 },
  route_not_found: { status: 404, exitCode: 4 },
  method_not_allowed: { status: 405, exitCode: 2 },
  thread_exists: { status: 409, exitCode: 5 },
  assistant_exists: { status: 409, exitCode: 5 },
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
  embedding_failed: { status: 503, exitCode: 3 },
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
