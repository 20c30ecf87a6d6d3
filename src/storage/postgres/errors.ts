import { AWAY, type ExplainError, type Explanation, explainServer } from "../driver/errors.js";

/** Server errors by SQLSTATE: a full code or a prefix of two or three characters. */
const SERVER_ERRORS: Record<string, Explanation> = {
  "08": { message: "lost the connection" },
  "22": {
    message: "cannot store a value of this request",
    hint: "NUL characters, for example, cannot be stored",
    code: "invalid_request",
  },
  "25006": { message: "is read-only", hint: "set checkpointer_uri to the primary server, not a standby" },
  "28": { message: "refused the login", hint: "check user and password in checkpointer_uri" },
  "3D000": {
    message: "has no database with this name",
    hint: "create it, or correct the database name in checkpointer_uri",
  },
  "40": { message: "aborted a transaction that conflicted with another one", hint: "try again" },
  "42P01": {
    message: "is missing a table of graph-serve",
    hint: "restart the server: it creates missing tables",
  },
  "42501": {
    message: "denied the user a permission",
    hint: "grant CREATE on the schema for the first start; later, privileges on its tables are enough",
  },
  "53100": { message: "has no disk space left", hint: "free some space; nothing stored is lost" },
  "53200": {
    message: "is out of memory",
    hint: "raise max_locks_per_transaction if many threads are in use",
  },
  "53300": {
    message: "has no free connection",
    hint: "lower checkpointer_options.pool_max_size or raise max_connections",
  },
  "54": { message: "cannot store a value of this size", code: "payload_too_large" },
  "57014": {
    message: "cancelled a statement that took too long",
    hint: "raise checkpointer_options.statement_timeout_ms",
  },
  "57P": { message: "is shutting down or starting up", hint: "try again" },
};

const NETWORK_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENOENT|EACCES)$/;

/** Errors of pg without a code, by message. */
const DRIVER_ERRORS: [RegExp, Explanation][] = [
  [/pool after calling end|Client was closed/, { message: "is no longer in use: the storage is closed" }],
  [/Query read timeout/, { message: "did not answer in time" }],
  [
    /timeout exceeded when trying to connect/,
    { message: "had no free connection in time", hint: "raise checkpointer_options.pool_max_size" },
  ],
  [
    /connection terminated|not queryable|connection timeout|Connection ended|timeout expired/i,
    { message: "lost the connection" },
  ],
  [
    /SSL|certificate|self.signed/i,
    { message: "refused a secure connection", hint: "check sslmode in checkpointer_uri" },
  ],
  [/SASL|password/i, { message: "refused the login", hint: "check user and password in checkpointer_uri" }],
];

/** Whether PostgreSQL aborted a statement or transaction in favor of another one. It has changed nothing. */
export const isConflict = (error: unknown): boolean =>
  ["40001", "40P01"].includes((error as { code?: string }).code ?? "");

/** Explains errors of pg for the server at `address`. */
export const explainPostgres = (address: string): ExplainError =>
  explainServer(`PostgreSQL at ${address}`, meaningOf);

function meaningOf(error: unknown): Explanation | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  if (typeof code === "string" && typeof severity === "string") {
    return (
      SERVER_ERRORS[code] ??
      SERVER_ERRORS[code.slice(0, 3)] ??
      SERVER_ERRORS[code.slice(0, 2)] ?? { message: "refused a call" }
    );
  }
  if (typeof code === "string" && NETWORK_CODES.test(code)) return AWAY;
  return DRIVER_ERRORS.find(([text]) => text.test(error.message))?.[1];
}
