/**
 * What clients may see of a graph's values, namespace by namespace (docs/specification.md#threads, 6; fails closed).
 */
import { isRecord, type JsonObject } from "../models/common.js";

/** Key of open interrupts in streamed values; always visible, or nobody could answer them. */
export const INTERRUPT_KEY = "__interrupt__";

/** Key of an update that says where it came from. */
const ORIGIN_KEY = "__metadata__";

/** Values of a graph whose state has no keys are shown under this one. */
export const UNKEYED = "data";

/** What may be seen of one graph: the served one, or one inside of it. */
export interface OutputFilter {
  /** False when the graph's output could not be read: then nothing is visible. */
  readonly known: boolean;
  /** False when all that the graph streams of its state is output, and all of every graph known to be inside of it. */
  readonly narrows: boolean;
  /** True when a key of the state, or a channel, is output. */
  shows(key: string): boolean;
  /** The graph's state, as checkpoints, streams and answers have it. */
  values(values: unknown): unknown;
  /** What a task was called with: state, or whatever a Send carries. */
  input(task: string, input: unknown): unknown;
  /** What a task wrote, channel by channel. Null for what is no node of the graph, but a call inside of one. */
  writes(task: string, writes: unknown): unknown;
  /** Deltas by task, `{task: delta | delta[]}`; null for those of calls inside of nodes. */
  updates(updates: unknown): unknown;
  /** True when whatever text `task` makes can only come to stand in keys that are visible. */
  speaksOpenly(task: string): boolean;
  /** The filter of the graphs that the node of this name is, or calls. */
  within(node: string): OutputFilter;
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
};

/** Shows these keys of every graph, and no others. */
export function keysOnly(keys: ReadonlySet<string>): OutputFilter {
  const pick = (value: unknown): unknown => picked(value, (key) => keys.has(key));
  const filter: OutputFilter = {
    known: true,
    narrows: true,
    shows: (key) => keys.has(key),
    values: pick,
    input: (_, input) => pick(input),
    writes: (_, writes) => pick(writes),
    updates: (updates) =>
      isRecord(updates)
        ? Object.fromEntries(
            Object.entries(updates).map(([task, delta]) => [
              task,
              task === INTERRUPT_KEY || task === ORIGIN_KEY ? delta : pick(delta),
            ]),
          )
        : null,
    speaksOpenly: () => false,
    within: () => filter,
  };
  return filter;
}

/** Shows nothing: of a graph that is not here nobody knows what it hides. */
export const DROP_ALL: OutputFilter = { ...keysOnly(new Set()), known: false };

/** What a graph says of its own output. */
export interface GraphOutput {
  /** Undefined when it cannot be read. */
  visible: ReadonlySet<string> | undefined;
  /** Keys that checkpoints and streams have; a text when the state is the value of that one channel. */
  streamed: readonly string[] | string;
  nodes: ReadonlySet<string>;
  /** Graphs by the node that is one, or says that it calls them. */
  inner: ReadonlyMap<string, readonly GraphOutput[]>;
  /** Streamed keys whose type has no room for a text. */
  textless: ReadonlySet<string>;
}

/** The state of a graph without keys is the value of this channel. */
const WHOLE_STATE = "__root__";

/** Stands for the hidden values of a graph whose state has no keys, such as what the tasks of an entrypoint return. */
const UNNAMED = "(values without a key)";

/** Keys of a state; the others are channels of LangGraph's own, such as the answer of a functional entrypoint. */
const isKey = (channel: string) => !channel.startsWith("__");

export interface OutputFilterOptions {
  /** Keys that the graphs around this one show; all when left out. */
  bounds?: ReadonlySet<string>;
  /** Told when values are dropped because the output is not known: of which graph, by the nodes that lead there. */
  onUnknown?: (path: readonly string[]) => void;
  path?: readonly string[];
}

/** Shows the keys that a graph's own output and the graphs around it show, and no others. */
export class KeyFilter implements OutputFilter {
  readonly known: boolean;
  readonly narrows: boolean;

  readonly #graph: GraphOutput;
  readonly #options: OutputFilterOptions;
  readonly #visible: ReadonlySet<string>;
  /** True when the state is output as it is. */
  readonly #isWhole: boolean;
  /** Keys that are hidden and may hold text. */
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
   * Hidden keys that may hold text, of this graph and of the graphs declared inside of it, those with the names of the
   * nodes that lead there (`child|notes`). Tokens wait because of them under `hold_messages`.
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

/** The keys that are shown. Of a bare value nothing is left: it belongs to no key, so none of them lets it through. */
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

/** Shows what both show. */
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
  };
}

/** The filter of a namespace: `child:<id>|leaf:<id>`, or its parts; empty for the graph itself. */
export function filterAt(filter: OutputFilter, namespace: string | readonly string[]): OutputFilter {
  return nodePathOf(namespace).reduce((around, node) => around.within(node), filter);
}

/** Names of the nodes along a namespace; what counts the calls of one task names none. */
export function nodePathOf(namespace: string | readonly string[]): string[] {
  const parts = typeof namespace === "string" ? namespace.split("|") : namespace;
  return parts
    .filter((part) => part !== "" && !/^\d+$/.test(part))
    .map((part) => part.split(":", 1)[0] ?? "");
}

/** The namespace of the task in which something was made, by its metadata. */
export function taskNamespace(metadata: unknown): string {
  const { langgraph_checkpoint_ns, checkpoint_ns } = isRecord(metadata) ? metadata : {};
  const namespace = langgraph_checkpoint_ns ?? checkpoint_ns;
  return typeof namespace === "string" ? namespace : "";
}
