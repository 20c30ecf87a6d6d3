/**
 * Hides values that are not part of a graph's output from clients, per namespace (docs/specification.md#threads, 6).
 * Fails closed.
 */
import { INTERRUPT } from "@langchain/langgraph";
import { isRecord, type JsonObject } from "../models/common.js";

/** Key of open interrupts in streamed values. Always visible, so that clients can answer them. */
export const INTERRUPT_KEY = INTERRUPT;

/** Key of an update with metadata about its origin. */
const ORIGIN_KEY = "__metadata__";

/** Key for the values of a graph whose state has no keys. */
export const UNKEYED = "data";

/** The filter of the root graph or of a subgraph. */
export interface OutputFilter {
  /** False if the output schema is unknown: nothing is visible then. */
  readonly known: boolean;
  /** False if all state that the graph and its known subgraphs stream is output, so that nothing is hidden. */
  readonly narrows: boolean;
  /** Whether a state key or channel is output. */
  shows(key: string): boolean;
  /** Filter the graph's state, as in checkpoints, streams and results. */
  values(values: unknown): unknown;
  /** Filter the input of a task: state, or the argument of a `Send`. */
  input(task: string, input: unknown): unknown;
  /** Filter the writes of a task by channel. Null if the task is not a node, but a call inside a node. */
  writes(task: string, writes: unknown): unknown;
  /** Filter updates by task, `{task: delta | delta[]}`; null for calls inside nodes. */
  updates(updates: unknown): unknown;
  /** Whether `task` can write text only to visible keys. */
  speaksOpenly(task: string): boolean;
  /** The filter of the subgraphs of this node. */
  within(node: string): OutputFilter;
  /** Hides the same keys, whichever graph's node reads or writes them: for other graphs on the graph's threads. */
  elsewhere(): OutputFilter;
}

/** Lets everything through. */
export const PASS_ALL: OutputFilter = {
  known: true,
  narrows: false,
  shows: () => true,
  values: (values) => values,
  input: (_, input) => input,
  writes: (_, writes) => writes,
  updates: (updates) => updates,
  speaksOpenly: () => true,
  within: () => PASS_ALL,
  elsewhere: () => PASS_ALL,
};

/** Filters what the nodes of any graph read and write like `values`. */
const ofAnyNode = (values: OutputFilter["values"]) => ({
  values,
  input: (_: string, input: unknown) => values(input),
  writes: (_: string, writes: unknown) => values(writes),
  updates: (updates: unknown) =>
    isRecord(updates)
      ? Object.fromEntries(
          Object.entries(updates).map(([task, delta]) => [
            task,
            task === INTERRUPT_KEY || task === ORIGIN_KEY ? delta : values(delta),
          ]),
        )
      : null,
});

/** Shows only these keys, in every graph. */
export function keysOnly(keys: ReadonlySet<string>): OutputFilter {
  const filter: OutputFilter = {
    known: true,
    narrows: true,
    shows: (key) => keys.has(key),
    ...ofAnyNode((value) => picked(value, (key) => keys.has(key))),
    speaksOpenly: () => false,
    within: () => filter,
    elsewhere: () => filter,
  };
  return filter;
}

/** Shows nothing: for a graph that is not loaded, hidden keys are unknown. */
export const DROP_ALL: OutputFilter = {
  ...keysOnly(new Set()),
  known: false,
  elsewhere: () => DROP_ALL,
};

/** The output schema of a graph. */
export interface GraphOutput {
  /** Output keys; undefined if unknown. */
  visible: ReadonlySet<string> | undefined;
  /** Streamed keys; a string if the state is the value of that single channel. */
  streamed: readonly string[] | string;
  nodes: ReadonlySet<string>;
  /** Subgraphs by node: the node is one, or declares that it calls them. */
  inner: ReadonlyMap<string, readonly GraphOutput[]>;
  /** Streamed keys whose type cannot hold text. */
  textless: ReadonlySet<string>;
}

/** Channel that holds the state of a graph without keys. */
const WHOLE_STATE = "__root__";

/** Name for the hidden values of a graph whose state has no keys, such as the results of an entrypoint's tasks. */
const UNNAMED = "(values without a key)";

/** Whether a channel is a state key; others are LangGraph's own, such as the result of a functional entrypoint. */
const isKey = (channel: string) => !channel.startsWith("__");

export interface OutputFilterOptions {
  /** Keys that the parent graphs show; all if omitted. */
  bounds?: ReadonlySet<string>;
  /** Called when values are dropped because the output is unknown, with the names of the nodes leading to the graph. */
  onUnknown?: (path: readonly string[]) => void;
  path?: readonly string[];
}

/** Shows the keys that are output of both the graph and its parent graphs. */
export class KeyFilter implements OutputFilter {
  readonly known: boolean;
  readonly narrows: boolean;

  readonly #graph: GraphOutput;
  readonly #options: OutputFilterOptions;
  readonly #visible: ReadonlySet<string>;
  /** Whether the state is output unchanged. */
  readonly #isWhole: boolean;
  /** Hidden keys that may hold text. */
  readonly #hiding: readonly string[];
  readonly #within = new Map<string, OutputFilter>();

  constructor(graph: GraphOutput, options: OutputFilterOptions = {}) {
    const { visible = new Set<string>(), streamed } = graph;
    const { bounds } = options;
    this.#graph = graph;
    this.#options = options;
    this.#visible = bounds ? new Set([...visible].filter((key) => bounds.has(key))) : visible;
    this.known = graph.visible !== undefined;
    this.#isWhole = streamed.length > 0 && [streamed].flat().every((key) => this.#visible.has(key));
    this.#hiding = this.#findHiding();
    this.narrows = !this.#isWhole || [...graph.inner.keys()].some((node) => this.within(node).narrows);
  }

  shows(key: string): boolean {
    return this.#visible.has(key);
  }

  values(values: unknown): unknown {
    return this.#isWhole ? values : this.#pick(values);
  }

  input(task: string, input: unknown): unknown {
    return this.#graph.nodes.has(task) ? this.#pick(input) : null;
  }

  writes(task: string, writes: unknown): unknown {
    return this.#graph.nodes.has(task) ? this.#pick(writes) : null;
  }

  updates(updates: unknown): unknown {
    if (!isRecord(updates)) return null;
    const shown: JsonObject = {};
    for (const task of Object.keys(updates)) shown[task] = this.#update(task, updates[task]);
    return shown;
  }

  speaksOpenly(task: string): boolean {
    return this.#graph.nodes.has(task) && this.#hiding.length === 0;
  }

  /**
   * Hidden keys that may hold text, of this graph and its declared subgraphs, prefixed with the names of the nodes
   * leading there (`child|notes`). With `hold_messages`, these keys cause tokens to be held.
   */
  hidingKeys(path: readonly string[] = []): string[] {
    const own = this.#hiding.map((key) => [...path, key].join("|"));
    const inner = [...this.#graph.inner].flatMap(([node, graphs]) =>
      graphs.flatMap((graph) => new KeyFilter(graph, this.#innerOptions(node)).hidingKeys([...path, node])),
    );
    return [...new Set([...own, ...inner])];
  }

  #findHiding(): string[] {
    const { streamed, textless } = this.#graph;
    if (typeof streamed !== "string")
      return streamed.filter((key) => !this.#visible.has(key) && !textless.has(key));
    return this.#isWhole && streamed === WHOLE_STATE ? [] : [UNNAMED];
  }

  within(node: string): OutputFilter {
    let filter = this.#within.get(node);
    if (!filter) {
      filter = this.#inner(node);
      this.#within.set(node, filter);
    }
    return filter;
  }

  elsewhere(): OutputFilter {
    const filter: OutputFilter = {
      known: this.known,
      narrows: this.narrows,
      // A graph that hides nothing does not hide the keys of other graphs, which it does not know.
      shows: (key) => this.#isWhole || this.shows(key),
      ...ofAnyNode((values) => this.values(values)),
      speaksOpenly: () => this.#hiding.length === 0,
      // Subgraphs of a node with the same name share their namespace.
      within: (node) =>
        this.#graph.inner.has(node) ? bothFilters(filter, this.within(node).elsewhere()) : filter,
      elsewhere: () => filter,
    };
    return filter;
  }

  #inner(node: string): OutputFilter {
    const options = this.#innerOptions(node);
    const graphs = this.#graph.inner.get(node) ?? [UNKNOWN];
    return graphs.map((graph): OutputFilter => new KeyFilter(graph, options)).reduce(bothFilters);
  }

  #innerOptions(node: string): OutputFilterOptions {
    const { onUnknown, path = [] } = this.#options;
    return { bounds: new Set([...this.#visible].filter(isKey)), onUnknown, path: [...path, node] };
  }

  #update(task: string, delta: unknown): unknown {
    if (task === INTERRUPT_KEY) return delta;
    if (task === ORIGIN_KEY) return { cached: isRecord(delta) && delta.cached === true };
    return this.#graph.nodes.has(task) ? this.values(delta) : null;
  }

  #pick(value: unknown): unknown {
    return picked(value, (key) => {
      const isShown = this.#visible.has(key);
      if (!isShown && !this.known) this.#options.onUnknown?.(this.#options.path ?? []);
      return isShown;
    });
  }
}

/** Picks the visible keys. A value that is not an object is dropped, because it has no key that could be visible. */
function picked(value: unknown, isShown: (key: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => picked(item, isShown));
  if (!isRecord(value)) return null;
  const shown: JsonObject = {};
  for (const key of Object.keys(value)) if (key === INTERRUPT_KEY || isShown(key)) shown[key] = value[key];
  return shown;
}

const NONE: ReadonlySet<string> = new Set();
const UNKNOWN: GraphOutput = {
  visible: undefined,
  streamed: WHOLE_STATE,
  nodes: NONE,
  inner: new Map(),
  textless: NONE,
};

/** Shows only values that both filters show. */
export function bothFilters(a: OutputFilter, b: OutputFilter): OutputFilter {
  if (a === PASS_ALL || a === b) return b;
  if (b === PASS_ALL) return a;
  return {
    known: a.known && b.known,
    narrows: a.narrows || b.narrows,
    shows: (key) => a.shows(key) && b.shows(key),
    values: (values) => b.values(a.values(values)),
    input: (task, input) => b.input(task, a.input(task, input)),
    writes: (task, writes) => b.writes(task, a.writes(task, writes)),
    updates: (updates) => b.updates(a.updates(updates)),
    speaksOpenly: (task) => a.speaksOpenly(task) && b.speaksOpenly(task),
    within: (node) => bothFilters(a.within(node), b.within(node)),
    elsewhere: () => bothFilters(a.elsewhere(), b.elsewhere()),
  };
}

/** The filter of a namespace, given as `child:<id>|leaf:<id>` or its parts; empty for the root graph. */
export function filterAt(filter: OutputFilter, namespace: string | readonly string[]): OutputFilter {
  if (namespace.length === 0) return filter;
  return nodePathOf(namespace).reduce((around, node) => around.within(node), filter);
}

/** Names of the nodes along a namespace. Numeric parts only count calls of one task, and are skipped. */
export function nodePathOf(namespace: string | readonly string[]): string[] {
  const parts = typeof namespace === "string" ? namespace.split("|") : namespace;
  return parts
    .filter((part) => part !== "" && !/^\d+$/.test(part))
    .map((part) => part.split(":", 1)[0] ?? "");
}

/** The namespace of the task that produced an event or message, from its metadata. */
export function taskNamespace(metadata: unknown): string {
  const { langgraph_checkpoint_ns, checkpoint_ns } = isRecord(metadata) ? metadata : {};
  const namespace = langgraph_checkpoint_ns ?? checkpoint_ns;
  return typeof namespace === "string" ? namespace : "";
}
