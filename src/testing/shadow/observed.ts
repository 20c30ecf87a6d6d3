/** What a unit did, read from its stored runs and states: the same way for the stored unit and for its repetition. */
import type { Client } from "../../client/client.js";
import { walkOldestFirst } from "../../client/walk.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { Run, TokenUsage } from "../../models/run.js";
import type { ThreadState } from "../../models/state.js";
import { normalized } from "../cases/normalized.js";
import type { Redact } from "../cases/redact.js";
import { comparable } from "./comparable.js";

export interface Observed {
  /** Of the last run. A run that stopped at a question or a breakpoint is interrupted. */
  status: string;
  /** The error of the last run as text; null if it did not fail. */
  error: string | null;
  /** The nodes of each superstep, those of subgraphs as `parent/node`; the last one can be unfinished. */
  steps: string[][];
  /** The calls of tools that models requested, in the state. */
  calls: { name: unknown; args: unknown }[];
  /** Values and questions, without ids and times. */
  values: JsonObject;
  /** Tokens of all runs; undefined if they are not known of each run. */
  tokens: Pick<TokenUsage, "input_tokens" | "output_tokens"> | undefined;
}

interface Source {
  runs: readonly Run[];
  /** Oldest first. */
  states: readonly ThreadState[];
  base: ThreadState | undefined;
}

/** @param redact recordings contain no secrets, so stored values must not contain them either */
export async function observe(
  client: Client,
  { runs, states, base }: Source,
  redact: Redact,
): Promise<Observed> {
  const shown = (value: unknown) => comparable(normalized(redact(value)));
  const last = states.at(-1) ?? base;
  const { status = "pending", error = null } = runs.at(-1) ?? {};
  const values = shown(last?.values ?? {});
  const questions = last?.interrupts.map(({ value }) => shown(value)) ?? [];
  return {
    // A server with LangGraph's statuses reports interrupted runs as `success`.
    status: status === "success" && last && isOpen(last) ? "interrupted" : status,
    error: error === null ? null : String(shown(error)),
    steps: await stepsOf(client, states, base),
    calls: callsIn(values),
    values: {
      ...(isRecord(values) ? values : { "(all)": values }),
      ...(questions.length > 0 && { "(questions)": questions }),
    },
    tokens: tokensOf(runs),
  };
}

/** A sum over the messages of the state covers the whole thread, and prices change without the graph. */
function tokensOf(runs: readonly Run[]): Observed["tokens"] {
  const sum = { input_tokens: 0, output_tokens: 0 };
  for (const { usage } of runs) {
    if (usage?.source !== "callbacks") return undefined;
    sum.input_tokens += usage.input_tokens;
    sum.output_tokens += usage.output_tokens;
  }
  return sum;
}

/** Whether the thread has something to resume. */
export const isOpen = ({ next, interrupts }: ThreadState): boolean =>
  next.length > 0 || interrupts.length > 0;

async function stepsOf(
  client: Client,
  states: readonly ThreadState[],
  base: ThreadState | undefined,
): Promise<string[][]> {
  const steps: string[][] = [];
  for (const [index, state] of states.entries()) {
    const { source } = state.metadata;
    const parent = index > 0 ? states[index - 1] : base;
    if (source === "loop" && parent) steps.push(...(await nodesOf(client, parent)));
  }
  const last = states.at(-1);
  if (last && last.next.length > 0) steps.push(...(await nodesOf(client, last)));
  return steps;
}

/** The nodes of the superstep after a state, and the supersteps of their subgraphs. */
async function nodesOf(client: Client, { tasks }: ThreadState): Promise<string[][]> {
  const shown = tasks.filter(({ name }) => name !== "__start__");
  if (shown.length === 0) return [];
  const steps = [shown.map(({ name }) => name).sort()];
  for (const { name, checkpoint } of shown) {
    const { thread_id, checkpoint_ns } = checkpoint ?? {};
    if (thread_id == null || checkpoint_ns == null) continue;
    const inner: ThreadState[] = [];
    for await (const state of walkOldestFirst(client, thread_id, checkpoint_ns)) inner.push(state);
    const below = await stepsOf(client, inner, undefined);
    steps.push(...below.map((nodes) => nodes.map((node) => `${name}/${node}`)));
  }
  return steps;
}

function callsIn(value: unknown): Observed["calls"] {
  if (Array.isArray(value)) return value.flatMap(callsIn);
  if (!isRecord(value)) return [];
  const own = Array.isArray(value.tool_calls) ? value.tool_calls.filter(isRecord) : [];
  return [
    ...own.map(({ name, args }) => ({ name, args })),
    ...Object.entries(value).flatMap(([key, inner]) => (key === "tool_calls" ? [] : callsIn(inner))),
  ];
}
