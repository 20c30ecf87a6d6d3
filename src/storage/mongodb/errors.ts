import { GraphServeError } from "../../support/errors.js";
import { AWAY, type ExplainError, type Explanation, explainServer } from "../driver/errors.js";

/** What a document of MongoDB holds at most, and what we leave of it for the fields around a large value. */
const DOCUMENT_LIMIT = 16 * 1024 * 1024;
export const VALUE_LIMIT = DOCUMENT_LIMIT - 64 * 1024;

const TOO_LARGE_HINT =
  "keep large data outside of the state and its metadata, or use checkpointer_scheme postgres or sqlite";

/** No retry helps here: it is what was sent that does not fit, not the storage that is away. */
export function tooLarge(bytes: number): GraphServeError {
  const size = (bytes / 1024 / 1024).toFixed(1);
  return new GraphServeError(
    "payload_too_large",
    `a value of ${size} MB does not fit: a MongoDB document holds 16 MB`,
    { hint: TOO_LARGE_HINT },
  );
}

const TOO_LARGE: Explanation = {
  message: "holds documents of 16 MB, and this one is larger",
  hint: TOO_LARGE_HINT,
  code: "payload_too_large",
};

const LOGIN: Explanation = {
  message: "refused the login",
  hint: "check user, password and authSource in checkpointer_uri",
};
const NO_RIGHT: Explanation = {
  message: "denies the user a right",
  hint: "grant the role readWrite on the database",
};
const READ_ONLY: Explanation = {
  message: "has no primary that takes writes just now",
  hint: "try again; the replica set elects one",
};

/** By the server's error codes. */
const SERVER_ERRORS: Record<number, Explanation> = {
  2: { message: "refused a value" },
  8: { message: "refused a call" },
  13: NO_RIGHT,
  18: LOGIN,
  50: { message: "took too long over a call" },
  91: { message: "is shutting down", hint: "try again" },
  189: READ_ONLY,
  8000: LOGIN,
  10058: READ_ONLY,
  10107: READ_ONLY,
  10334: TOO_LARGE,
  11600: { message: "is shutting down", hint: "try again" },
  11602: { message: "broke off a call because its primary changed", hint: "try again" },
  13388: { message: "changed while it was asked", hint: "try again" },
  13435: READ_ONLY,
  14031: { message: "has no disk space left", hint: "free some space; nothing stored is lost" },
  17419: TOO_LARGE,
  17420: TOO_LARGE,
};

const LOST: Explanation = { message: "lost the connection" };
const SOCKET_CODES = /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ERR_STREAM_DESTROYED|ERR_SOCKET_CLOSED)$/;

const DRIVER_ERRORS: Record<string, Explanation> = {
  MongoServerSelectionError: AWAY,
  MongoNetworkError: LOST,
  MongoNetworkTimeoutError: { message: "did not answer in time" },
  MongoOperationTimeoutError: { message: "did not answer in time" },
  MongoWaitQueueTimeoutError: {
    message: "gave no free connection in time",
    hint: "raise checkpointer_options.pool_max_size",
  },
  MongoPoolClosedError: LOST,
  MongoPoolClearedError: LOST,
  MongoNotConnectedError: { message: "is no longer in use: the storage is closed" },
  MongoTopologyClosedError: { message: "is no longer in use: the storage is closed" },
  MongoClientClosedError: { message: "is no longer in use: the storage is closed" },
  MongoWriteConcernError: { message: "did not store a write on enough servers", hint: "try again" },
};

/** What an error of the driver means, said of the servers at `hosts`. */
export const explainMongodb = (hosts: string): ExplainError =>
  explainServer(`MongoDB at ${hosts}`, meaningOf);

function meaningOf(error: unknown): Explanation | undefined {
  if (!(error instanceof Error)) return undefined;
  // The driver's serializer meets the end of its buffer with errors of JavaScript's own.
  if (error instanceof RangeError && /out of (range|bounds)/.test(error.message)) return TOO_LARGE;
  if (/BSONObj.*too large|larger than the maximum size|BSONObj size.*invalid/i.test(error.message)) {
    return TOO_LARGE;
  }
  if (/^BSON\w*Error$/.test(error.name)) return { message: "has no place for a value of this request" };
  // A socket that ends in the middle of a write: the driver hands its error on as it is.
  if ("code" in error && typeof error.code === "string" && SOCKET_CODES.test(error.code)) return LOST;
  if (!error.name.startsWith("Mongo")) return undefined;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  // A login that is refused while connecting hides behind the search for a server.
  if (error.name === "MongoServerSelectionError" && isLoginError(cause)) return LOGIN;
  const byCode = typeof code === "number" ? SERVER_ERRORS[code] : undefined;
  return byCode ?? DRIVER_ERRORS[error.name] ?? { message: "refused a call" };
}

function isLoginError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return code === 18 || code === 8000 || (cause !== error && isLoginError(cause));
}

/** Whether an insert met a document of the same id. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === 11000;
