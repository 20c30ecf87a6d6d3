/**
 * Converts a stored thread to the current version of its graph, with the migrations of the project. The result is a new
 * checkpoint; the converted one stays in the history, so that a release can be undone (docs/deploys.md).
 */
import { Command } from "@langchain/langgraph";
import type { ChannelVersions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { type GraphConfig, type ServedGraph, subgraphsOf } from "../graphs/graph.js";
import { shownPath } from "../graphs/load-errors.js";
import type { BoundGraph } from "../graphs/registry.js";
import { lostIn } from "../graphs/versions/lost-tasks.js";
import { type FiledMigration, MigrationRefusal } from "../graphs/versions/migration.js";
import { migratedState } from "../graphs/versions/migrated-state.js";
import { renamedPath, renameNodes } from "../graphs/versions/rename-nodes.js";
import { readStoredGraph, type StoredGraph } from "../graphs/versions/stored-graph.js";
import { StateCheck } from "../graphs/versions/stored-state.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { RunCreateRequest } from "../models/run.js";
import { versionIn } from "../models/version.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { RunRow } from "../storage/contract/runs.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import { writesByTask } from "../storage/saver/checkpoint-copy.js";
import { GraphChangedError, GraphServeError } from "../support/errors.js";
import { oneLine } from "../support/errors/thrown.js";
import type { OpsContext } from "../context/context.js";
import { type Origin, withoutOrigin } from "../context/checkpoint-origin.js";
import { scopeOf, writersWith } from "./thread-origin.js";

/** A thread as it will be stored. */
export interface PlannedMigration {
  head: CheckpointTuple;
  /** The version of the thread; null if it has none. */
  from: string | null;
  to: string;
  path: readonly FiledMigration[];
  converted: StoredGraph;
  /** New ids of interrupts by their old ids. */
  interrupts: ReadonlyMap<string, string>;
}

type Bound = Pick<BoundGraph, "id" | "graph" | "version">;

/**
 * Converts the latest checkpoint of a thread in memory. Undefined if no migration applies: the thread has the current
 * version, or none of the migrations starts at its version, or another served graph has written to it.
 * @param mayLose whether open tasks that the graph lacks after the migration are acceptable, as for new input
 * @throws GraphChangedError if a migration fails (`graph_changed`)
 */
export async function planMigration(
  context: OpsContext,
  row: ThreadRow,
  bound: Bound,
  { mayLose, writers }: { mayLose: boolean; writers: readonly string[] | null },
): Promise<PlannedMigration | undefined> {
  const { migrations, registry, storage } = context;
  const to = await registry.versionOf(bound);
  if (!migrations || to === null) return undefined;
  if (writers?.some((other) => other !== bound.id && registry.ids.includes(other))) return undefined;
  const { thread_id } = row;
  const head = await storage.checkpointer.getTuple({ configurable: { thread_id, checkpoint_ns: "" } });
  if (!head || graphOf(head, row) !== bound.id) return undefined;
  // State edits do not store a version. The thread's is then that of its last run.
  const from = versionIn({ ...row.metadata, ...head.metadata });
  let at: FiledMigration | undefined;
  try {
    const path = await migrations.path(bound.id, from, to);
    if (path.length === 0) return undefined;
    [at] = path;
    let converted = await read(context, head);
    let interrupts: ReadonlyMap<string, string> = new Map();
    for (at of path) {
      const next = await applied(context, at, converted, bound.graph);
      converted = next.converted;
      interrupts = chained(interrupts, next.interrupts);
    }
    await requireReadable(converted, bound.graph, { mayLose, path });
    return { head, from, to, path, converted, interrupts };
  } catch (error) {
    throw await refusalOf(error, { graphId: bound.id, threadId: thread_id, at, cwd: migrations.cwd });
  }
}

const graphOf = ({ metadata }: CheckpointTuple, row: ThreadRow): unknown =>
  (({ ...row.metadata, ...metadata }) as { graph_id?: unknown }).graph_id;

async function read({ storage: { checkpointer } }: OpsContext, head: CheckpointTuple): Promise<StoredGraph> {
  const threadId = String(head.config.configurable?.thread_id);
  const namespaces = await checkpointer.namespaces(threadId);
  return readStoredGraph({ threadId, namespaces, read: (config) => checkpointer.getTuple(config) }, head);
}

async function applied(
  { storage: { checkpointer } }: OpsContext,
  { nodes = {}, state }: FiledMigration,
  stored: StoredGraph,
  graph: ServedGraph,
) {
  const interrupts = new Map<string, string>();
  const nextVersion = ({ channel_versions }: CheckpointTuple["checkpoint"]) => {
    const versions = Object.values(channel_versions).filter((version) => typeof version === "number");
    return checkpointer.getNextVersion(Math.max(0, ...versions));
  };
  const withState = state ? await migratedState(stored, state, { graph, nextVersion }) : stored;
  return { converted: renameNodes(withState, { nodes, nextVersion, interrupts }), interrupts };
}

const chained = (first: ReadonlyMap<string, string>, second: ReadonlyMap<string, string>) =>
  first.size === 0 ? second : new Map([...first].map(([old, id]) => [old, second.get(id) ?? id]));

interface Requirements {
  mayLose: boolean;
  path: readonly FiledMigration[];
}

/** @throws MigrationRefusal if the graph cannot continue from the converted checkpoints */
async function requireReadable(
  { tuple, namespace, children }: StoredGraph,
  graph: ServedGraph,
  options: Requirements,
): Promise<void> {
  const last = options.path.at(-1);
  const lost = options.mayLose ? [] : lostIn(graph, tuple, namespace);
  const [task] = lost;
  if (task)
    throw new MigrationRefusal(
      `it leaves the thread in node "${task.node}", which ${task.missing === "node" ? "is gone" : "has lost its edge"}`,
      last,
    );
  if (options.path.some(({ state }) => state)) {
    const [value] = (await StateCheck.of(graph)).lostIn(tuple);
    if (value)
      throw new MigrationRefusal(
        value.missing === "key"
          ? `it leaves the state key "${value.path}", which the graph does not have`
          : `it returns a state that the schema of the graph rejects: "${value.path}" ${value.message}`,
        last,
      );
  }
  for (const child of children.values()) {
    const name = nodeOf(child);
    const graphs = subgraphsOf(graph, name);
    // A graph that the function of the node calls is unknown.
    const results = await Promise.allSettled(graphs.map((inner) => requireReadable(child, inner, options)));
    const [first] = results;
    if (first?.status === "rejected" && results.every(({ status }) => status === "rejected"))
      throw first.reason;
    if (graphs.length === 0 && options.path.some(({ state }) => state) && !options.mayLose)
      throw new MigrationRefusal(
        `it does not convert the state of the graph that node "${name}" calls, which is not declared in \`subgraphs\``,
        last,
      );
  }
}

const nodeOf = ({ path }: StoredGraph): string => path.slice(path.lastIndexOf("|") + 1);

interface Place {
  graphId: string;
  threadId: string;
  /** The migration that was applied. */
  at: FiledMigration | undefined;
  cwd: string;
}

async function refusalOf(error: unknown, { graphId, threadId, at, cwd }: Place): Promise<unknown> {
  // An error of the storage or of the file, not of a migration.
  if (error instanceof GraphServeError) return error;
  const by = (error instanceof MigrationRefusal ? error.by : undefined) ?? at;
  const named = by ? `migration "${by.key}" (${by.place}): ` : "";
  return new GraphChangedError(graphId, threadId, {
    reason: oneLine(named + (error instanceof MigrationRefusal ? error.message : await thrownBy(error, cwd))),
    hint: "fix the migration, or keep the old names until no thread needs them: see docs/deploys.md",
  });
}

/** The error of a user's function, with its location. */
async function thrownBy(error: unknown, cwd: string): Promise<string> {
  const { runFault } = await import("../graphs/run-fault.js");
  const { message, location } = await runFault(error);
  return `\`state\` failed${location ? ` at ${shownPath(location.file, cwd)}:${location.line}` : ""}: ${message}`;
}

/** Stores a converted thread. The root checkpoint is stored last: without it, the thread is as it was. */
export async function storeMigration(
  context: OpsContext,
  row: ThreadRow,
  { head, from, to, path, converted, interrupts }: PlannedMigration,
  { lease, writers }: { lease: ThreadLease; writers: readonly string[] },
): Promise<void> {
  const { checkpointer } = context;
  const { thread_id } = row;
  const origin: Origin = { graphs: writers, scope: scopeOf(context) ?? row.scope };
  const migration = { from, by: path.map(({ key }) => key), interrupts: Object.fromEntries(interrupts) };
  const store = async ({ tuple, children, namespace: checkpoint_ns }: StoredGraph): Promise<void> => {
    for (const child of children.values()) await store(child);
    const { checkpoint, metadata, pendingWrites = [] } = tuple;
    const isRoot = checkpoint_ns === "";
    const { run_id, ...others } = withoutOrigin({ ...metadata }) as JsonObject;
    const place = { thread_id, checkpoint_ns };
    const step = Number(others.step);
    const own = { ...others, graph_version: to, source: "migrate", step, ...(isRoot && { migration }) };
    const written = { configurable: { ...place, checkpoint_id: checkpoint.id } };
    for (const [taskId, writes] of writesByTask(pendingWrites))
      await checkpointer.putWrites(written, writes, taskId);
    await checkpointer.put(
      {
        configurable: { ...place, ...(isRoot && { checkpoint_id: head.checkpoint.id }) },
        // The writer of a checkpoint is the run that can resume from it after a crash.
        ...(typeof run_id === "string" && { metadata: { run_id } }),
      },
      checkpoint,
      own as unknown as NonNullable<CheckpointTuple["metadata"]>,
      isRoot ? changedVersions(head, tuple) : checkpoint.channel_versions,
    );
  };
  await checkpointer.edit({ thread_id, checkpoint_ns: "" }, { origin, lease }, () => store(converted));
}

function changedVersions(before: CheckpointTuple, after: CheckpointTuple): ChannelVersions {
  const known = before.checkpoint.channel_versions;
  return Object.fromEntries(
    Object.entries(after.checkpoint.channel_versions).filter(([name, version]) => known[name] !== version),
  );
}

/** What a run reads: its selected checkpoint, and the answers in its input. */
export interface Use {
  configurable: JsonObject;
  input: unknown;
}

/**
 * Converts a thread before its next use, under its lease, if a migration applies to it. A run that selected the converted
 * checkpoint continues from the new one; answers to its interrupts may name their old ids.
 * @throws GraphChangedError if a migration fails, or for an older checkpoint than the latest (`graph_changed`)
 */
export async function migrateThread<Of extends Use>(
  context: OpsContext,
  row: ThreadRow,
  bound: Bound,
  lease: ThreadLease,
  use: Of,
): Promise<Of> {
  if (!context.migrations || row.state_updated_at === null) return use;
  const writers = await writersWith(context, row, bound.id);
  const mayLose = use.input !== null && !(use.input instanceof Command);
  const selected = use.configurable.checkpoint_id;
  const plan = await planMigration(context, row, bound, { mayLose, writers });
  if (plan) {
    if (selected !== undefined && selected !== plan.head.checkpoint.id)
      throw olderCheckpoint(row, bound, selected);
    await storeMigration(context, row, plan, { lease, writers });
    return converted(use, plan.converted.tuple.checkpoint.id, Object.fromEntries(plan.interrupts));
  }
  return afterMigration(context, row, bound, use);
}

/** A client may still name what it read before the thread was converted. */
async function afterMigration<Of extends Use>(
  context: OpsContext,
  row: ThreadRow,
  bound: Bound,
  use: Of,
): Promise<Of> {
  const { checkpointer } = context.storage;
  const { thread_id } = row;
  const at = (checkpoint_id?: unknown) =>
    checkpointer.getTuple({
      configurable: { thread_id, checkpoint_ns: "", ...(checkpoint_id !== undefined && { checkpoint_id }) },
    } as GraphConfig);
  const selected = use.configurable.checkpoint_id;
  if (selected === undefined && !(use.input instanceof Command)) return use;
  const head = await at();
  const { migration } = { ...head?.metadata } as { migration?: { interrupts?: Record<string, string> } };
  const isConverted = selected !== undefined && selected === head?.parentConfig?.configurable?.checkpoint_id;
  if (head && migration && (selected === undefined || selected === head.checkpoint.id || isConverted))
    return converted(use, head.checkpoint.id, migration.interrupts ?? {});
  if (selected === undefined || selected === head?.checkpoint.id) return use;
  const older = await at(selected);
  const current = await context.registry.versionOf(bound);
  if (!older || current === null || graphOf(older, row) !== bound.id) return use;
  const path = (await context.migrations?.path(bound.id, versionIn(older.metadata), current)) ?? [];
  if (path.length > 0) throw olderCheckpoint(row, bound, selected);
  return use;
}

function converted<Of extends Use>(use: Of, checkpointId: string, interrupts: Record<string, string>): Of {
  const { configurable, input } = use;
  const { checkpoint_id: selected, checkpoint_map: _, ...others } = configurable;
  const moved = selected === undefined ? configurable : { ...others, checkpoint_id: checkpointId };
  return { ...use, configurable: moved, input: withAnswers(input, interrupts) };
}

function withAnswers(input: unknown, interrupts: Record<string, string>): unknown {
  const { resume: answers, update, goto } = (input instanceof Command ? input : {}) as JsonObject;
  if (!isRecord(answers)) return input;
  const entries = Object.entries(answers);
  if (!entries.some(([id]) => Object.hasOwn(interrupts, id))) return input;
  const resume = Object.fromEntries(entries.map(([id, answer]) => [interrupts[id] ?? id, answer]));
  return new Command({ update, goto, resume } as ConstructorParameters<typeof Command>[0]);
}

/**
 * The request of an accepted run with the new names of the nodes at which it is to stop. Otherwise it would not stop there.
 * @throws GraphChangedError if it is unknown which migrations apply (`graph_changed`)
 */
export async function renamedBreakpoints(
  { migrations, registry }: OpsContext,
  { thread_id: threadId, metadata }: Pick<RunRow, "thread_id" | "metadata">,
  request: RunCreateRequest,
): Promise<RunCreateRequest> {
  const { interrupt_before, interrupt_after } = request;
  if (!migrations || (!interrupt_before && !interrupt_after)) return request;
  const graphId = registry.resolve(request.assistant_id);
  const current = await registry.versionOf(await registry.reader(graphId));
  if (current === null) return request;
  try {
    const path = await migrations.path(graphId, versionIn(metadata), current);
    const renamed = (name: string) =>
      path
        .reduce((at, { nodes = {} }) => renamedPath(at, nodes), name.replaceAll(":", "|"))
        .replaceAll("|", ":");
    const all = (names: RunCreateRequest["interrupt_before"]) =>
      Array.isArray(names) ? names.map(renamed) : names;
    return {
      ...request,
      interrupt_before: all(interrupt_before),
      interrupt_after: all(interrupt_after),
    };
  } catch (error) {
    throw await refusalOf(error, { graphId, threadId, at: undefined, cwd: migrations.cwd });
  }
}

const olderCheckpoint = ({ thread_id }: ThreadRow, { id }: Bound, checkpoint: unknown) =>
  new GraphChangedError(id, thread_id, {
    reason: `checkpoint "${String(checkpoint)}" is older than the migration of the thread, which converts only the latest checkpoint`,
    hint: "run from the latest checkpoint, or fork the thread at the older one: graph-serve fork <thread> --checkpoint <id>",
  });
