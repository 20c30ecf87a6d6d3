/** Computes when a cron fires from its five-part schedule and time zone. */
import { Cron as CronExpression } from "croner";
import { InvalidRequestError } from "../support/errors.js";

const PARTS = ["minute", "hour", "day", "month", "weekday"];

export interface Schedule {
  /** `minute hour day month weekday`, or a name such as `@daily`. */
  schedule: string;
  /** IANA name; null for UTC. */
  timezone: string | null;
  /** ISO 8601; no slot is later. Null for no end. */
  end_time: string | null;
}

const expressionOf = (schedule: string, timezone: string | null): CronExpression =>
  new CronExpression(schedule, { mode: "5-part", timezone: timezone ?? "UTC", paused: true });

/**
 * The first slot after a time; null if the schedule ends before it.
 * @param after ISO 8601
 */
export function nextSlot({ schedule, timezone, end_time }: Schedule, after: string): string | null {
  const next = expressionOf(schedule, timezone).nextRun(new Date(after))?.toISOString() ?? null;
  return next === null || (end_time !== null && next > end_time) ? null : next;
}

/**
 * The latest slot from `first` up to `at`. If several slots were missed, only the latest one fires.
 * @param first a slot, ISO 8601
 * @param at ISO 8601
 */
export function latestSlot({ schedule, timezone, end_time }: Schedule, first: string, at: string): string {
  const end = end_time !== null && end_time < at ? end_time : at;
  // `previousRuns` excludes the reference time itself.
  const reference = new Date(Date.parse(end) + 1);
  const latest = expressionOf(schedule, timezone).previousRuns(1, reference)[0]?.toISOString();
  return latest !== undefined && latest > first ? latest : first;
}

/**
 * Checks a schedule.
 * @returns the first slot after `at`; null if it is later than the end
 * @throws InvalidRequestError that names the invalid part (`invalid_request`)
 */
export function checkedSlot(schedule: Schedule, at: string): string | null {
  const { timezone } = schedule;
  if (timezone !== null && !isTimezone(timezone)) {
    const what = `${shown(timezone)} is not a time zone: use an IANA name, such as "Europe/Berlin"`;
    throw InvalidRequestError.at(["body", "timezone"], what, "timezone");
  }
  const reason = parseError(schedule.schedule);
  if (reason !== undefined) throw refused(schedule.schedule, reason);
  if (nextSlot({ ...schedule, end_time: null }, at) === null)
    throw refused(schedule.schedule, "there is no such day");
  return nextSlot(schedule, at);
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 100));

const refused = (schedule: string, why: string): InvalidRequestError =>
  InvalidRequestError.at(
    ["body", "schedule"],
    `${shown(schedule)} is not a cron expression: ${why}; write minute, hour, day, month and weekday, such as "0 8 * * 1-5" for 8:00 on weekdays`,
    "cron_expression",
  );

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function parseError(schedule: string): string | undefined {
  const parts = schedule.trim().split(/\s+/);
  const isName = schedule.trim().startsWith("@");
  // The parser also accepts a date, whose cron could not be changed once it has fired.
  if (!isName && parts.length !== PARTS.length)
    return `it has ${schedule.trim() === "" ? 0 : parts.length} parts, not 5`;
  if (parses(schedule)) return undefined;
  if (isName) return "no such name; there are @yearly, @monthly, @weekly, @daily, @hourly";
  const wrong = parts.findIndex(
    (part, index) => !parses(PARTS.map((_, at) => (at === index ? part : "*")).join(" ")),
  );
  return wrong < 0
    ? "the combination of its parts is not valid"
    : `part ${wrong + 1}, the ${PARTS[wrong]}, is ${shown(parts[wrong] ?? "")}`;
}

function parses(schedule: string): boolean {
  try {
    expressionOf(schedule, null);
    return true;
  } catch {
    return false;
  }
}
