/** Two runs of the same stretch of a thread, step beside step. */
import { isRecord } from "../../models/common.js";
import { changeLines } from "../../view/change-lines.js";
import { type Change, changesBetween } from "../../view/changes.js";
import { errorLine, isMessageLike } from "../../view/text.js";
import type { Printer } from "../terminal/print.js";
import { clipped } from "../terminal/text.js";
import type { HistoryStep } from "./steps.js";

export interface ComparedStep {
  /** What ran: nodes, or what else made the checkpoint; null where one side has ended. */
  old: string | null;
  new: string | null;
  equal: boolean;
  /** From the old values to the new ones. */
  changes: Change[];
}

/** Step by step; no more than one step of each side is held. */
export async function* compareSteps(
  oldSteps: AsyncIterable<HistoryStep>,
  newSteps: AsyncIterable<HistoryStep>,
): AsyncGenerator<ComparedStep> {
  const [old, now] = [withoutForks(oldSteps), withoutForks(newSteps)];
  for (;;) {
    const [{ value: before }, { value: after }] = [await old.next(), await now.next()];
    if (!before && !after) return;
    const changes = before && after ? changesBetween(comparable(before), comparable(after)) : [];
    yield {
      old: before ? stepName(before) : null,
      new: after ? stepName(after) : null,
      equal: before && after ? ran(before) === ran(after) && changes.length === 0 : false,
      changes,
    };
  }
}

/** Where a branch begins LangGraph writes the checkpoint again: nothing has run there. */
async function* withoutForks(steps: AsyncIterable<HistoryStep>): AsyncGenerator<HistoryStep, undefined> {
  let hasBegun = false;
  for await (const step of steps) {
    hasBegun ||= step.entry.source !== "fork";
    if (hasBegun) yield step;
  }
}

const ran = ({ entry }: HistoryStep): string => entry.nodes.join(", ") || entry.source;
const stepName = (step: HistoryStep): string => `step ${step.entry.step ?? "?"}  ${ran(step)}`;

/** What a replay must reproduce: values, interrupts and errors, without what differs in every run. */
function comparable({ state, entry }: HistoryStep): unknown {
  const questions = state.interrupts.map(({ value }) => value);
  const values = stable(state.values);
  return {
    ...(isRecord(values) ? values : { "(all)": values }),
    ...(questions.length > 0 && { "(waits for)": questions }),
    ...(entry.errors.length > 0 && { "(failed)": entry.errors.map(errorLine) }),
  };
}

/** Ids of messages and of tool calls are made by chance. */
function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, stable(inner)] as const);
  if (!isMessageLike(value)) return Object.fromEntries(entries);
  const {
    id: _id,
    tool_call_id: _callId,
    ...message
  } = Object.fromEntries(entries) as Record<string, unknown>;
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as unknown[]) : undefined;
  return { ...message, ...(calls && { tool_calls: calls.map(withoutId) }) };
}

function withoutId(call: unknown): unknown {
  if (!isRecord(call)) return call;
  const { id: _, ...rest } = call;
  return rest;
}

// Two runs side by side, as lines for a terminal.

export function comparedHeading(print: Printer): string {
  return print.colors.dim(`  ${"OLD".padEnd(halfOf(print))}  NEW`);
}

/**
 * What ran on either side, marked when it differs, and what differs. What `before`, the step before, has shown already
 * is not said again.
 */
export function comparedLines(
  print: Printer,
  { old, new: now, equal, changes }: ComparedStep,
  before: ComparedStep | undefined,
): string[] {
  const told = new Set(before?.changes.map((change) => JSON.stringify(change)));
  const { green, red, yellow, dim } = print.colors;
  const paint = { "+": green, "-": red, "~": yellow };
  const half = halfOf(print);
  const [left = "", right = ""] = [old, now].map((name) => clipped(name ?? "(ended)", half));
  return [
    `${equal ? dim("=") : red("≠")} ${left.padEnd(half)}  ${right}`,
    ...changeLines(changes.filter((change) => !told.has(JSON.stringify(change)))).map(
      ({ mark, place, text }) => `    ${paint[mark](mark)} ${clipped(`${place}: ${text}`, print.width - 6)}`,
    ),
  ];
}

const halfOf = ({ width }: Printer): number => Math.max(8, Math.min(40, Math.floor((width - 4) / 2)));
