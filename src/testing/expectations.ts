/** Compares an observed run with its expectations. */
import type { SettingPath } from "../config/document.js";
import { isRecord } from "../models/common.js";
import { reportedTokens } from "../models/token-counts.js";
import { parsePath, valueAt } from "../models/value-path.js";
import type { Bounds, Expectation } from "./cases/case-model.js";
import { boundsText, isVerbs, mismatches, within } from "./cases/matcher.js";
import { baseName, type Observation } from "./observation.js";
import { bounded, pathText, mismatch, type Mismatch } from "./cases/result.js";

/** Everything that the expectations of a step are checked against. */
export interface Seen {
  run: Observation;
  /** Final values as clients see them. */
  values: unknown;
  /** Edges taken, as strings such as `plan -> act`. */
  edges: string[];
}

type Check = (expected: never, seen: Seen) => Mismatch[] | Promise<Mismatch[]>;

const CHECKS: Partial<Record<keyof Expectation, Check>> = {
  status: (expected: string, { run }) =>
    run.status === expected
      ? []
      : [mismatch(["status"], statusMessage(expected, run), { expected, actual: run.status })],
  values: async (expected: Record<string, unknown>, { values }) => {
    const found = Object.entries(expected).map(([path, matcher]) =>
      matched(["values", path], matcher, valueAt(values, parsePath(path) ?? [])),
    );
    return (await Promise.all(found)).flat();
  },
  nodes: (expected: unknown, { run }) =>
    run.reportsNodes ? matched(["nodes"], expected, run.nodes) : [notReported("nodes", expected)],
  edges: (expected: unknown, { run, edges }) =>
    run.reportsNodes ? matched(["edges"], expected, edges) : [notReported("edges", expected)],
  stream: (expected: NonNullable<Expectation["stream"]>, { run }) => streamFailures(expected, run),
  interrupt: (expected: unknown, { run }) => interruptFailures(expected, run),
  tokens: (expected: NonNullable<Expectation["tokens"]>, { run }) => {
    const { input, output, ...total } = expected;
    if (!run.usage) return [mismatch(["tokens"], "the server does not report token usage", { expected })];
    const { input_tokens, output_tokens, total_tokens } = reportedTokens(run.usage);
    return [
      ...bounded(["tokens"], total, total_tokens, "tokens"),
      ...(input ? bounded(["tokens", "input"], input, input_tokens, "input tokens") : []),
      ...(output ? bounded(["tokens", "output"], output, output_tokens, "output tokens") : []),
    ];
  },
  duration: (expected: Bounds, { run }) =>
    bounded(["duration"], expected, Math.round(run.durationMs), "milliseconds"),
  error: (expected: unknown, { run }) => matched(["error"], expected, run.error),
};

const notReported = (key: "nodes" | "edges", expected: unknown): Mismatch =>
  mismatch([key], "the server does not report executed nodes", { expected });

/** Failed expectations, except those about snapshots and private keys. */
export async function expectationMismatches(expect: Expectation, seen: Seen): Promise<Mismatch[]> {
  const all: Mismatch[] = [];
  for (const [key, expected] of Object.entries(expect)) {
    all.push(...((await CHECKS[key as keyof Expectation]?.(expected as never, seen)) ?? []));
  }
  // Report an unexpected error first, because it explains the other failures.
  return expect.status === undefined && expect.error === undefined ? [...unexpectedError(seen), ...all] : all;
}

/** A failure for an error that no expectation covers. */
export function unexpectedError({ run }: Pick<Seen, "run">): Mismatch[] {
  if (run.status !== "error" && run.status !== "timeout") return [];
  const message = statusMessage("success or interrupted", run);
  return [mismatch(["status"], message, { expected: "success", actual: run.status })];
}

function statusMessage(expected: string, { status, error, interrupts }: Observation): string {
  if (error !== undefined) return `the run ended with status ${status} instead of ${expected}: ${error}`;
  if (status === "interrupted" && interrupts.length > 0)
    return `the run was interrupted by ${JSON.stringify(interrupts[0]?.value)}, expected status ${expected}`;
  if (expected === "interrupted") return `the run was not interrupted, it ended with status ${status}`;
  return `the run ended with status ${status} instead of ${expected}`;
}

async function interruptFailures(
  expected: unknown,
  { interrupts, status }: Observation,
): Promise<Mismatch[]> {
  const [first] = interrupts;
  if (typeof expected === "boolean") {
    if (expected === (first !== undefined)) return [];
    const message = expected
      ? `the run was not interrupted, it ended with status ${status}`
      : "the run was interrupted";
    return [mismatch(["interrupt"], message, { expected, actual: first?.value })];
  }
  if (!first)
    return [
      mismatch(["interrupt"], `the run was not interrupted, it ended with status ${status}`, { expected }),
    ];
  if (!isRecord(expected) || isVerbs(expected)) return matched(["interrupt"], expected, first.value);
  const found = Object.entries(expected).map(([path, matcher]) =>
    matched(["interrupt", path], matcher, valueAt(first.value, parsePath(path) ?? [path])),
  );
  return (await Promise.all(found)).flat();
}

async function matched(path: SettingPath, matcher: unknown, actual: unknown): Promise<Mismatch[]> {
  const explicit = isVerbs(matcher);
  return (await mismatches(matcher, actual)).map(({ verb, message, ...values }) => ({
    path: explicit ? [...path, verb] : path,
    expectation: `${pathText(path)} ${verb}`,
    message: `${pathText(path)} ${message}`,
    ...values,
  }));
}

// Searches everything that clients receive for private keys.

/** A value that clients receive, and its description. */
export interface ObservedOutput {
  name: string;
  value: unknown;
}

/** One failure per leaked key, with its first location and the number of others. */
export function leaks(keys: readonly string[], outputs: Iterable<ObservedOutput>): Mismatch[] {
  const places = new Map<string, { place: string; value: unknown }[]>();
  for (const { name, value } of outputs) {
    walk(value, [], (key, path, found) => {
      if (!keys.includes(key)) return;
      const list = places.get(key) ?? [];
      list.push({ place: `${name} at ${path.join(".")}`, value: found });
      places.set(key, list);
    });
  }
  return [...places].map(([key, found]) => {
    const [first] = found;
    const more = found.length > 1 ? `, and in ${found.length - 1} more places` : "";
    const message = `private key "${key}" reached the client: ${first?.place}${more}`;
    return {
      ...mismatch(["private", keys.indexOf(key)], message, { expected: `no "${key}"`, actual: first?.value }),
      expectation: `private ${key}`,
    };
  });
}

function walk(
  value: unknown,
  path: SettingPath,
  visit: (key: string, path: SettingPath, value: unknown) => void,
): void {
  if (Array.isArray(value)) value.forEach((item, index) => walk(item, [...path, index], visit));
  else if (isRecord(value)) {
    for (const [key, inner] of Object.entries(value)) {
      visit(key, [...path, key], inner);
      walk(inner, [...path, key], visit);
    }
  }
}

// Expectations about stream events.

type StreamExpectation = NonNullable<Expectation["stream"]>;

function streamFailures({ modes, order, count }: StreamExpectation, run: Observation): Mismatch[] {
  const { counts } = run;
  const seen = Object.keys(counts);
  const missing = (modes ?? []).filter((mode) => !seen.includes(mode));
  return [
    ...(missing.length > 0
      ? [
          mismatch(["stream", "modes"], `missing stream events: ${missing.join(", ")}`, {
            expected: modes,
            actual: seen,
          }),
        ]
      : []),
    ...(order ? orderFailures(order, run) : []),
    ...Object.entries(count ?? {}).flatMap(([name, wanted]) =>
      countFailures(name, wanted, counts[name] ?? 0),
    ),
  ];
}

/** Checks the order of events; other events may occur between them. */
function orderFailures(order: readonly string[], { events }: Observation): Mismatch[] {
  const names = events.map(({ event }) => baseName(event));
  let from = 0;
  for (const [index, wanted] of order.entries()) {
    const found = names.indexOf(wanted, from);
    if (found < 0) {
      const after = index === 0 ? "" : ` after ${order[index - 1]}`;
      return [
        mismatch(["stream", "order"], `missing stream event ${wanted}${after}`, {
          expected: order,
          actual: squeezed(names),
        }),
      ];
    }
    from = found + 1;
  }
  return [];
}

/** Collapses consecutive events of the same name. */
const squeezed = (names: readonly string[]): string[] =>
  names.filter((name, index) => name !== names[index - 1]);

function countFailures(name: string, wanted: number | Bounds, actual: number): Mismatch[] {
  const bounds = typeof wanted === "number" ? { min: wanted, max: wanted } : wanted;
  if (within(actual, bounds)) return [];
  const text = typeof wanted === "number" ? String(wanted) : boundsText(wanted);
  return [
    mismatch(["stream", "count", name], `${actual} ${name} events, expected ${text}`, {
      expected: wanted,
      actual,
    }),
  ];
}
