/** Which state keys a client may see, by the graph's declared output (spec, Thread; fails closed). */
import type { JsonObject } from "../models/common.js";
import { isRecord } from "../models/common.js";
import type { ServedGraph } from "./graph.js";

/** Key of open interrupts in streamed values; always visible, or nobody could answer them. */
export const INTERRUPT_KEY = "__interrupt__";

/** Values of a graph whose state has no keys are shown under this one. */
export const UNKEYED = "data";

export interface OutputFilter {
  /** False when every state key is visible. */
  readonly narrows: boolean;
  /** False when the graph's output could not be read: then nothing is visible. */
  readonly known: boolean;
  /** Full state, a subgraph's state, a task's input or a task's result. */
  values(values: unknown): unknown;
  /** Per-node deltas: `{node: delta | delta[]}`. */
  updates(updates: unknown): unknown;
}

function pick(record: JsonObject, visible: ReadonlySet<string>): JsonObject {
  const picked: JsonObject = {};
  for (const key of Object.keys(record)) {
    if (key === INTERRUPT_KEY || visible.has(key)) picked[key] = record[key];
  }
  return picked;
}

function narrowing(visible: ReadonlySet<string>, known: boolean): OutputFilter {
  const values = (state: unknown): unknown => {
    if (Array.isArray(state)) return state.map(values);
    // A bare value belongs to no key, so none of them lets it through.
    return isRecord(state) ? pick(state, visible) : null;
  };
  const updates = (deltas: unknown): unknown => {
    if (!isRecord(deltas)) return null;
    const shown: JsonObject = {};
    for (const node of Object.keys(deltas))
      shown[node] = node === INTERRUPT_KEY ? deltas[node] : values(deltas[node]);
    return shown;
  };
  return { narrows: true, known, values, updates };
}

/** Lets everything through. */
export const OPEN_FILTER: OutputFilter = {
  narrows: false,
  known: true,
  values: (values) => values,
  updates: (updates) => updates,
};

/** Keys of the graph's state: those it streams, or all its channels but LangGraph's own. */
function stateKeys(graph: ServedGraph): string[] {
  const { streamChannels } = graph;
  if (Array.isArray(streamChannels)) return streamChannels.map(String);
  return Object.keys(graph.channels ?? {}).filter(
    (key) => !key.startsWith("__") && !key.startsWith("branch:"),
  );
}

/**
 * The filter of one graph. Array outputs are an allow-list; a string means a functional entrypoint, whose value is its
 * answer; anything else cannot be introspected, and all values are dropped.
 */
export function createOutputFilter(graph: ServedGraph): OutputFilter {
  const outputs = graph.outputChannels;
  if (typeof outputs === "string") return OPEN_FILTER;
  if (!Array.isArray(outputs)) return narrowing(new Set(), false);
  const visible = new Set(outputs.map(String));
  return stateKeys(graph).every((key) => visible.has(key)) ? OPEN_FILTER : narrowing(visible, true);
}
