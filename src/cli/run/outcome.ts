import type { Client } from "../../client/client.js";
import type { RunSoFar } from "../../client/run-events.js";
import { isMessageLike, isRecord, type JsonObject } from "../../models/common.js";
import type { TokenUsage } from "../../models/run.js";
import type { Interrupt, ThreadState } from "../../models/state.js";
import { escapeControl } from "../../view/text.js";
import { faultOf } from "../history/faults.js";
import { type GlobalFlags, type PlaceFlags, placeWords, quoted } from "../session/options.js";
import { faultText } from "../session/report-error.js";
import type { Printer } from "../terminal/print.js";

/** The outcome of a run, as printed by `--json`. */
export interface RunReport {
  thread_id: string;
  run_id: string | null;
  status: string;
  /** The final state. */
  values: unknown;
  /** Open interrupts. */
  interrupts: Interrupt[];
  usage: TokenUsage | null;
  error: { code: string; message: string } | null;
}

export function runReport(threadId: string, run: RunSoFar): RunReport {
  const { runId, status, values, interrupts, usage, error } = run;
  return {
    thread_id: threadId,
    run_id: runId ?? null,
    status,
    values: values ?? null,
    interrupts,
    usage: usage ?? null,
    error: error === undefined ? null : { code: "run_failed", message: error },
  };
}

/** Prints the run's error and its location; false if the client does not report it. */
export async function attachFault(
  print: Printer,
  client: Pick<Client, "fault">,
  { thread_id, run_id, error }: RunReport,
): Promise<boolean> {
  if (error === null || run_id === null) return false;
  const fault = await faultOf(client, { thread_id, run_id });
  if (fault) print.note(faultText(fault, { colors: print.noteColors, cwd: print.cwd }));
  return fault !== undefined;
}

// State changes of a run, other than messages.

const isConversation = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isMessageLike);

interface Before {
  /** The state before the run, including its input. */
  before: JsonObject;
  /** Whether messages were already shown and are omitted. */
  spoken: boolean;
}

/** The new and changed keys; the whole state if it is not an object. Undefined if nothing changed. */
export function changedValues(after: unknown, { before, spoken }: Before): unknown {
  if (!isRecord(after)) return after ?? undefined;
  const changed = Object.entries(after).filter(
    ([key, value]) =>
      JSON.stringify(value) !== JSON.stringify(before[key]) && !(spoken && isConversation(value)),
  );
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

/** The command that continues the thread: with an answer to its interrupts, or with the next input. */
export function nextCommand(
  { thread_id, interrupts }: Pick<RunReport, "thread_id" | "interrupts">,
  graph: string | undefined,
  flags: GlobalFlags & PlaceFlags,
  input = '--message "..."',
): string {
  const words = [
    "graph-serve run",
    ...(graph === undefined ? [] : [quoted(graph)]),
    ...placeWords(flags),
    `--thread ${thread_id}`,
    ...(interrupts.length > 0 ? ["--resume", quoted(answerTemplate(interrupts))] : [input]),
  ];
  // Names of graphs, threads and interrupts come from a server and may contain control characters.
  return escapeControl(words.join(" "));
}

/**
 * The commands that find the cause of a failed run: its thread, and a new execution of the step that failed.
 * @param step the thread's latest step; undefined if it has no checkpoint
 */
export function failedCommands(
  threadId: string,
  step: number | undefined,
  flags: GlobalFlags & PlaceFlags,
): string[] {
  const places = placeWords(flags);
  const words = [
    ["graph-serve inspect thread", threadId, ...places],
    ...(step === undefined
      ? []
      : [["graph-serve replay", `${threadId}@${step}`, ...places, "--execute --compare"]]),
  ];
  return words.map((command) => escapeControl(command.join(" ")));
}

/** The step of a thread's latest checkpoint; undefined if it has none. */
export function stepOf({
  checkpoint,
  metadata,
}: Pick<ThreadState, "checkpoint" | "metadata">): number | undefined {
  return checkpoint?.checkpoint_id != null && typeof metadata.step === "number" ? metadata.step : undefined;
}

/** A single interrupt takes the answer itself, several take a map from id to answer. */
function answerTemplate(interrupts: RunReport["interrupts"]): string {
  const [first] = interrupts;
  return JSON.stringify(
    interrupts.length === 1 && first
      ? answerTo(first)
      : Object.fromEntries(interrupts.map((interrupt) => [interrupt.id, answerTo(interrupt)])),
  );
}

/** A question about a budget names its answer. */
const answerTo = ({ value }: Interrupt): unknown =>
  isRecord(value) && value.type === "budget_exceeded" ? value.answer : true;
