import { GraphServeError } from "../../support/errors.js";
import { AWAY, type ExplainError, type Explanation, explainServer } from "../driver/errors.js";

/** Maximum size of a MongoDB document, in bytes. A value gets all but 64 KiB, which is left for the other fields. */
const DOCUMENT_LIMIT = 16 * 1024 * 1024;
export const VALUE_LIMIT = DOCUMENT_LIMIT - 64 * 1024;

const TOO_LARGE_HINT =
  "keep large data outside the state and its metadata, or use checkpointer_scheme postgres or sqlite";

/** Not `storage_unavailable`: the value itself is too large, so a retry does not help. */
export function tooLarge(bytes: number): GraphServeError {
  const size = (bytes / 1024 / 1024).toFixed(1);
  return new GraphServeError(
    "payload_too_large",
    `a value of ${size} MB is too large: a MongoDB document can hold 16 MB`,
    { hint: TOO_LARGE_HINT },
  );
}

const TOO_LARGE: Explanation = {
  message: "stores documents of up to 16 MB, and this one is larger",
  hint: TOO_LARGE_HINT,
  code: "payload_too_large",
};

const LOGIN: Explanation = {
  message: "refused the login",
  hint: "check user, password and authSource in checkpointer_uri",
};
const NO_RIGHT: Explanation = {
  message: "denied the user a permission",
  hint: "grant the user the role readWrite on the database",
};
const READ_ONLY: Explanation = {
  message: "has no primary that accepts writes",
  hint: "try again: the replica set is electing a primary",
};

/** Server errors, by code. */
const SERVER_ERRORS: Record<number, Explanation> = {
  2: { message: "refused a value" },
  8: { message: "refused a call" },
  13: NO_RIGHT,
  18: LOGIN,
  50: { message: "cancelled a call that took too long" },
  91: { message: "is shutting down", hint: "try again" },
  189: READ_ONLY,
  8000: LOGIN,
  10058: READ_ONLY,
  10107: READ_ONLY,
  10334: TOO_LARGE,
  11600: { message: "is shutting down", hint: "try again" },
  11602: { message: "aborted a call because the primary changed", hint: "try again" },
  13388: { message: "changed its configuration during a call", hint: "try again" },
  13435: READ_ONLY,
  14031: { message: "has no disk space left", hint: "free some space; nothing stored is lost" },
  17419: TOO_LARGE,
  17420: TOO_LARGE,
};

const LOST: Explanation = { message: "lost the connection" };
const SOCKET_CODES = /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ERR_STREAM_DESTROYED|ERR_SOCKET_CLOSED)$/;

/** Errors of the driver, by class name. */
const DRIVER_ERRORS: Record<string, Explanation> = {
  MongoServerSelectionError: AWAY,
  MongoNetworkError: LOST,
  MongoNetworkTimeoutError: { message: "did not answer in time" },
  MongoOperationTimeoutError: { message: "did not answer in time" },
  MongoWaitQueueTimeoutError: {
    message: "had no free connection in time",
    hint: "raise checkpointer_options.pool_max_size",
  },
  MongoPoolClosedError: LOST,
  MongoPoolClearedError: LOST,
  MongoNotConnectedError: { message: "is no longer in use: the storage is closed" },
  MongoTopologyClosedError: { message: "is no longer in use: the storage is closed" },
  MongoClientClosedError: { message: "is no longer in use: the storage is closed" },
  MongoWriteConcernError: { message: "did not store a write on enough servers", hint: "try again" },
};

/** Explains errors of the driver for the servers at `hosts`. */
export const explainMongodb = (hosts: string): ExplainError =>
  explainServer(`MongoDB at ${hosts}`, meaningOf);

function meaningOf(error: unknown): Explanation | undefined {
  if (!(error instanceof Error)) return undefined;
  // The driver's serializer throws a RangeError at the end of its buffer.
  if (error instanceof RangeError && /out of (range|bounds)/.test(error.message)) return TOO_LARGE;
  if (/BSONObj.*too large|larger than the maximum size|BSONObj size.*invalid/i.test(error.message)) {
    return TOO_LARGE;
  }
  if (/^BSON\w*Error$/.test(error.name)) return { message: "cannot store a value of this request" };
  // If a socket closes during a write, the driver passes its error on unchanged.
  if ("code" in error && typeof error.code === "string" && SOCKET_CODES.test(error.code)) return LOST;
  if (!error.name.startsWith("Mongo")) return undefined;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  // A login error while connecting is reported as the cause of a server selection error.
  if (error.name === "MongoServerSelectionError" && isLoginError(cause)) return LOGIN;
  const byCode = typeof code === "number" ? SERVER_ERRORS[code] : undefined;
  return byCode ?? DRIVER_ERRORS[error.name] ?? { message: "refused a call" };
}

function isLoginError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return code === 18 || code === 8000 || (cause !== error && isLoginError(cause));
}

/** Whether the error is a duplicate key error. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === 11000;
