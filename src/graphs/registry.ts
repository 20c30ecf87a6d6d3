/**
 * The graphs of the mapping: which ids name them, and the graph to call for each (docs/specification.md#assistants).
 */
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { GraphLoadError, GraphNotLoadedError, NotFoundError } from "../support/errors.js";
import { assistantUuid, canonicalUuid } from "../support/ids.js";
import type { AccessContext, GraphConfig, LoadedGraph, ServedGraph } from "./graph.js";
import { createOutputFilter } from "./graph-output.js";
import {
  bothFilters,
  DROP_ALL,
  type KeyFilter,
  keysOnly,
  PASS_ALL,
  type OutputFilter,
} from "./output-filter.js";
import { PlaceholderGraph } from "./placeholder-graph.js";

export interface RegistryOptions {
  /** In the order of the mapping; at least one. */
  graphs: ReadonlyMap<string, LoadedGraph>;
  default_assistant_id?: string;
  assistant_namespace: string;
  /** Whether every graph is an assistant with a UUID of its own, not the default one alone. */
  list_all_assistants?: boolean;
  checkpointer: BaseCheckpointSaver;
  /** Long-term memory for graphs that bring none of their own. */
  store?: unknown;
  /** Whether a factory that throws is stood in for as well where its threads are read. */
  standIns?: boolean;
  /** Show every state key, whatever the output schemas hide. */
  unfiltered?: boolean;
  /**
   * Called once for each graph whose output cannot be introspected, and once for each node of it that calls such a
   * graph: `path` has the names of the nodes that lead there, and is empty for the graph itself.
   */
  onUnknownOutput(graphId: string, path: readonly string[]): void;
  /** Called once for each graph whose tokens `hold_messages` holds, with the keys because of which they wait. */
  onHeldMessages?: (graphId: string, keys: readonly string[]) => void;
  /** Called when a factory that gave a graph before, or was not called yet, throws where a thread is read. */
  onBrokenFactory(graphId: string, error: GraphLoadError): void;
}

/** A graph ready to call, with the filter of its output. */
export interface BoundGraph {
  id: string;
  graph: ServedGraph;
  filter: OutputFilter;
}

export class GraphRegistry {
  /** The default graph first, the others as in the mapping. */
  readonly ids: readonly string[];
  readonly defaultId: string;
  /** Graphs that are listed as assistants, the default first. */
  readonly assistants: readonly string[];
  loadedAt = new Date();

  readonly #options: RegistryOptions;
  #graphs: ReadonlyMap<string, LoadedGraph>;
  readonly #bound = new Map<string, Promise<BoundGraph>>();
  readonly #warned = new Set<string>();
  readonly #reportedHeld = new Set<string>();
  /** What factories threw when a thread was read, until they give a graph again. */
  readonly #brokenFactories = new Map<string, GraphLoadError>();
  /** Graph ids by the UUIDs that name them. */
  readonly #byUuid: ReadonlyMap<string, string>;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#graphs = options.graphs;
    const keys = [...options.graphs.keys()];
    this.defaultId = options.default_assistant_id ?? keys[0] ?? "";
    this.ids = keys.sort((a, b) => Number(b === this.defaultId) - Number(a === this.defaultId));
    this.assistants = options.list_all_assistants ? this.ids : [this.defaultId];
    this.#byUuid = new Map(this.assistants.map((id) => [this.uuidOf(id), id]));
  }

  /**
   * Serve other versions of the same graphs; calls that have begun keep theirs. In the place of one that does not load
   * the last that did goes on.
   */
  replace(graphs: ReadonlyMap<string, LoadedGraph>): void {
    const served = [...graphs].map(([id, loaded]): [string, LoadedGraph] => {
      const last = this.#graphs.get(id);
      return [id, loaded.kind === "fault" && last && last.kind !== "fault" ? last : loaded];
    });
    this.#graphs = new Map(served);
    this.#brokenFactories.clear();
    this.#bound.clear();
    this.#warned.clear();
    this.#reportedHeld.clear();
    this.loadedAt = new Date();
  }

  /** Reads the same graphs, as they are now, with what their output schemas hide or without. */
  showing(all: boolean): GraphRegistry {
    return new GraphRegistry({ ...this.#options, graphs: this.#graphs, unfiltered: all });
  }

  uuidOf(graphId: string): string {
    return assistantUuid(this.#options.assistant_namespace, graphId);
  }

  /**
   * The graph id that an `assistant_id` names: a key of the mapping, or an assistant's UUID in any form.
   * @throws NotFoundError (`assistant_not_found`)
   */
  resolve(assistantId: string): string {
    if (this.#graphs.has(assistantId)) return assistantId;
    const graphId = this.#byUuid.get(canonicalUuid(assistantId) ?? "");
    if (graphId !== undefined) return graphId;
    throw new NotFoundError("assistant", assistantId);
  }

  /** The graph that a thread was last run with, by its metadata; the default when it says none that is served. */
  graphIdOf(metadata: { graph_id?: unknown }): string {
    const { graph_id } = metadata;
    return typeof graph_id === "string" && this.#graphs.has(graph_id) ? graph_id : this.defaultId;
  }

  sourceOf(graphId: string): string | undefined {
    return this.#graphs.get(graphId)?.source;
  }

  /** Why a graph does not load; undefined when it does. A factory is known to fail once a thread of it was read. */
  faultOf(graphId: string): GraphLoadError | undefined {
    const loaded = this.#graphs.get(graphId);
    return loaded?.kind === "fault" ? loaded.fault : this.#brokenFactories.get(graphId);
  }

  /**
   * The graph that reads what it stored; where it does not load, one that stands in for it, of which nothing is shown.
   * @throws GraphLoadError when a factory gives no graph, unless it is stood in for (`graph_load_failed`)
   */
  async reader(
    graphId: string,
    config?: GraphConfig,
    access: AccessContext = "threads.read",
  ): Promise<BoundGraph> {
    try {
      return await this.graph(graphId, access, config);
    } catch (error) {
      if (error instanceof GraphNotLoadedError) return this.#standIn(graphId, error);
      if (!this.#options.standIns || !(error instanceof GraphLoadError)) throw error;
      if (!this.#brokenFactories.has(graphId)) this.#options.onBrokenFactory(graphId, error);
      this.#brokenFactories.set(graphId, error);
      return this.#standIn(graphId, new GraphNotLoadedError(graphId, error));
    }
  }

  #standIn(graphId: string, reason: GraphNotLoadedError): BoundGraph {
    const graph = new PlaceholderGraph(reason);
    graph.checkpointer = this.#options.checkpointer;
    if (this.#options.unfiltered) return { id: graphId, graph, filter: PASS_ALL };
    this.#warn(graphId, []);
    return { id: graphId, graph, filter: DROP_ALL };
  }

  /**
   * The graph to call, bound to the server's checkpointer. A factory is called with `config` and `access`.
   * @throws GraphNotLoadedError (`graph_not_loaded`)
   * @throws GraphLoadError when a factory gives no graph (`graph_load_failed`)
   */
  async graph(
    graphId: string,
    access: AccessContext,
    config: GraphConfig = { configurable: {} },
  ): Promise<BoundGraph> {
    const loaded = this.#graphs.get(graphId);
    if (!loaded) throw new NotFoundError("assistant", graphId);
    if (loaded.kind === "fault") throw new GraphNotLoadedError(graphId, loaded.fault);
    if (loaded.kind === "factory") {
      const made = await loaded.factory(config, access);
      this.#brokenFactories.delete(graphId);
      return this.#bind(graphId, made);
    }
    let bound = this.#bound.get(graphId);
    if (!bound) {
      bound = this.#bind(graphId, loaded.graph);
      this.#bound.set(graphId, bound);
    }
    return bound;
  }

  /** A copy with the server's checkpointer: the user's own graph object stays as it is. */
  async #bind(graphId: string, original: ServedGraph): Promise<BoundGraph> {
    const graph = original.withConfig({});
    graph.checkpointer = this.#options.checkpointer;
    graph.store ??= this.#options.store;
    if (this.#options.unfiltered) return { id: graphId, graph, filter: PASS_ALL };
    const filter = await createOutputFilter(graph, (path) => this.#warn(graphId, path));
    if (!filter.known) this.#warn(graphId, []);
    this.#reportIfHeld(graphId, filter);
    return { id: graphId, graph, filter };
  }

  /**
   * What may be shown of a thread that these graphs have written to; `bound` reads it. `null` stands for writers that
   * nobody knows: then every graph served counts as one. What a graph hides that is not served here is not known; of
   * its thread only keys are shown that a served graph has in its output.
   * @throws GraphLoadError when a factory gives no graph (`graph_load_failed`)
   */
  async filterAmong(
    bound: BoundGraph,
    writers: readonly string[] | null,
    config: GraphConfig,
  ): Promise<OutputFilter> {
    if (this.#options.unfiltered) return bound.filter;
    const wrote = writers ?? this.ids;
    const served = wrote.filter((id) => this.#graphs.has(id));
    const filters = await Promise.all(
      served.map(async (id) => (id === bound.id ? bound : await this.reader(id, config)).filter),
    );
    if (served.length < wrote.length) filters.push(await this.#anyOutput(config));
    return filters.length > 0 ? filters.reduce(bothFilters) : bound.filter;
  }

  /** Shows what is an output of some graph; a factory that fails has none. */
  async #anyOutput(config: GraphConfig): Promise<OutputFilter> {
    const loaded = await Promise.allSettled(this.ids.map((id) => this.graph(id, "threads.read", config)));
    const outputs = loaded.flatMap((result) => {
      const keys = result.status === "fulfilled" ? result.value.graph.outputChannels : undefined;
      return Array.isArray(keys) ? keys.map(String) : [];
    });
    return keysOnly(new Set(outputs));
  }

  /** Report the graphs whose messages are held; factories are reported when they are first called. Never rejects. */
  async reportHeld(): Promise<void> {
    if (!this.#options.onHeldMessages) return;
    const ready = [...this.#graphs].filter(([, { kind }]) => kind === "graph");
    // A graph that cannot be bound fails the request that needs it.
    await Promise.allSettled(ready.map(([id]) => this.graph(id, "assistants.read")));
  }

  #reportIfHeld(graphId: string, filter: KeyFilter): void {
    const { onHeldMessages } = this.#options;
    if (!onHeldMessages || this.#reportedHeld.has(graphId)) return;
    const keys = filter.hidingKeys();
    if (keys.length === 0) return;
    this.#reportedHeld.add(graphId);
    onHeldMessages(graphId, keys);
  }

  #warn(graphId: string, path: readonly string[]): void {
    const place = [graphId, ...path].join("|");
    if (this.#warned.has(place)) return;
    this.#warned.add(place);
    this.#options.onUnknownOutput(graphId, path);
  }
}
