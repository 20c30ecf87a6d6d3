/** Compares what a unit did with what its repetition did. */
import { isDeepStrictEqual } from "node:util";
import { firstDifference } from "../cases/normalized.js";
import type { Observed } from "./observed.js";

/** The largest difference: another end, another path through the graph, only other values, or only other numbers of tokens. */
export interface Difference {
  kind: "status" | "path" | "words" | "cost";
  /** Where, without ids and positions in lists: equal for differences of the same kind in other runs. */
  place: string;
  before: string;
  now: string;
}

/** The most important difference; undefined if both are the same. A run that fails is worse than one that ends elsewhere. */
export function differenceOf(before: Observed, now: Observed): Difference | undefined {
  const end = statusDifference(before, now);
  if (end && hasFailed(before) !== hasFailed(now)) return end;
  return pathDifference(before, now) ?? end ?? wordsDifference(before, now) ?? costDifference(before, now);
}

/** Whether a run with this status failed. */
export const isFailure = (status: string | null): boolean => status === "error" || status === "timeout";
const hasFailed = ({ status }: Observed): boolean => isFailure(status);

function statusDifference(before: Observed, now: Observed): Difference | undefined {
  if (before.status === now.status) return undefined;
  const place = `${before.status} -> ${now.status}`;
  return { kind: "status", place, before: endOf(before), now: endOf(now) };
}

const endOf = ({ status, error }: Observed): string => (error === null ? status : `${status}: ${error}`);

function pathDifference(before: Observed, now: Observed): Difference | undefined {
  const index = firstUnequal(before.steps, now.steps);
  if (index >= 0) {
    const [old, next] = [before.steps[index], now.steps[index]].map(stepText) as [string, string];
    const after = index === 0 ? "start" : stepText(before.steps[index - 1]);
    return { kind: "path", place: `after ${after}`, before: old, now: next };
  }
  const call = firstUnequal(before.calls, now.calls);
  if (call < 0) return undefined;
  const [old, next] = [before.calls[call], now.calls[call]];
  const place = `calls ${nameOf(old)}`;
  return { kind: "path", place, before: callText(old), now: callText(next) };
}

function firstUnequal(before: readonly unknown[], now: readonly unknown[]): number {
  const length = Math.max(before.length, now.length);
  for (let index = 0; index < length; index += 1)
    if (!isDeepStrictEqual(before[index], now[index])) return index;
  return -1;
}

const stepText = (nodes: string[] | undefined): string => nodes?.join(", ") ?? "end";
const nameOf = (call: Observed["calls"][number] | undefined): string =>
  typeof call?.name === "string" ? call.name : "no tool";
const callText = (call: Observed["calls"][number] | undefined): string =>
  call ? `${nameOf(call)} ${JSON.stringify(call.args)}` : "no call";

function wordsDifference(before: Observed, now: Observed): Difference | undefined {
  const found =
    firstDifference(before.values, now.values, []) ?? firstDifference(before.error, now.error, ["error"]);
  if (!found) return undefined;
  const { path, expected, actual } = found;
  return {
    kind: "words",
    place: path.filter((key) => typeof key === "string").join("."),
    before: valueText(expected),
    now: valueText(actual),
  };
}

/** Runs of which the tokens are not known cost the same. */
function costDifference({ tokens: before }: Observed, { tokens: now }: Observed): Difference | undefined {
  if (!before || !now || isDeepStrictEqual(before, now)) return undefined;
  return { kind: "cost", place: "tokens", before: tokensText(before), now: tokensText(now) };
}

const tokensText = ({ input_tokens, output_tokens }: NonNullable<Observed["tokens"]>): string =>
  `${input_tokens} in, ${output_tokens} out`;

const valueText = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));
