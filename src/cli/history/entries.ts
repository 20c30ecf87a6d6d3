/** History entries from checkpoints: executed nodes, changes and durations. */
import { isRecord, type JsonObject } from "../../models/common.js";
import type { ThreadState } from "../../models/state.js";
import type { Client } from "../../client/client.js";
import type { RunFault } from "../../support/run-fault.js";
import { faultLocation } from "../session/report-error.js";
import type { Printer } from "../terminal/print.js";
import { clipped, msBetween, shownId, shownMs, shownTime } from "../terminal/text.js";
import { userNodes } from "../../view/diagram.js";
import { errorLine } from "../../view/text.js";
import { RunFaults } from "./faults.js";
import { type SubgraphRef, subgraphsOf } from "../session/namespace.js";

export interface HistoryEntry {
  id: string;
  parent: string | undefined;
  /** -1 for the input of the first run. */
  step: number | undefined;
  /** input, loop, update, fork or migrate. */
  source: string;
  /** Version of the graph that a migration converted the thread from. */
  migrated_from?: string;
  runId: string | undefined;
  /** Set if it is not the first attempt of the run. */
  attempt?: number;
  created_at: string | null;
  /** Nodes of the superstep that ended with this checkpoint. */
  nodes: string[];
  next: string[];
  /** Subgraphs that the nodes ran, and those that the next nodes have started. */
  ran: SubgraphRef[];
  pending: SubgraphRef[];
  /** State keys that differ from the previous checkpoint. */
  changed: string[];
  /** Duration of the superstep in milliseconds, without the time between runs. */
  ms: number | undefined;
  interrupts: number;
  /** Errors that stopped the superstep after this checkpoint, as JSON text. */
  errors: string[];
  /** The node of each error. */
  failed: string[];
  /** Stored details of each error, with its location; undefined if nothing is stored. */
  faults: (RunFault | undefined)[];
}

/** A checkpoint's state and its history entry. */
export interface HistoryLine {
  state: ThreadState;
  entry: HistoryEntry;
}

/**
 * Entries in the order of the states, which must be newest first. The parent of a state is usually the next one; if not,
 * on a branch or at the end, it is requested. Holds two states in memory.
 */
export async function* historySteps(
  client: Client,
  threadId: string,
  states: AsyncIterable<ThreadState>,
): AsyncGenerator<HistoryLine> {
  const runs = new RunLabels(client, threadId);
  let current: ThreadState | undefined;
  for await (const state of states) {
    if (current) yield { state: current, entry: await entryOf(client, threadId, current, state, runs) };
    current = state;
  }
  if (current) yield { state: current, entry: await entryOf(client, threadId, current, undefined, runs) };
}

export async function entryOf(
  client: Client,
  threadId: string,
  state: ThreadState,
  following: ThreadState | undefined,
  runs: RunLabels,
): Promise<HistoryEntry> {
  const parent = await parentOf(client, threadId, state, following);
  const { metadata, created_at, next, tasks } = state;
  const runId = textOf(metadata.run_id);
  const failures = tasks.flatMap(({ name, error }) => (error === null ? [] : [{ name, error }]));
  const kind = textOf(metadata.source) ?? "";
  const start =
    parent && textOf(parent.metadata.run_id) === runId ? parent.created_at : await runs.startOf(runId);
  return {
    id: state.checkpoint?.checkpoint_id ?? "",
    parent: state.parent_checkpoint?.checkpoint_id ?? undefined,
    step: typeof metadata.step === "number" ? metadata.step : undefined,
    source: kind,
    ...(kind === "migrate" && { migrated_from: migratedFrom(metadata) }),
    runId,
    ...(typeof metadata.run_attempt === "number" && { attempt: metadata.run_attempt }),
    created_at,
    nodes: kind === "loop" ? (parent?.next ?? []) : [],
    next,
    ran: kind === "loop" ? subgraphsOf(parent) : [],
    pending: subgraphsOf(state),
    // The first checkpoint contains only default values.
    changed: parent ? changedKeys(parent.values, state.values) : [],
    ms: kind === "loop" ? msBetween(start, created_at) : undefined,
    interrupts: state.interrupts.length,
    errors: failures.map(({ error }) => error),
    failed: failures.map(({ name }) => name),
    faults: await Promise.all(failures.map(({ error }) => runs.faults.find(runId, error))),
  };
}

function migratedFrom({ migration }: JsonObject): string {
  const from = isRecord(migration) ? migration.from : undefined;
  return typeof from === "string" ? from : "no version";
}

/** How the checkpoint was made. */
export const sourceText = ({
  source,
  migrated_from,
}: Pick<HistoryEntry, "source" | "migrated_from">): string =>
  migrated_from === undefined ? source : `migrated from ${migrated_from}`;

export async function parentOf(
  client: Client,
  threadId: string,
  { parent_checkpoint }: ThreadState,
  following: ThreadState | undefined,
): Promise<ThreadState | undefined> {
  const id = parent_checkpoint?.checkpoint_id;
  if (!id) return undefined;
  if (following?.checkpoint?.checkpoint_id === id) return following;
  try {
    return await client.threads.getState(threadId, { checkpoint: parent_checkpoint });
  } catch (error) {
    // Pruned threads keep only their latest checkpoint.
    if ((error as { code?: unknown }).code === "checkpoint_not_found") return undefined;
    throw error;
  }
}

/** Errors and start times of runs, which states do not contain; the most recent lookups are cached. */
export class RunLabels {
  readonly faults: RunFaults;
  readonly #client: Client;
  readonly #threadId: string;
  #last: { runId: string; start: string | undefined } | undefined;

  constructor(client: Client, threadId: string) {
    this.#client = client;
    this.#threadId = threadId;
    this.faults = new RunFaults(client, threadId);
  }

  async startOf(runId: string | undefined): Promise<string | undefined> {
    if (runId === undefined) return undefined;
    if (this.#last?.runId !== runId) this.#last = { runId, start: await this.#read(runId) };
    return this.#last.start;
  }

  async #read(runId: string): Promise<string | undefined> {
    try {
      return (await this.#client.runs.get(this.#threadId, runId)).created_at;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === "run_not_found" || code === "invalid_request") return undefined;
      throw error;
    }
  }
}

/** Top-level keys with different values; empty if the state is not an object. */
function changedKeys(before: unknown, after: unknown): string[] {
  if (!isRecord(after)) return [];
  const old = isRecord(before) ? before : {};
  const keys = new Set([...Object.keys(after), ...Object.keys(old)]);
  return [...keys].filter((key) => JSON.stringify(old[key]) !== JSON.stringify(after[key]));
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

// Formats history entries.

/** Lines such as `1f1e57f6-9d32  step 2  loop`; a single line with `oneline`. */
export function entryLines(
  print: Printer,
  entry: HistoryEntry,
  { oneline }: { oneline: boolean },
  room: number,
): string[] {
  const { yellow, dim } = print.colors;
  const id = shownId(print, entry.id);
  const step = `step ${entry.step ?? "?"}`;
  if (oneline) {
    const text = [step, sourceText(entry), ...facts(entry, print.cwd)].filter(Boolean).join("  ");
    return [`${yellow(id)} ${clipped(text, room - id.length - 1)}`];
  }
  const [head] = grouped([step, sourceText(entry), shownTime(print, entry.created_at)], room - id.length - 2);
  const details = facts(entry, print.cwd).map((fact) => clipped(fact, room - INDENT.length));
  return [
    `${yellow(id)}  ${clipped(head ?? "", room - id.length - 2)}`,
    ...grouped(details, room - INDENT.length).map((line) => INDENT + dim(line)),
  ];
}

const INDENT = "  ";

/** The nodes, changes and duration of a step, one text each. */
export function facts(entry: HistoryEntry, cwd: string): string[] {
  const { nodes, next, changed, ms, interrupts, attempt } = entry;
  return [
    listed("ran", userNodes(nodes)),
    attempt === undefined ? "" : `attempt ${attempt}`,
    listed("changed", changed),
    shownMs(ms),
    listed("next", userNodes(next)),
    interrupts > 0 ? pendingQuestions(interrupts) : "",
    ...failures(entry, cwd),
  ].filter(Boolean);
}

/**
 * Errors after the checkpoint, each with its node if several were next. The location comes first, because messages can be
 * long.
 */
export function failures(
  { next, errors, failed, faults }: Pick<HistoryEntry, "next" | "errors" | "failed" | "faults">,
  cwd: string,
): string[] {
  return errors.map((error, index) => {
    const place = faults[index] && faultLocation(faults[index], cwd);
    const node = next.length > 1 ? `${failed[index] ?? ""} ` : "";
    return `${node}failed${place === undefined ? "" : ` at ${place}`}: ${errorLine(error)}`;
  });
}

const listed = (what: string, names: readonly string[]): string =>
  names.length > 0 ? `${what} ${names.join(", ")}` : "";

/** Past tense, because only later checkpoints show whether an interrupt was answered. */
export const pendingQuestions = (questions: number): string =>
  questions === 1 ? "asked a question" : `asked ${questions} questions`;

/** Joins facts into lines that fit into `room` columns. */
function grouped(facts: readonly string[], room: number): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const longer = `${last ?? ""}  ${fact}`;
    if (last !== undefined && longer.length <= Math.min(room, MOST_WIDE)) lines[lines.length - 1] = longer;
    else lines.push(fact);
  }
  return lines;
}

/** Maximum columns of a line in a pipe, which has no width. */
const MOST_WIDE = 100;
