/** The body that answers a caller who waits for a run, or joins it. */
import { INTERRUPT_KEY, type OutputFilter, UNKEYED } from "../graphs/output-filter.js";
import { toWire, yieldedToWire } from "../graphs/serialize.js";
import { thrownMessage } from "../graphs/thrown.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { attempt, errorName } from "../support/errors.js";

/** Under this key SDK clients look for the error of a run that failed, and throw it. */
const ERROR_KEY = "__error__";

/** Turns a value into what clients see of it. */
type Convert = (value: unknown) => unknown;

/**
 * The run's final visible values, with its open interrupts beside them. Always an object: SDK clients search it for the
 * key of an error. Throws what `convert` does.
 */
export function runAnswer(
  visible: unknown,
  interrupts: unknown[] | undefined,
  convert: Convert = toWire,
): JsonObject {
  const values = convert(visible);
  const shown = isRecord(values) ? values : values == null ? {} : { [UNKEYED]: values };
  return interrupts ? { ...shown, [INTERRUPT_KEY]: convert(interrupts) } : shown;
}

/** What a run yielded that its answer is made of. */
interface Yielded {
  lastValues: unknown;
  interrupts: unknown[] | undefined;
}

/** @throws UnserializableError when the run's values cannot be sent (`invalid_request`) */
export function finalAnswer({ lastValues, interrupts }: Yielded, filter: OutputFilter): JsonObject {
  return runAnswer(filter.values(lastValues), interrupts, (value) => yieldedToWire(value, "values"));
}

/** The answer of a run that was stopped: its values as far as they can be read. Never throws. */
export function answerSoFar({ lastValues, interrupts }: Yielded, filter: OutputFilter): JsonObject {
  return attempt(() => runAnswer(filter.values(lastValues), interrupts)) ?? {};
}

/** The answer of a run that failed. */
export function failedAnswer(thrown: unknown): JsonObject {
  return { [ERROR_KEY]: { error: errorName(thrown), message: thrownMessage(thrown) } };
}
