/** Versions of graphs, and whether stored threads can continue on the graphs that are served now (docs/deploys.md). */
import { type LostValue, StateCheck } from "../graphs/versions/stored-state.js";
import { type LostTask, lostTasks } from "../graphs/versions/lost-tasks.js";
import type { OpsContext } from "../context/context.js";
import type { GraphConfig } from "../graphs/graph.js";
import type { BoundGraph } from "../graphs/registry.js";
import type { GraphVersion, ThreadCheck, VersionProblem } from "../models/version.js";
import { inPagesByOffset } from "../support/read-ahead.js";
import { errorMessage } from "../support/errors.js";
import { searchRuns } from "../storage/run-search.js";
import type { RunRow, ThreadRow } from "../storage/contract/storage.js";
import { configOf } from "../threads/thread-state.js";
import { scopeFilter } from "../threads/thread-origin.js";

const OPEN = ["pending", "running"] as const;

export class Versions {
  readonly #context: OpsContext;

  constructor(context: OpsContext) {
    this.#context = context;
  }

  /** The versions that threads and open runs belong to, and those of the served graphs; the graphs in their order. */
  async list(): Promise<GraphVersion[]> {
    const found = new Map<string, GraphVersion>();
    const at = (graph_id: string, version: string | null): GraphVersion => {
      const key = JSON.stringify([graph_id, version]);
      const none = { threads: 0, interrupted: 0, open_runs: 0, last_used_at: null };
      const entry = found.get(key) ?? { graph_id, version, is_current: false, ...none };
      found.set(key, entry);
      return entry;
    };
    const { registry } = this.#context;
    for (const id of registry.ids) {
      const version = await registry.versionOf(await registry.reader(id));
      if (version !== null) at(id, version).is_current = true;
    }
    for await (const { metadata, status, updated_at } of this.#threads()) {
      if (typeof metadata.graph_id !== "string") continue;
      const entry = at(metadata.graph_id, versionIn(metadata));
      entry.threads += 1;
      if (status === "interrupted") entry.interrupted += 1;
      if (updated_at > (entry.last_used_at ?? "")) entry.last_used_at = updated_at;
    }
    for (const status of OPEN)
      for await (const { metadata } of this.#runs(status))
        if (typeof metadata.graph_id === "string") at(metadata.graph_id, versionIn(metadata)).open_runs += 1;
    return [...found.values()];
  }

  /**
   * Checks threads against the served graphs, last changed first: nodes that they wait in, state keys, and values.
   * Threads without checkpoints are left out.
   * @param since only threads changed since this time, ISO 8601
   * @param graphId only threads of this graph
   */
  async *check({ since, graphId }: { since?: string; graphId?: string } = {}): AsyncGenerator<ThreadCheck> {
    const checks = new Map<string, Promise<StateCheck>>();
    const stateCheck = async (bound: BoundGraph) => {
      const key = JSON.stringify([bound.id, await this.#context.registry.versionOf(bound)]);
      const made = checks.get(key) ?? StateCheck.of(bound.graph);
      checks.set(key, made);
      return made;
    };
    for await (const row of this.#threads()) {
      if (since !== undefined && row.updated_at < since) return;
      const graph_id = typeof row.metadata.graph_id === "string" ? row.metadata.graph_id : null;
      if (row.state_updated_at === null || (graphId !== undefined && graph_id !== graphId)) continue;
      const { thread_id, status, updated_at } = row;
      const checked = { thread_id, graph_id, version: versionIn(row.metadata), status, updated_at };
      yield { ...checked, ...(await this.#checkThread(row, stateCheck)) };
    }
  }

  async #checkThread(
    row: ThreadRow,
    stateCheck: (bound: BoundGraph) => Promise<StateCheck>,
  ): Promise<Pick<ThreadCheck, "problems" | "unchecked">> {
    const { registry, storage } = this.#context;
    const { graph_id: id } = row.metadata;
    if (typeof id !== "string") return { problems: [], unchecked: "no graph has run on the thread" };
    if (!registry.ids.includes(id)) return { problems: [], unchecked: `the graph ${id} is not configured` };
    try {
      const bound = await registry.graph(id, "threads.read", configOf(this.#context, row));
      const { thread_id } = row;
      const { checkpointer } = storage;
      const tuple = await checkpointer.getTuple({ configurable: { thread_id, checkpoint_ns: "" } });
      if (!tuple) return { problems: [], unchecked: null };
      const values = (await stateCheck(bound)).lostIn(tuple);
      // The state of the root graph is read once.
      const read = (config: GraphConfig) =>
        config.configurable?.checkpoint_ns === "" ? Promise.resolve(tuple) : checkpointer.getTuple(config);
      // Another served graph may have the tasks.
      const shared = row.graphs?.some((other) => other !== id && registry.ids.includes(other));
      const tasks = shared ? [] : await lostTasks(read, bound.graph, { thread_id });
      return { problems: [...tasks.map(problemOf), ...values.map(valueProblem)], unchecked: null };
    } catch (error) {
      return { problems: [], unchecked: errorMessage(error) };
    }
  }

  #threads(): AsyncGenerator<ThreadRow, void, undefined> {
    const filter = scopeFilter(this.#context, {});
    const order = { sortBy: "updated_at", sortOrder: "desc" } as const;
    return inPagesByOffset(
      async (page) => (await this.#context.storage.threads.search({ ...filter, ...order, ...page })).rows,
      ({ thread_id }) => thread_id,
    );
  }

  #runs(status: (typeof OPEN)[number]): AsyncGenerator<RunRow, void, undefined> {
    return inPagesByOffset(
      (page) => searchRuns(this.#context.storage, { status, ...page }),
      ({ run_id }) => run_id,
    );
  }
}

const versionIn = ({ graph_version }: { graph_version?: unknown }): string | null =>
  typeof graph_version === "string" ? graph_version : null;

function problemOf({ node, namespace, missing, nodes }: LostTask): VersionProblem {
  const place = namespace === "" ? node : `${namespace.replace(/:[0-9a-f-]{36}/g, "")}|${node}`;
  return {
    kind: missing,
    place,
    message:
      missing === "node"
        ? `waits in node "${place}", which is gone; the nodes are ${nodes.join(", ")}`
        : `waits for node "${place}" by an edge that is gone`,
  };
}

const valueProblem = ({ path, missing, message }: LostValue): VersionProblem => ({
  kind: missing,
  place: path,
  message:
    missing === "key"
      ? `holds state key "${path}", which is gone; the graph ${message}`
      : `state "${path}" ${message}`,
});
