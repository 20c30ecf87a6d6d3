/** The body that answers a caller who waits for a run, or joins it. */
import { errorMessage, errorName } from "../errors.js";
import { INTERRUPT_KEY, UNKEYED } from "../graphs/output-filter.js";
import { toWire } from "../graphs/serialize.js";
import { isRecord, type JsonObject } from "../models/common.js";

/** Under this key SDK clients look for the error of a run that failed, and throw it. */
const ERROR_KEY = "__error__";

/**
 * The run's final visible values, with its open interrupts beside them; or its error. Always an object: SDK clients
 * search it for the error's key.
 */
export function runAnswer(visible: unknown, interrupts: unknown[] | undefined, thrown?: unknown): JsonObject {
  if (thrown !== undefined) return failedAnswer(thrown);
  const values = toWire(visible);
  const shown = isRecord(values) ? values : values == null ? {} : { [UNKEYED]: values };
  return interrupts ? { ...shown, [INTERRUPT_KEY]: toWire(interrupts) } : shown;
}

export function failedAnswer(thrown: unknown): JsonObject {
  return { [ERROR_KEY]: { error: errorName(thrown), message: errorMessage(thrown) } };
}
