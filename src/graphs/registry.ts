/**
 * The graphs of the mapping: resolves ids and returns the graph to call (docs/specification.md#assistants).
 */
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { GraphLoadError, GraphNotLoadedError, NotFoundError } from "../support/errors.js";
import { assistantUuid, canonicalUuid } from "../support/ids.js";
import type { AccessContext, GraphConfig, LoadedGraph, ServedGraph } from "./graph.js";
import { Fingerprints } from "./fingerprint.js";
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
  /** Whether every graph is an assistant with its own UUID, instead of only the default graph. */
  list_all_assistants?: boolean;
  /** Names the code of the graphs; part of their versions. */
  graph_version?: string;
  checkpointer: BaseCheckpointSaver;
  /** Long-term memory for graphs that were compiled without a store. */
  store?: unknown;
  /** Whether to use a placeholder for a factory that throws when its threads are read. */
  standIns?: boolean;
  /** Show all state keys, ignoring the output schemas. */
  unfiltered?: boolean;
  /**
   * Called once for each graph whose output cannot be introspected, and once for each node that calls such a graph.
   * `path` lists the names of the nodes on the way, and is empty for the graph itself. `loads` is false for a graph that
   * does not load.
   */
  onUnknownOutput(graphId: string, path: readonly string[], loads: boolean): void;
  /** Called once for each graph whose tokens `hold_messages` holds, with the hidden keys that cause it. */
  onHeldMessages?: (graphId: string, keys: readonly string[]) => void;
  /** Called when a factory throws on a read of a thread; again only after the factory has succeeded. */
  onBrokenFactory(graphId: string, error: GraphLoadError): void;
}

/** A graph that is ready to call, with its output filter. */
export interface BoundGraph {
  id: string;
  graph: ServedGraph;
  filter: OutputFilter;
  /** UUID of the assistant of the graph. */
  assistantId: string;
  /** Undefined until the first run: reading needs no version. Null for a graph that has none. */
  version?: string | null;
}

export class GraphRegistry {
  /** The default graph first, then the others in the order of the mapping. */
  readonly ids: readonly string[];
  readonly defaultId: string;
  /** Graphs that are listed as assistants, the default graph first. */
  readonly assistants: readonly string[];
  loadedAt = new Date();

  readonly #fingerprints: Fingerprints;
  readonly #options: RegistryOptions;
  #graphs: ReadonlyMap<string, LoadedGraph>;
  readonly #bound = new Map<string, Promise<BoundGraph>>();
  readonly #warned = new Set<string>();
  readonly #reportedHeld = new Set<string>();
  /** Errors of factories on reads of threads, until the factory succeeds again. */
  readonly #brokenFactories = new Map<string, GraphLoadError>();
  readonly #uuids: ReadonlyMap<string, string>;
  /** Graph ids by the UUIDs that name them. */
  readonly #byUuid: ReadonlyMap<string, string>;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#graphs = options.graphs;
    this.#fingerprints = new Fingerprints(options.graph_version);
    const keys = [...options.graphs.keys()];
    this.defaultId = options.default_assistant_id ?? keys[0] ?? "";
    this.ids = keys.sort((a, b) => Number(b === this.defaultId) - Number(a === this.defaultId));
    this.assistants = options.list_all_assistants ? this.ids : [this.defaultId];
    this.#uuids = new Map(keys.map((id) => [id, assistantUuid(options.assistant_namespace, id)]));
    this.#byUuid = new Map(this.assistants.map((id) => [this.uuidOf(id), id]));
  }

  /**
   * Replace the graphs after a hot reload. Calls in progress keep their version. A graph that no longer loads keeps its
   * last working version.
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

  /** A registry of the current graphs, with or without the keys that their output schemas hide. */
  showing(all: boolean): GraphRegistry {
    return new GraphRegistry({ ...this.#options, graphs: this.#graphs, unfiltered: all });
  }

  /** `graphId` is one of `ids`. */
  uuidOf(graphId: string): string {
    return this.#uuids.get(graphId) ?? assistantUuid(this.#options.assistant_namespace, graphId);
  }

  /**
   * The graph id that an `assistant_id` names: a key of the mapping, or an assistant's UUID in any form.
   * @throws NotFoundError (`assistant_not_found`)
   */
  resolve(assistantId: string): string {
    const graphId = this.find(assistantId);
    if (graphId !== undefined) return graphId;
    throw new NotFoundError("assistant", assistantId);
  }

  /** As `resolve`; undefined for an unknown id, and for an assistant that a client created. */
  find(assistantId: string): string | undefined {
    return this.#graphs.has(assistantId) ? assistantId : this.#byUuid.get(canonicalUuid(assistantId) ?? "");
  }

  /** The graph of a thread's last run, from its metadata; the default graph if there is none or it is not served. */
  graphIdOf(metadata: { graph_id?: unknown }): string {
    const { graph_id } = metadata;
    return typeof graph_id === "string" && this.#graphs.has(graph_id) ? graph_id : this.defaultId;
  }

  sourceOf(graphId: string): string | undefined {
    return this.#graphs.get(graphId)?.source;
  }

  /** Why a graph does not load; undefined if it does. For a factory, known only after one of its threads was read. */
  faultOf(graphId: string): GraphLoadError | undefined {
    const loaded = this.#graphs.get(graphId);
    return loaded?.kind === "fault" ? loaded.fault : this.#brokenFactories.get(graphId);
  }

  /**
   * The graph for reading stored states. If it does not load, a placeholder whose values are all hidden.
   * @throws GraphLoadError if a factory returns no graph and `standIns` is not set (`graph_load_failed`)
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
    const bound = { id: graphId, assistantId: this.uuidOf(graphId), graph };
    if (this.#options.unfiltered) return { ...bound, filter: PASS_ALL };
    this.#warn(graphId, [], false);
    return { ...bound, filter: DROP_ALL };
  }

  /**
   * The graph to call, bound to the server's checkpointer. A factory is called with `config` and `access`.
   * @throws NotFoundError for an unknown id (`assistant_not_found`)
   * @throws GraphNotLoadedError (`graph_not_loaded`)
   * @throws GraphLoadError if a factory throws or returns no graph (`graph_load_failed`)
   */
  async graph(
    graphId: string,
    access: AccessContext,
    config: GraphConfig = { configurable: {} },
  ): Promise<BoundGraph> {
    const loaded = this.#graphs.get(graphId);
    if (!loaded) throw new NotFoundError("assistant", graphId);
    if (loaded.kind === "fault") throw new GraphNotLoadedError(graphId, loaded.fault);
    let binding = this.#bound.get(graphId);
    if (loaded.kind === "factory") binding = this.#made(graphId, loaded.factory(config, access));
    else if (!binding) this.#bound.set(graphId, (binding = this.#bind(graphId, loaded.graph)));
    const bound = await binding;
    if (access === "threads.create_run" && bound.version === undefined) await this.versionOf(bound);
    return bound;
  }

  /** The version of a bound graph; null for one that does not list its nodes, and for a placeholder. */
  async versionOf(bound: Pick<BoundGraph, "graph" | "version">): Promise<string | null> {
    bound.version ??= (await this.#fingerprints.of(bound.graph)) ?? null;
    return bound.version;
  }

  async #made(graphId: string, graph: Promise<ServedGraph>): Promise<BoundGraph> {
    const made = await graph;
    this.#brokenFactories.delete(graphId);
    return this.#bind(graphId, made);
  }

  /** Bind a copy: the user's graph object is not modified. */
  async #bind(graphId: string, original: ServedGraph): Promise<BoundGraph> {
    const graph = original.withConfig({});
    graph.checkpointer = this.#options.checkpointer;
    graph.store ??= this.#options.store;
    const bound = { id: graphId, assistantId: this.uuidOf(graphId), graph };
    if (this.#options.unfiltered) return { ...bound, filter: PASS_ALL };
    const filter = await createOutputFilter(graph, (path) => this.#warn(graphId, path));
    if (!filter.known) this.#warn(graphId, []);
    this.#reportIfHeld(graphId, filter);
    return { ...bound, filter };
  }

  /**
   * The output filter of a thread.
   * @param bound the graph that reads the thread
   * @param writers graphs that have written to the thread; null if unknown, in which case all served graphs count. If one
   *   of them is not served here, the keys it hides are unknown, so only output keys of served graphs are shown.
   * @throws GraphLoadError if a factory returns no graph (`graph_load_failed`)
   */
  async filterAmong(
    bound: BoundGraph,
    writers: readonly string[] | null,
    config: GraphConfig,
  ): Promise<OutputFilter> {
    if (this.#options.unfiltered) return bound.filter;
    const wrote = writers ?? this.ids;
    // Tasks are those of the graph that reads the thread. If it wrote nothing, its nodes do not count.
    const isWriter = wrote.includes(bound.id);
    if (isWriter && wrote.length === 1) return bound.filter;
    const served = wrote.filter((id) => this.#graphs.has(id));
    const filters = await Promise.all(
      served.map(async (id) => {
        if (id === bound.id) return bound.filter;
        const { filter } = await this.reader(id, config);
        return isWriter ? filter.elsewhere() : filter;
      }),
    );
    if (served.length < wrote.length) filters.push(await this.#anyOutput(config));
    return filters.length > 0 ? filters.reduce(bothFilters) : bound.filter;
  }

  /** Shows the output keys of all graphs; graphs that fail to load contribute none. */
  async #anyOutput(config: GraphConfig): Promise<OutputFilter> {
    const loaded = await Promise.allSettled(this.ids.map((id) => this.graph(id, "threads.read", config)));
    const outputs = loaded.flatMap((result) => {
      const keys = result.status === "fulfilled" ? result.value.graph.outputChannels : undefined;
      return Array.isArray(keys) ? keys.map(String) : [];
    });
    return keysOnly(new Set(outputs));
  }

  /** Report the graphs whose messages are held. Factories are reported on their first call. Never rejects. */
  async reportHeld(): Promise<void> {
    if (!this.#options.onHeldMessages) return;
    const ready = [...this.#graphs].filter(([, { kind }]) => kind === "graph");
    // Errors are ignored here: they surface in the requests that need the graph.
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

  #warn(graphId: string, path: readonly string[], loads = true): void {
    const place = [graphId, ...path].join("|");
    if (this.#warned.has(place)) return;
    this.#warned.add(place);
    this.#options.onUnknownOutput(graphId, path, loads);
  }
}
