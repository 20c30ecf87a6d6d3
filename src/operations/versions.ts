/** Versions of graphs, and whether stored threads can continue on the graphs that are served now (docs/deploys.md). */
import { type LostValue, StateCheck } from "../graphs/versions/stored-state.js";
import { type RunStatus, UNFINISHED } from "../models/run-status.js";
import { type BegunSubgraph, type LostTask, lostTasks, pathIn } from "../graphs/versions/lost-tasks.js";
import { previewOfState } from "../graphs/thread-preview.js";
import type { StoredGraph } from "../graphs/versions/stored-graph.js";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { OpsContext } from "../context/context.js";
import type { GraphConfig, ServedGraph } from "../graphs/graph.js";
import type { BoundGraph } from "../graphs/registry.js";
import {
  type GraphVersion,
  type ThreadCheck,
  type ThreadMigration,
  type ThreadVersion,
  versionIn,
  type VersionProblem,
} from "../models/version.js";
import { inPagesByOffset } from "../support/read-ahead.js";
import { GraphChangedError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { searchRuns } from "../storage/run-search.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { RunRow } from "../storage/contract/runs.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import { configOf, latestSnapshot, readerOf } from "../threads/thread-state.js";
import type { PlannedMigration } from "../threads/thread-migration.js";
import { scopeFilter, visibleThread, writersWith } from "../threads/thread-origin.js";

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
    for (const status of UNFINISHED)
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
    const stateCheck: CheckOf = async (bound, graph, place) => {
      const key = JSON.stringify([bound.id, await this.#context.registry.versionOf(bound), place]);
      const made = checks.get(key) ?? StateCheck.of(graph);
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

  /**
   * Checks one thread of the caller. Messages name neither state keys nor values, which clients may not see.
   * @throws NotFoundError (`thread_not_found`)
   */
  async checkOne(threadId: string): Promise<ThreadVersion> {
    const row = await visibleThread(this.#context, threadId);
    const { registry } = this.#context;
    const { graph_id: id } = row.metadata;
    const isServed = typeof id === "string" && registry.ids.includes(id);
    const served = isServed ? await registry.reader(id, configOf(this.#context, row)) : undefined;
    const found = {
      thread_id: row.thread_id,
      graph_id: typeof id === "string" ? id : null,
      version: versionIn(row.metadata),
      served_version: served ? await registry.versionOf(served) : null,
    };
    if (row.state_updated_at === null) return { ...found, problems: [], migrations: [], unchecked: null };
    const { problems, migrations, unchecked } = await this.#checkThread(row, (_, graph) =>
      StateCheck.of(graph),
    );
    const shown = new Map(problems.map(shownProblem).map((problem) => [problem.message, problem]));
    const reason = isServed ? "its graph cannot be loaded, or its state cannot be read" : unchecked;
    return { ...found, problems: [...shown.values()], migrations, unchecked: unchecked && reason };
  }

  async #checkThread(
    row: ThreadRow,
    checkOf: CheckOf,
  ): Promise<Pick<ThreadCheck, "problems" | "unchecked" | "migrations">> {
    const unchecked = (why: string) => ({ problems: [], migrations: [], unchecked: why });
    const { registry, storage } = this.#context;
    const { graph_id: id } = row.metadata;
    if (typeof id !== "string") return unchecked("no graph has run on the thread");
    if (!registry.ids.includes(id)) return unchecked(`the graph ${id} is not configured`);
    try {
      const bound = await registry.graph(id, "threads.read", configOf(this.#context, row));
      const { thread_id } = row;
      const { checkpointer } = storage;
      const plan = await this.#plan(row, bound);
      const tuple = plan
        ? plan.converted.tuple
        : await checkpointer.getTuple({ configurable: { thread_id, checkpoint_ns: "" } });
      const migrations = plan?.path.map(({ key }) => key) ?? [];
      if (!tuple) return { problems: [], migrations, unchecked: null };
      const values = (await checkOf(bound, bound.graph, "")).lostIn(tuple);
      const converted = plan && tuplesOf(plan.converted);
      // The state of the root graph is read once.
      const read = (config: GraphConfig) => {
        const namespace = String(config.configurable?.checkpoint_ns);
        if (namespace === "") return Promise.resolve(tuple);
        return converted ? Promise.resolve(converted.get(namespace)) : checkpointer.getTuple(config);
      };
      // Another served graph may have the tasks.
      const shared = row.graphs?.some((other) => other !== id && registry.ids.includes(other));
      const begun: BegunSubgraph[] = [];
      const tasks = shared
        ? []
        : await lostTasks(read, bound.graph, { thread_id }, (subgraph) => begun.push(subgraph));
      for (const subgraph of begun) values.push(...(await valuesLostIn(bound, subgraph, checkOf)));
      const problems = [...tasks.map(problemOf), ...values.map(valueProblem)];
      return { problems, migrations, unchecked: null };
    } catch (error) {
      if (!(error instanceof GraphChangedError)) return unchecked(errorMessage(error));
      const problem = { kind: "migration", place: "", message: error.message } as const;
      return { problems: [problem], migrations: [], unchecked: null };
    }
  }

  /** @throws GraphChangedError if the migration fails */
  async #plan(row: ThreadRow, bound: BoundGraph): Promise<PlannedMigration | undefined> {
    if (!this.#context.migrations) return undefined;
    const { planMigration } = await import("../threads/thread-migration.js");
    return planMigration(this.#context, row, bound, { mayLose: true, writers: row.graphs });
  }

  /**
   * Converts the threads that a migration applies to, last changed first. Can be repeated: converted threads are left out.
   * @param since only threads changed since this time, ISO 8601
   * @param graphId only threads of this graph
   * @param isDryRun whether nothing is stored
   */
  async *migrate({
    since,
    graphId,
    isDryRun,
  }: {
    since?: string;
    graphId?: string;
    isDryRun: boolean;
  }): AsyncGenerator<ThreadMigration> {
    const { registry } = this.#context;
    for await (const { thread_id, updated_at, state_updated_at, metadata } of this.#threads()) {
      if (since !== undefined && updated_at < since) return;
      const { graph_id: id } = metadata;
      if (state_updated_at === null || typeof id !== "string" || !registry.ids.includes(id)) continue;
      if (graphId !== undefined && id !== graphId) continue;
      const migrated = await this.#migrateThread(thread_id, id, isDryRun);
      if (migrated) yield migrated;
    }
  }

  /** Undefined if no migration applies. */
  async #migrateThread(
    thread_id: string,
    graph_id: string,
    isDryRun: boolean,
  ): Promise<ThreadMigration | undefined> {
    const { storage } = this.#context;
    const lease = isDryRun ? undefined : await storage.locks.acquire(thread_id, { wait: false });
    try {
      const row = await storage.threads.get(thread_id);
      return row && (await this.#migrateRow(row, graph_id, lease ?? (isDryRun ? "dry" : "busy")));
    } finally {
      await lease?.release();
    }
  }

  async #migrateRow(
    row: ThreadRow,
    graph_id: string,
    lease: ThreadLease | "dry" | "busy",
  ): Promise<ThreadMigration | undefined> {
    const { thread_id } = row;
    const reader = await readerOf(this.#context, row, { writes: true });
    const to = (await this.#context.registry.versionOf(reader)) ?? "none";
    const found = { thread_id, graph_id, from: versionIn(row.metadata), to, migrations: [], error: null };
    const { planMigration, storeMigration } = await import("../threads/thread-migration.js");
    const writers = await writersWith(this.#context, row, graph_id);
    try {
      const plan = await planMigration(this.#context, row, reader, { mayLose: false, writers });
      if (!plan) return undefined;
      const planned = { ...found, from: plan.from, migrations: plan.path.map(({ key }) => key) };
      if (lease === "dry") return { ...planned, outcome: "pending" };
      if (lease === "busy") return { ...planned, outcome: "busy" };
      await storeMigration(this.#context, row, plan, { lease, writers });
      const snapshot = await latestSnapshot(reader, thread_id);
      const preview = previewOfState(snapshot, await reader.filter(), row.preview);
      await this.#context.storage.threads.update(thread_id, {
        // The thread keeps its place in lists.
        updated_at: row.updated_at,
        mergeMetadata: { graph_version: to },
        ...(preview && { preview }),
      });
      return { ...planned, outcome: "migrated" };
    } catch (error) {
      if (!(error instanceof GraphChangedError)) throw error;
      return { ...found, outcome: "failed", error: error.message };
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

  #runs(status: RunStatus): AsyncGenerator<RunRow, void, undefined> {
    return inPagesByOffset(
      (page) => searchRuns(this.#context.storage, { status, ...page }),
      ({ run_id }) => run_id,
    );
  }
}

/** Compares states with a graph: a bound one, or the one of its subgraphs at this place. */
type CheckOf = (bound: BoundGraph, graph: ServedGraph, place: string) => Promise<StateCheck>;

/** The lost values of a subgraph. Which of the node's graphs wrote them is unknown, so all must reject them. */
async function valuesLostIn(
  bound: BoundGraph,
  { graphs, tuple, path }: BegunSubgraph,
  checkOf: CheckOf,
): Promise<LostValue[]> {
  const lost: LostValue[][] = [];
  for (const [index, graph] of graphs.entries())
    lost.push((await checkOf(bound, graph, `${path} ${index}`)).lostIn(tuple));
  const [first = []] = lost.every(({ length }) => length > 0) ? lost : [];
  return first.map((value) => ({ ...value, path: `${path}|${value.path}` }));
}

/** The checkpoints by their namespaces. */
const tuplesOf = ({ tuple, namespace, children }: StoredGraph): Map<string, CheckpointTuple> =>
  new Map([[namespace, tuple], ...[...children.values()].flatMap((child) => [...tuplesOf(child)])]);

function problemOf({ node, namespace, missing, nodes }: LostTask): VersionProblem {
  const place = namespace === "" ? node : `${pathIn(namespace)}|${node}`;
  return {
    kind: missing,
    place,
    message:
      missing === "node"
        ? `waits in node "${place}", which is gone; the nodes are ${nodes.join(", ")}`
        : `waits for node "${place}" by an edge that is gone`,
  };
}

function shownProblem({ kind, message }: VersionProblem): ThreadVersion["problems"][number] {
  if (kind === "node" || kind === "edge") return { kind, message };
  return kind === "migration"
    ? { kind, message: "a migration that applies to it fails" }
    : { kind: "state", message: "its state has values that the graph cannot read" };
}

const valueProblem = ({ path, missing, message }: LostValue): VersionProblem => ({
  kind: missing,
  place: path,
  message:
    missing === "key"
      ? `holds state key "${path}", which is gone; the graph ${message}`
      : `state "${path}" ${message}`,
});
