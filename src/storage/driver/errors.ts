import { GraphServeError, StorageUnavailableError } from "../../support/errors.js";
import type { ErrorCode } from "../../support/errors/codes.js";
import { wrapMethods } from "./methods.js";

/**
 * What a driver's error means, for the message of a StorageUnavailableError.
 * @example
 * ```ts
 * import type { Explanation } from "graph-serve";
 *
 * const tooLarge: Explanation = { message: "the row is too large", code: "payload_too_large" };
 * const explain = (error: unknown) => (error instanceof RangeError ? tooLarge : undefined);
 * explain(new RangeError("16 MB"))?.code; // => "payload_too_large"
 * ```
 */
export interface Explanation {
  /** What happened, in one line and without stored values. */
  message: string;
  /** How to fix it, in one line. */
  hint?: string;
  /** `storage_unavailable` if omitted. */
  code?: ErrorCode;
}

/**
 * Explains a driver's error; undefined for an error that is not the driver's.
 * @example
 * ```ts
 * import type { ExplainError } from "graph-serve";
 *
 * const explain: ExplainError = (error) =>
 *   (error as { code?: unknown }).code === "ECONNREFUSED"
 *     ? { message: "the server refused the connection", hint: "start the server" }
 *     : undefined;
 * explain(new Error("unrelated")); // => undefined
 * ```
 */
export type ExplainError = (error: unknown) => Explanation | undefined;

export const AWAY: Explanation = {
  message: "cannot be reached",
  hint: "start the server, or correct checkpointer_uri",
};

/** Prefixes explanations with the server. Leaves out the driver's own message, which may contain stored values. */
export const explainServer =
  (server: string, meaningOf: ExplainError): ExplainError =>
  (error) => {
    const meaning = meaningOf(error);
    return meaning && { ...meaning, message: `${server} ${meaning.message}` };
  };

/** Converts a driver's error to a GraphServeError; returns any other error unchanged. */
export function storageError(error: unknown, explain: ExplainError): unknown {
  const explained = explain(error);
  if (!explained) return error;
  const { message, hint, code = "storage_unavailable" } = explained;
  if (code === "storage_unavailable") return new StorageUnavailableError(message, { hint, cause: error });
  return new GraphServeError(code, message, { hint, cause: error });
}

/** Run `work` and convert the driver's errors; see `storageError`. */
export async function guarded<T>(explain: ExplainError, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(error, explain);
  }
}

/** Wrap a table so that all its methods convert the driver's errors. The methods must return promises. */
export function explained<Table extends object>(table: Table, explain: ExplainError): Table {
  return wrapMethods(
    table,
    (method) =>
      (...args) =>
        guarded(explain, () => method(...args)),
  );
}
