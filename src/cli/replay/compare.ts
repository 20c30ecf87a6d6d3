/** Compares two runs of the same part of a thread, step by step. */
import { isRecord } from "../../models/common.js";
import { changeLines } from "../../view/change-lines.js";
import { type Change, changesBetween } from "../../view/changes.js";
import { comparable } from "../../testing/shadow/comparable.js";
import { errorLine } from "../../view/text.js";
import type { Printer } from "../terminal/print.js";
import { clipped } from "../terminal/text.js";
import type { HistoryStep } from "./steps.js";

export interface ComparedStep {
  /** The executed nodes, or the source of the checkpoint; null after the end of one side. */
  old: string | null;
  new: string | null;
  equal: boolean;
  /** Changes from the old values to the new ones. */
  changes: Change[];
}

/** Compares step by step, with one step of each side in memory. */
export async function* compareSteps(
  oldSteps: AsyncIterable<HistoryStep>,
  newSteps: AsyncIterable<HistoryStep>,
): AsyncGenerator<ComparedStep> {
  const [old, now] = [withoutForks(oldSteps), withoutForks(newSteps)];
  for (;;) {
    const [{ value: before }, { value: after }] = [await old.next(), await now.next()];
    if (!before && !after) return;
    const changes = before && after ? changesBetween(outcomeOf(before), outcomeOf(after)) : [];
    yield {
      old: before ? stepName(before) : null,
      new: after ? stepName(after) : null,
      equal: before && after ? ran(before) === ran(after) && changes.length === 0 : false,
      changes,
    };
  }
}

/** Skips the checkpoint that LangGraph writes again at the start of a branch, where no node was executed. */
async function* withoutForks(steps: AsyncIterable<HistoryStep>): AsyncGenerator<HistoryStep, undefined> {
  let hasBegun = false;
  for await (const step of steps) {
    hasBegun ||= step.entry.source !== "fork";
    if (hasBegun) yield step;
  }
}

const ran = ({ entry }: HistoryStep): string => entry.nodes.join(", ") || entry.source;
const stepName = (step: HistoryStep): string => `step ${step.entry.step ?? "?"}  ${ran(step)}`;

/** The values, interrupts and errors that a replay must reproduce, without parts that differ in every run. */
function outcomeOf({ state, entry }: HistoryStep): unknown {
  const questions = state.interrupts.map(({ value }) => value);
  const values = comparable(state.values);
  return {
    ...(isRecord(values) ? values : { "(all)": values }),
    ...(questions.length > 0 && { "(interrupts)": questions }),
    ...(entry.errors.length > 0 && { "(failed)": entry.errors.map(errorLine) }),
  };
}

// Formats two runs side by side for a terminal.

export function comparedHeading(print: Printer): string {
  return print.colors.dim(`  ${"OLD".padEnd(halfOf(print))}  NEW`);
}

/**
 * The executed nodes of both sides with a mark if they differ, and the changes. Changes that the previous step (`before`)
 * already showed are omitted.
 */
export function comparedLines(
  print: Printer,
  { old, new: now, equal, changes }: ComparedStep,
  before: ComparedStep | undefined,
): string[] {
  const shown = new Set(before?.changes.map((change) => JSON.stringify(change)));
  const { green, red, yellow, dim } = print.colors;
  const paint = { "+": green, "-": red, "~": yellow };
  const half = halfOf(print);
  const [left = "", right = ""] = [old, now].map((name) => clipped(name ?? "(ended)", half));
  return [
    `${equal ? dim("=") : red("≠")} ${left.padEnd(half)}  ${right}`,
    ...changeLines(changes.filter((change) => !shown.has(JSON.stringify(change)))).map(
      ({ mark, place, text }) => `    ${paint[mark](mark)} ${clipped(`${place}: ${text}`, print.width - 6)}`,
    ),
  ];
}

const halfOf = ({ width }: Printer): number => Math.max(8, Math.min(40, Math.floor((width - 4) / 2)));
