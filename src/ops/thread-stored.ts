/** A thread's checkpoints as they are stored, written into files and read from them: another storage goes on from these. */
import type { Checkpoint, CheckpointMetadata, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { OutputFilter } from "../graphs/output-filter.js";
import { fromStored, toStored, visibleCheckpoint } from "../graphs/stored-values.js";
import { byKey, type JsonObject } from "../models/common.js";
import type { StoredCheckpoint } from "../models/thread-file.js";
import { factsOfCheckpoint } from "../storage/copy/digest.js";
import { UniqueVersions } from "../storage/copy/versions.js";
import type { Checkpointer, ThreadRow } from "../storage/storage.js";
import type { OpsContext } from "./context.js";
import { graphOf } from "./thread-state.js";

/** Namespace by namespace, the root first; oldest first in each. One is held at a time. */
export async function* storedCheckpoints(
  context: OpsContext,
  row: ThreadRow,
): AsyncGenerator<StoredCheckpoint> {
  const { checkpointer } = context.storage;
  const { filter } = await graphOf(context, row);
  for (const checkpoint_ns of await checkpointer.namespaces(row.thread_id)) {
    const place = { thread_id: row.thread_id, checkpoint_ns };
    const versions = new UniqueVersions();
    const ids: string[] = [];
    for await (const { checkpoint } of checkpointer.list({ configurable: place })) ids.push(checkpoint.id);
    for (const checkpoint_id of ids.reverse()) {
      const tuple = await checkpointer.getTuple({ configurable: { ...place, checkpoint_id } });
      if (!tuple) continue;
      // Another backend may keep values by their version.
      const checkpoint = versions.apply(tuple, await factsOfCheckpoint(checkpointer.serde, tuple));
      yield await storedOf({ ...tuple, checkpoint }, filter);
    }
  }
}

async function storedOf(
  { checkpoint, config, metadata, parentConfig, pendingWrites = [] }: CheckpointTuple,
  filter: OutputFilter,
): Promise<StoredCheckpoint> {
  const { id, v, ts, channel_values, channel_versions, versions_seen } = checkpoint;
  // A value without a version is what a fresh graph begins with; not every backend keeps it.
  const values = Object.entries((await toStored(channel_values)) as JsonObject).filter(([channel]) =>
    Object.hasOwn(channel_versions, channel),
  );
  const writes = (await toStored(pendingWrites)) as StoredCheckpoint["writes"];
  const stored = {
    checkpoint_ns: String(config.configurable?.checkpoint_ns ?? ""),
    checkpoint_id: id,
    parent_checkpoint_id: (parentConfig?.configurable?.checkpoint_id as string | undefined) ?? null,
    v,
    ts,
    metadata: byKey((await toStored(metadata ?? {})) as JsonObject),
    channel_values: Object.fromEntries(values.sort(([a], [b]) => inOrder(a, b))),
    channel_versions: byKey(channel_versions),
    versions_seen: byKey(versions_seen),
    // Tasks end in any order; what each of them wrote keeps its own.
    writes: writes.sort(([a], [b]) => inOrder(a, b)),
  };
  return visibleCheckpoint(stored, filter);
}

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Store a checkpoint of a file.
 * @throws InvalidRequestError when it holds what no checkpoint of a thread holds (`invalid_request`)
 */
export async function putStored(
  checkpointer: Checkpointer,
  threadId: string,
  stored: StoredCheckpoint,
  runIds: ReadonlyMap<unknown, string>,
): Promise<void> {
  const { checkpoint_ns, checkpoint_id: id, parent_checkpoint_id, v, ts } = stored;
  const { channel_versions, versions_seen } = stored;
  const loc = ["checkpoints", id];
  const channel_values = (await fromStored(stored.channel_values, loc)) as Checkpoint["channel_values"];
  const writes = (await fromStored(stored.writes, loc)) as [string, string, unknown][];
  const metadata = (await fromStored(stored.metadata, loc)) as JsonObject;
  const place = { thread_id: threadId, checkpoint_ns };
  await checkpointer.store(
    {
      config: { configurable: { ...place, checkpoint_id: id } },
      checkpoint: { v, id, ts, channel_values, channel_versions, versions_seen },
      metadata: ofThread(metadata, threadId, runIds) as unknown as CheckpointMetadata,
      pendingWrites: writes,
      ...(parent_checkpoint_id !== null && {
        parentConfig: { configurable: { ...place, checkpoint_id: parent_checkpoint_id } },
      }),
    },
    channel_versions,
  );
}

/** What metadata says of the thread and the run, under the ids that these have here. */
function ofThread(metadata: JsonObject, threadId: string, runIds: ReadonlyMap<unknown, string>): JsonObject {
  const { thread_id, run_id } = metadata;
  return {
    ...metadata,
    ...(thread_id !== undefined && { thread_id: threadId }),
    ...(run_id !== undefined && { run_id: runIds.get(run_id) ?? run_id }),
  };
}
