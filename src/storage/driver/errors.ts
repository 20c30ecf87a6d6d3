import { GraphServeError, StorageUnavailableError, type ErrorCode } from "../../support/errors.js";
import { wrapMethods } from "./methods.js";

export interface Explanation {
  message: string;
  hint?: string;
  /** `storage_unavailable` when left out. */
  code?: ErrorCode;
}

/** Says in plain words what a driver's error means; undefined for an error that is not the driver's. */
export type ExplainError = (error: unknown) => Explanation | undefined;

export const AWAY: Explanation = {
  message: "cannot be reached",
  hint: "start the server, or correct checkpointer_uri",
};

/** Explains what `meaningOf` knows, in sentences about the server, and without the driver's text: that may hold values. */
export const explainServer =
  (server: string, meaningOf: ExplainError): ExplainError =>
  (error) => {
    const meaning = meaningOf(error);
    return meaning && { ...meaning, message: `${server} ${meaning.message}` };
  };

/** The error to throw in place of `error`: the driver's become errors of ours, others stay as they are. */
export function storageError(error: unknown, explain: ExplainError): unknown {
  const explained = explain(error);
  if (!explained) return error;
  const { message, hint, code = "storage_unavailable" } = explained;
  if (code === "storage_unavailable") return new StorageUnavailableError(message, { hint, cause: error });
  return new GraphServeError(code, message, { hint, cause: error });
}

/** The result of `work`, with the driver's errors explained. */
export async function guarded<T>(explain: ExplainError, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(error, explain);
  }
}

/** The same table, the driver's errors explained in all its methods, which give promises. */
export function explained<Table extends object>(table: Table, explain: ExplainError): Table {
  return wrapMethods(
    table,
    (method) =>
      (...args) =>
        guarded(explain, () => method(...args)),
  );
}
