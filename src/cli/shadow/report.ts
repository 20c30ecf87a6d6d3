/** Texts of the results of repeated runs. */
import { isFailure } from "../../testing/shadow/differences.js";
import type { Outcome, ShadowResult } from "../../testing/shadow/shadow.js";
import { escapeControl } from "../../view/text.js";
import type { Printer } from "../terminal/print.js";
import { clipped } from "../terminal/text.js";
import type { GraphCase } from "../versions/junit.js";

const DIFFERENT: readonly Outcome[] = ["words", "path", "status", "cost", "unrecorded", "over_budget"];

/** A result, and whether a baseline lists its difference. */
export type JudgedResult = ShadowResult & { accepted: boolean };

/** Whether the changed graph behaves differently, or this is unknown because a call was refused or not paid. */
export const isDifferent = ({ outcome, accepted }: JudgedResult): boolean =>
  !accepted && DIFFERENT.includes(outcome);

/** Counts results. */
export class Tally {
  readonly #outcomes = new Map<Outcome, number>();
  total = 0;
  /** Results whose differences a baseline lists; not counted otherwise. */
  accepted = 0;
  /** Results that differ from the stored runs. */
  differing = 0;
  /** Repeated runs that failed. */
  failing = 0;
  /** Repeated runs that failed although the stored ones did not. */
  newlyFailing = 0;
  /** Repeated runs that did not fail although the stored ones did. */
  repaired = 0;

  of(outcome: Outcome): number {
    return this.#outcomes.get(outcome) ?? 0;
  }

  async *counted(
    results: AsyncIterable<JudgedResult>,
    keep: (result: JudgedResult) => void,
  ): AsyncGenerator<JudgedResult> {
    for await (const result of results) {
      this.#add(result);
      keep(result);
      yield result;
    }
  }

  #add(result: JudgedResult): void {
    const { outcome, stored_status, status, accepted } = result;
    this.total += 1;
    if (accepted) {
      this.accepted += 1;
      return;
    }
    this.#outcomes.set(outcome, this.of(outcome) + 1);
    const repaired = outcome === "status" && isFailure(stored_status) && !isFailure(status);
    if (repaired) this.repaired += 1;
    else if (isDifferent(result)) this.differing += 1;
    if (status === null || outcome === "unrecorded") return;
    if (isFailure(status)) this.failing += 1;
    if (isFailure(status) && outcome === "status") this.newlyFailing += 1;
  }
}

/** `187 same, 9 differ in words, 3 take another path, 1 fails`. */
export function shadowSummary(tally: Tally): string {
  const { total, newlyFailing, repaired } = tally;
  const ends = tally.of("status") - newlyFailing - repaired;
  return listed(total, [
    [tally.of("same"), "same", "same"],
    [tally.of("words"), "differs in words", "differ in words"],
    [tally.of("cost"), "uses other numbers of tokens", "use other numbers of tokens"],
    [tally.of("path"), "takes another path", "take another path"],
    [newlyFailing, "fails", "fail"],
    [repaired, "now succeeds", "now succeed"],
    [ends, "ends differently", "end differently"],
    ...others(tally),
  ]);
}

/** `3 now succeed, 1 still fails`. */
export function rerunSummary(tally: Tally): string {
  const { total, failing, newlyFailing, repaired } = tally;
  const stillFailing = failing - newlyFailing;
  const differ = tally.of("words") + tally.of("path") + tally.of("status") + tally.of("cost") - repaired;
  return listed(total, [
    [repaired, "now succeeds", "now succeed"],
    [stillFailing, "still fails", "still fail"],
    [Math.max(0, tally.of("same") - stillFailing), "same", "same"],
    [differ, "differs", "differ"],
    ...others(tally),
  ]);
}

type Part = [count: number, one: string, several: string];

const others = (tally: Tally): Part[] => [
  [tally.accepted, "accepted", "accepted"],
  [tally.of("unrecorded"), "makes a call that is not recorded", "make calls that are not recorded"],
  [tally.of("over_budget"), "is over the budget", "are over the budget"],
  [tally.of("unstable"), "is different in each execution", "are different in each execution"],
  [tally.of("skipped"), "skipped", "skipped"],
];

function listed(total: number, parts: readonly Part[]): string {
  if (total === 0) return "no runs found";
  const shown = parts.filter(([count]) => count > 0);
  return shown.map(([count, one, several]) => `${count} ${count === 1 ? one : several}`).join(", ");
}

/** The run and what is different about it. */
export function resultLines(print: Printer, result: ShadowResult): string[] {
  const { thread_id, run_ids, graph_id, outcome } = result;
  const { bold, dim, yellow } = print.colors;
  return [
    `${bold(thread_id)}  ${dim([graph_id, `run ${run_ids[0] ?? ""}`].filter(Boolean).join("  "))}`,
    `  ${yellow(outcome)}  ${clipped(escapeControl(differenceText(result)), print.width - outcome.length - 4)}`,
  ];
}

export function differenceText({ difference, reason }: ShadowResult): string {
  if (!difference) return reason ?? "";
  const { kind, place, before, now } = difference;
  return `${kind === "status" ? "" : `${place}: `}${before} -> ${now}`;
}

/** The case of a JUnit report. */
export function junitCase(result: JudgedResult): GraphCase {
  const { thread_id, run_ids, graph_id, outcome } = result;
  const message = differenceText(result);
  const head = { graph_id, name: `${thread_id} ${run_ids[0] ?? ""}` };
  if (isDifferent(result)) return { ...head, failure: { type: outcome, message, text: message } };
  const isSkipped = outcome === "skipped" || outcome === "unstable";
  return isSkipped ? { ...head, skipped: message === "" ? outcome : message } : head;
}
