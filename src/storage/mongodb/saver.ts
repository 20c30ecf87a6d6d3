import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
  SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { MongoDBSaver } from "@langchain/langgraph-checkpoint-mongodb";
import type { Collection, Db, Document, FindOptions, MongoClient } from "mongodb";
import type { CheckpointKey } from "../saver/wrap.js";
import { requiredCheckpointRef, checkpointRef } from "../saver/ref.js";
import { type HeldRun, heldRun, type HeldRuns } from "../saver/held-run.js";
import { numbered } from "../saver/writes.js";
import { RunTakenError } from "../../support/errors.js";
import { claimHead, deleteHeads } from "./heads.js";
import { OtherChannels } from "./other-channels.js";
import { collectionsOf } from "./rows.js";
import type { MongodbDriver } from "./schema.js";
import { tooLarge, VALUE_LIMIT } from "./errors.js";

/** The default collections of the official saver, so that both savers can use the same data. */
const CHECKPOINTS = "checkpoints";
const WRITES = "checkpoint_writes";

const ONLY_IDS: FindOptions = { projection: { checkpoint_id: 1 } };

/**
 * The official saver on a migrated database, adapted to store any metadata and writes and to report values that are too
 * large.
 */
export function createSaver(
  driver: MongodbDriver,
  client: MongoClient,
  db: Db,
  held: HeldRuns = new Map(),
): MongoDBSaver {
  const saver = new (withAnyMetadata(driver.MongoDBSaver, db, held))({ client });
  saver.serde = boundedSerializer(saver.serde);
  return saver;
}

/** Create the saver's indexes. Its `setup` returns errors in a list instead of throwing. */
export async function setUp(saver: MongoDBSaver): Promise<void> {
  const [error] = await saver.setup();
  if (error !== undefined) throw error;
}

/**
 * A saver that makes only scalar metadata with plain names searchable. The official saver stores all metadata as fields,
 * but servers reject names that start with "$" and read names with a full stop as paths. The metadata itself is stored in
 * full. Writes are numbered as in all our savers: the official saver loses writes to a channel named "constructor".
 * Channels of other graphs on the thread keep their values (./other-channels.ts).
 */
function withAnyMetadata(Saver: typeof MongoDBSaver, db: Db, held: HeldRuns): typeof MongoDBSaver {
  return class extends Saver {
    protected override db = withReadOptions(db);
    readonly #others = new OtherChannels(this.db.collection(CHECKPOINTS), this);

    override async put(
      config: RunnableConfig,
      known: Checkpoint,
      metadata: CheckpointMetadata,
      newVersions: ChannelVersions = {},
    ): Promise<RunnableConfig> {
      const { checkpoint_id: parent, ...ref } = checkpointRef(config);
      const checkpoint =
        parent === undefined
          ? known
          : await this.#others.added(known, newVersions, { ...ref, checkpoint_id: parent });
      const channels = Object.keys(checkpoint.channel_values);
      const [[type, checkpointBytes], [, metadataBytes]] = await Promise.all([
        this.serde.dumpsTyped(checkpoint),
        this.serde.dumpsTyped(metadata),
      ]);
      const fields = {
        parent_checkpoint_id: parent,
        type,
        checkpoint: checkpointBytes,
        channels,
        metadata: metadataBytes,
        metadata_search: searchable(metadata),
      };
      const key = { ...ref, checkpoint_id: checkpoint.id };
      const isStored = async (checkpoint_id: string) =>
        (await this.db.collection(CHECKPOINTS).findOne({ ...ref, checkpoint_id }, ONLY_IDS)) !== null;
      const [claim, requirement] = await Promise.allSettled([
        claimHead(db, config, ref, checkpoint.id, isStored),
        requireHeld(db, heldRun(held, config)),
      ]);
      if (requirement.status === "rejected") {
        if (claim.status === "fulfilled") await claim.value();
        throw requirement.reason;
      }
      if (claim.status === "rejected") throw claim.reason;
      await this.db.collection(CHECKPOINTS).updateOne(key, { $set: fields }, { upsert: true });
      this.#others.remember(key, channels);
      return { configurable: { ...ref, checkpoint_id: checkpoint.id } };
    }

    override deleteThread(threadId: string): Promise<void> {
      return deleteCheckpoints(db, threadId);
    }

    override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
      const operations = await writeOperations(this.serde, config, writes, taskId);
      await requireHeld(db, heldRun(held, config));
      if (operations.length > 0) await this.db.collection(WRITES).bulkWrite(operations);
    }
  };
}

async function writeOperations(
  serde: SerializerProtocol,
  config: RunnableConfig,
  writes: PendingWrite[],
  taskId: string,
) {
  const ref = requiredCheckpointRef(config);
  const { writes: own, replace } = numbered(writes);
  const operations = own.map(async ({ idx, channel, value }) => {
    const [type, bytes] = await serde.dumpsTyped(value);
    const fields = { channel, type, value: bytes };
    const update = replace ? { $set: fields } : { $setOnInsert: fields };
    return { updateOne: { filter: { ...ref, task_id: taskId, idx }, update, upsert: true } };
  });
  return Promise.all(operations);
}

/**
 * The check and the write are two calls: if a run is taken over in between, a write of the previous process may still be
 * stored. ./heads.ts ensures that its checkpoint has a smaller id than those that follow.
 * @throws RunTakenError if the run has ended or belongs to another holder (`run_failed`)
 */
async function requireHeld(db: Db, run: HeldRun | undefined): Promise<void> {
  if (!run) return;
  const { run_id: _id, ...holder } = run;
  const found = await collectionsOf(db).runs.findOne({ _id, ...holder, status: "running" });
  if (!found) throw new RunTakenError(_id);
}

/**
 * The database with read options for the saver. A list may be consumed slowly, so the timeout applies to each iteration
 * instead of the whole list. Writes are sorted, because the server's order is undefined.
 */
function withReadOptions(db: Db): Db {
  const options: FindOptions = db.timeoutMS === undefined ? {} : { timeoutMode: "iteration" };
  const collection = (name: string): Collection => {
    const inner = db.collection(name);
    const find = (filter: Document) => {
      const found = inner.find(filter, options);
      return name === WRITES ? found.sort({ task_id: 1, idx: 1 }) : found;
    };
    return Object.assign(Object.create(inner) as Collection, { find });
  };
  return Object.assign(Object.create(db) as Db, { collection });
}

function searchable(metadata: object): Document {
  return Object.fromEntries(
    Object.entries(metadata).filter(
      ([key, value]) => /^[a-z_]\w*$/i.test(key) && (value === null || typeof value !== "object"),
    ),
  );
}

/** Rejects values that are too large for a document here, where the error can report their size. */
function boundedSerializer(inner: SerializerProtocol): SerializerProtocol {
  return {
    async dumpsTyped(value: unknown) {
      const dumped = await inner.dumpsTyped(value);
      if (dumped[1].byteLength > VALUE_LIMIT) throw tooLarge(dumped[1].byteLength);
      return dumped;
    },
    // The driver returns bytes as a Buffer, but the stored value was a plain Uint8Array.
    loadsTyped: async (type, data): Promise<unknown> =>
      inner.loadsTyped(type, typeof data === "string" ? data : new Uint8Array(data)),
  };
}

/**
 * See `WrapOptions.keepOnly`. Not atomic, but a crash between the steps is harmless: writes without a checkpoint are never
 * read, and a missing parent ends the history.
 */
export async function keepOnly(
  db: Db,
  thread_id: string,
  keep: readonly CheckpointKey[],
  newest: readonly CheckpointKey[],
): Promise<void> {
  if (newest.length === 0) return;
  const deleted = (field: string) => ({
    thread_id,
    ...noneOf(field, keep),
    $or: newest.map(({ checkpoint_ns, checkpoint_id }) => ({
      checkpoint_ns,
      [field]: { $lte: checkpoint_id },
    })),
  });
  const others = deleted("checkpoint_id");
  await db.collection(CHECKPOINTS).deleteMany(others);
  await db.collection(WRITES).deleteMany(others);
  await db
    .collection(CHECKPOINTS)
    .updateMany(deleted("parent_checkpoint_id"), { $unset: { parent_checkpoint_id: "" } });
}

export async function deleteCheckpoints(db: Db, thread_id: string): Promise<void> {
  for (const name of [CHECKPOINTS, WRITES]) await db.collection(name).deleteMany({ thread_id });
  await deleteHeads(db, thread_id);
}

/** Namespaces of a thread's checkpoints, read without the checkpoints themselves. */
export async function namespacesOf(db: Db, thread_id: string): Promise<string[]> {
  const found = new Set<string>();
  const names = db.collection(CHECKPOINTS).find({ thread_id }, { projection: { checkpoint_ns: 1 } });
  for await (const { checkpoint_ns } of names) found.add(String(checkpoint_ns));
  return [...found];
}

/** The condition that the id in `field` is not the id of one of these checkpoints. */
function noneOf(field: string, keys: readonly CheckpointKey[]): Document {
  if (keys.length === 0) return {};
  const byNamespace = new Map<string, string[]>();
  for (const { checkpoint_ns, checkpoint_id } of keys) {
    const ids = byNamespace.get(checkpoint_ns);
    if (ids) ids.push(checkpoint_id);
    else byNamespace.set(checkpoint_ns, [checkpoint_id]);
  }
  return { $nor: [...byNamespace].map(([checkpoint_ns, ids]) => ({ checkpoint_ns, [field]: { $in: ids } })) };
}
