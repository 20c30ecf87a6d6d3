import type { JsonObject } from "../../models/common.js";
import type { TokenUsage } from "../../models/run.js";
import type { Interrupt } from "../../models/state.js";
import type { GlobalFlags, StorageFlags } from "../options.js";
import type { RunEvent } from "./target.js";

/** What is known of a run from its events. */
export interface RunOutcome {
  thread_id: string;
  run_id: string | null;
  status: string;
  /** The last full state. */
  values: unknown;
  /** Questions that the graph waits on. */
  interrupts: Interrupt[];
  usage: TokenUsage | null;
  error: { code: string; message: string } | null;
}

export function newOutcome(threadId: string): RunOutcome {
  return {
    thread_id: threadId,
    run_id: null,
    status: "running",
    values: null,
    interrupts: [],
    usage: null,
    error: null,
  };
}

/** Take one event into the outcome. */
export function applyEvent(outcome: RunOutcome, { event, data }: RunEvent): void {
  if (event === "metadata") Object.assign(outcome, pick(data, ["run_id"]));
  else if (event === "values") applyValues(outcome, JSON.parse(data) as unknown);
  else if (event === "end") Object.assign(outcome, pick(data, ["run_id", "status", "usage"]));
  else if (event === "error") applyError(outcome, data);
}

function applyValues(outcome: RunOutcome, values: unknown): void {
  const { __interrupt__: interrupts, ...rest } = (values ?? {}) as { __interrupt__?: Interrupt[] };
  if (interrupts === undefined) {
    outcome.values = values;
    return;
  }
  outcome.interrupts = interrupts;
  // A server may send the state with the interrupt, or the interrupt alone.
  if (Object.keys(rest).length > 0) outcome.values = rest;
}

function applyError(outcome: RunOutcome, data: string): void {
  const { error, message } = JSON.parse(data) as { error?: string; message?: string };
  Object.assign(outcome, { status: "error" }, pick(data, ["run_id", "status", "usage"]));
  outcome.error = { code: "run_failed", message: [error, message].filter(Boolean).join(": ") };
}

function pick(data: string, names: readonly string[]): JsonObject {
  const fields = (JSON.parse(data) ?? {}) as JsonObject;
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}

/** The flags that say where a thread lives. */
export interface PlaceFlags extends StorageFlags {
  url?: string;
  /** Key of that server; it is never part of a command that is shown. */
  apiKey?: string;
}

/** The command that goes on with the thread: an answer to its question, or the next message. */
export function nextCommand(
  { thread_id, interrupts }: Pick<RunOutcome, "thread_id" | "interrupts">,
  graph: string | undefined,
  flags: GlobalFlags & PlaceFlags,
): string {
  const { config, cwd, envFile, url, db, checkpointerScheme, checkpointerUri } = flags;
  const places = Object.entries({
    "--config": config,
    "--cwd": cwd,
    "--env-file": envFile,
    "--url": url,
    "--db": db,
    "--checkpointer-scheme": checkpointerScheme,
    "--checkpointer-uri": checkpointerUri,
  }).flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoted(value)]));
  return [
    "graph-serve run",
    ...(graph === undefined ? [] : [quoted(graph)]),
    ...places,
    `--thread ${thread_id}`,
    ...(interrupts.length > 0 ? ["--resume", quoted(answerTemplate(interrupts))] : ['--message "..."']),
  ].join(" ");
}

/** One question takes the answer itself, several take a map from question to answer. */
function answerTemplate(interrupts: RunOutcome["interrupts"]): string {
  return interrupts.length === 1
    ? "true"
    : JSON.stringify(Object.fromEntries(interrupts.map(({ id }) => [id, true])));
}

function quoted(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
