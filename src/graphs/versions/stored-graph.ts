/** The latest checkpoint of a thread, with the checkpoints of the subgraphs that its next tasks have begun. */
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { isRecord } from "../../models/common.js";
import type { GraphConfig } from "../graph.js";
import { hasWrites, namespaceOf, openTasks, type OpenTask } from "../open-tasks.js";
import { MigrationRefusal } from "./migration.js";

export interface StoredGraph {
  tuple: CheckpointTuple;
  /** Empty for the root graph. */
  namespace: string;
  /** Names of the nodes that lead here, separated by `|`; empty for the root graph. */
  path: string;
  /** Subgraphs by the id of their task. */
  children: ReadonlyMap<string, StoredGraph>;
  /** Names of the tasks whose subgraphs keep their checkpoints from task to task (`checkpointer: true`). */
  stateful: readonly string[];
}

interface Reader {
  threadId: string;
  read: (config: GraphConfig) => Promise<CheckpointTuple | undefined>;
  /** Namespaces with checkpoints. */
  namespaces: readonly string[];
}

/** Version of checkpoints that LangGraph 1 writes. */
const FORMAT = 4;

export const pathOf = (parent: string, name: string): string => (parent === "" ? name : `${parent}|${name}`);

/** @throws MigrationRefusal for checkpoints that cannot be converted */
export async function readStoredGraph(
  reader: Reader,
  tuple: CheckpointTuple,
  namespace = "",
  path = "",
): Promise<StoredGraph> {
  requireConvertible(tuple);
  const children = new Map<string, StoredGraph>();
  const stateful: string[] = [];
  for (const task of openTasks(tuple)) {
    if (hasWrites(tuple, task)) continue;
    const place = namespaceOf(namespace, task);
    if (
      reader.namespaces.some(
        (other) => other.startsWith(`${place}|`) && /^\d+$/.test(segmentAfter(other, place)),
      )
    )
      throw new MigrationRefusal(`node "${pathOf(path, task.name)}" calls several subgraphs`);
    const child = await readChild(reader, task, place, path);
    if (child) children.set(task.id, child);
    if (reader.namespaces.includes(pathOf(namespace, task.name))) stateful.push(task.name);
  }
  return { tuple, namespace, path, children, stateful };
}

const segmentAfter = (namespace: string, place: string): string =>
  namespace.slice(place.length + 1).split("|")[0] ?? "";

async function readChild(
  reader: Reader,
  task: OpenTask,
  checkpoint_ns: string,
  path: string,
): Promise<StoredGraph | undefined> {
  const { threadId: thread_id, namespaces, read } = reader;
  if (!namespaces.includes(checkpoint_ns)) return undefined;
  const tuple = await read({ configurable: { thread_id, checkpoint_ns } });
  return tuple && readStoredGraph(reader, tuple, checkpoint_ns, pathOf(path, task.name));
}

function requireConvertible({ checkpoint, metadata }: CheckpointTuple): void {
  if (checkpoint.v < FORMAT)
    throw new MigrationRefusal(
      "the thread was last run by an early release of LangGraph: run it there once more",
    );
  const { counters_since_delta_snapshot: deltas } = { ...metadata } as Record<string, unknown>;
  if (isRecord(deltas) && Object.keys(deltas).length > 0)
    throw new MigrationRefusal(`the state keys ${Object.keys(deltas).join(", ")} are stored as differences`);
}
