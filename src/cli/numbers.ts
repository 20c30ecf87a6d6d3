/** Numbers and times that flags spell. */
import { InvalidRequestError } from "../errors.js";

/** @throws InvalidRequestError when it is no whole number from `least` on (`invalid_request`) */
export function wholeNumber(flag: string, text: string, least = 0): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least) return value;
  throw new InvalidRequestError(`${flag} must be a whole number from ${least} on, it is ${text}`);
}

/** As `wholeNumber`, for a flag that may be left out. */
export function optionalNumber(flag: string, text: string | undefined, least?: number): number | undefined {
  return text === undefined ? undefined : wholeNumber(flag, text, least);
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/**
 * Milliseconds of a duration such as `90s`, `30m`, `12h`, `30d`, `2w`.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function duration(flag: string, text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text.trim()) ?? [];
  const seconds = UNITS[unit ?? ""];
  if (amount !== undefined && seconds !== undefined) return Number(amount) * seconds * 1000;
  throw new InvalidRequestError(`${flag} must be a duration, it is ${text}`, undefined, {
    hint: `such as ${flag} 12h, or ${flag} 30d`,
  });
}

/**
 * A point in time as ISO 8601: a date, a time, or a duration before now.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function timeOf(flag: string, text: string, now = Date.now()): string {
  if (/^\d{4}-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  return new Date(now - duration(flag, text)).toISOString();
}
