/** The file of LangGraph's official SqliteSaver, as a read-only storage: the source of `migrate copy --from sqlite-saver://`. */
import { existsSync } from "node:fs";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointTuple,
  ERROR,
  INTERRUPT,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import type { Database } from "better-sqlite3";
import { v5 } from "uuid";
import { ConfigError, StorageUnavailableError } from "../../support/errors.js";
import { canonicalUuid } from "../../support/ids.js";
import type { Storage, StorageOptions } from "../contract/storage.js";
import type { ThreadRow } from "../contract/threads.js";
import { wrapCheckpointer } from "../saver/wrap.js";
import { checkpointRef } from "../saver/ref.js";
import { addSends, tupleOf } from "../saver/tuple.js";
import { textSerializer } from "../saver/serializer.js";
import { explainSqlite } from "./errors.js";
import { IN_MEMORY, type SqliteOptions, sqlitePath } from "./location.js";
import { loadSqliteDriver, openError, openUnchanged } from "./open.js";

/** Metadata key of a thread whose id in the file is not a UUID. */
export const ORIGINAL_ID = "original_thread_id";

/**
 * Threads without runs, whose graph is `checkpointer_options.graph`. Ids that are not UUIDs become UUIDs, always the same.
 * Everything is read from one snapshot of the file, so an application may write to it meanwhile.
 * @throws ConfigError if `checkpointer_uri` does not name a file (`config_invalid`)
 * @throws StorageUnavailableError if the file cannot be read, or SqliteSaver did not write it (`storage_unavailable`)
 */
export async function openOfficialSqlite(
  options: SqliteOptions & { checkpointer_options: { graph?: string } },
  openRows: (options: StorageOptions) => Promise<Storage>,
): Promise<Storage> {
  const location = pathOf(options);
  const driver = await loadSqliteDriver(options);
  if (!existsSync(location)) throw unusable(`there is no file ${location}`);
  let db: Database | undefined;
  try {
    db = openUnchanged(location, driver);
    db.exec("BEGIN");
    assertOfficial(db, location);
    const { graph = "" } = options.checkpointer_options;
    const reader = new OfficialReader(db, location);
    const { items: _1, timers: _2, usage: _3, ...rows } = await openRows(options);
    for (const id of reader.originals.keys()) await rows.threads.insert(await reader.threadRow(id, graph));
    const renamed = [...reader.originals].filter(([id, original]) => id !== original.toLowerCase());
    const opened = db;
    return {
      ...rows,
      scheme: "sqlite-saver",
      location,
      durable: true,
      notices: renamed.length === 0 ? [] : [noticeOf(renamed.length)],
      checkpointer: wrapCheckpointer(reader, {
        keepOnly: () => Promise.reject(readOnly()),
        namespaces: async (threadId) => reader.namespaces(threadId),
        explain: explainSqlite,
      }),
      close: async () => void opened.close(),
    };
  } catch (error) {
    db?.close();
    if ((error as { code?: unknown }).code === "SQLITE_NOTADB")
      throw unusable(`the file is not a SQLite database: ${location}`);
    throw openError(location, error);
  }
}

function pathOf(options: SqliteOptions): string {
  const file = options.checkpointer_uri?.replace(/^sqlite-saver:(\/\/)?/i, "") ?? "";
  if (file !== "" && file !== IN_MEMORY) return sqlitePath({ ...options, checkpointer_uri: file });
  throw new ConfigError("sqlite-saver needs the path of a file", {
    hint: "graph-serve migrate copy --from sqlite-saver://./checkpoints.db",
  });
}

const unusable = (message: string, hint = "name the file that your application passes to SqliteSaver") =>
  new StorageUnavailableError(message, { hint });

const readOnly = () => unusable("a file of SqliteSaver is only read", "copy it to another storage first");

const noticeOf = (count: number): string =>
  `${count === 1 ? "1 thread id is not a UUID and was" : `${count} thread ids are not UUIDs and were`} replaced; the metadata key ${ORIGINAL_ID} has the original`;

const COLUMNS = {
  checkpoints: "thread_id checkpoint_ns checkpoint_id parent_checkpoint_id type checkpoint metadata",
  writes: "thread_id checkpoint_ns checkpoint_id task_id idx channel type value",
};

function assertOfficial(db: Database, location: string): void {
  const columnsOf = db.prepare("SELECT name FROM pragma_table_info(?)").pluck();
  const isComplete = Object.entries(COLUMNS).every(([table, names]) => {
    const held = columnsOf.all(table);
    return names.split(" ").every((name) => held.includes(name));
  });
  if (isComplete) return;
  const isOurs = columnsOf.all("gs_schema").length > 0;
  throw unusable(
    `the database holds no checkpoints of SqliteSaver: ${location}`,
    isOurs ? `it is a database of graph-serve: use --from ${location}` : undefined,
  );
}

interface OfficialRow {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string;
  parent_checkpoint_id: string | null;
  type: string | null;
  checkpoint: Buffer;
  metadata: Buffer;
}

interface OfficialWrite {
  task_id: string;
  channel: string;
  type: string | null;
  value: Buffer | null;
}

/** Channels whose value starts a task in the next superstep. */
const STARTS_TASK = /^(branch:.*|__start__)$/;

class OfficialReader extends BaseCheckpointSaver {
  /** Ids of the threads in the file, by their id here. */
  readonly originals: ReadonlyMap<string, string>;
  readonly #location: string;
  readonly #sql;

  constructor(db: Database, location: string) {
    super();
    this.serde = textSerializer(this.serde);
    this.#location = location;
    const place = "thread_id = ? AND checkpoint_ns = ?";
    this.#sql = {
      one: db.prepare<string[], OfficialRow>(
        `SELECT * FROM checkpoints WHERE ${place} AND checkpoint_id = ?`,
      ),
      // In SQLite, every text is less than a blob.
      page: db.prepare<[string, string, string | null, number], OfficialRow>(
        `SELECT * FROM checkpoints WHERE ${place} AND checkpoint_id < coalesce(?, x'') ORDER BY checkpoint_id DESC LIMIT ?`,
      ),
      first: db.prepare<string[], OfficialRow>(
        "SELECT * FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_ns, checkpoint_id LIMIT 1",
      ),
      writes: db.prepare<string[], OfficialWrite>(
        `SELECT task_id, channel, type, value FROM writes WHERE ${place} AND checkpoint_id = ? ORDER BY task_id, idx`,
      ),
      namespaces: db
        .prepare<[string], string>("SELECT DISTINCT checkpoint_ns FROM checkpoints WHERE thread_id = ?")
        .pluck(),
    };
    const ids = db.prepare<[], string>("SELECT DISTINCT thread_id FROM checkpoints").pluck().all();
    const originals = new Map<string, string>();
    for (const id of ids) {
      const own = id.toLowerCase();
      const isUuid = canonicalUuid(own) === own && !originals.has(own);
      originals.set(isUuid ? own : v5(`sqlite-saver/${id}`, v5.URL), id);
    }
    this.originals = originals;
  }

  async threadRow(thread_id: string, graph: string): Promise<ThreadRow> {
    const original = this.originals.get(thread_id) as string;
    const first = await this.#tuple(this.#sql.first.get(original) as OfficialRow);
    const latest = (await this.getTuple({ configurable: { thread_id } })) ?? first;
    const isRenamed = thread_id !== original.toLowerCase();
    const updated_at = new Date(latest.checkpoint.ts).toISOString();
    return {
      ...{ thread_id, created_at: new Date(first.checkpoint.ts).toISOString(), updated_at },
      state_updated_at: updated_at,
      metadata: { graph_id: graph, ...(isRenamed && { [ORIGINAL_ID]: original }) },
      ...{ scope: null, graphs: [graph], config: {}, ttl: null, ...restOf(latest) },
    };
  }

  namespaces(threadId: string): string[] {
    return this.#sql.namespaces.all(this.originals.get(threadId) ?? "");
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, checkpoint_ns, checkpoint_id } = checkpointRef(config);
    const original = this.originals.get(thread_id) ?? "";
    const row = checkpoint_id
      ? this.#sql.one.get(original, checkpoint_ns, checkpoint_id)
      : this.#sql.page.get(original, checkpoint_ns, null, 1);
    return row && this.#tuple(row, thread_id);
  }

  /** Ignores `filter`: a copy lists all checkpoints. */
  async *list(
    config: RunnableConfig,
    { limit = -1, before }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id, checkpoint_ns } = checkpointRef(config);
    const end = (before?.configurable?.checkpoint_id as string | undefined) ?? null;
    const rows = this.#sql.page.all(this.originals.get(thread_id) ?? "", checkpoint_ns, end, limit);
    for (const row of rows) yield await this.#tuple(row, thread_id);
  }

  put = () => Promise.reject(readOnly());
  putWrites = () => Promise.reject(readOnly());
  deleteThread = () => Promise.reject(readOnly());

  async #tuple(row: OfficialRow, thread_id = row.thread_id): Promise<CheckpointTuple> {
    const { checkpoint_ns, checkpoint_id: id, parent_checkpoint_id: parent, type } = row;
    const load = (type: string | null, data: Buffer | null) => this.#load(row, type, data);
    const writes = this.#sql.writes.all(row.thread_id, checkpoint_ns, id);
    const pendingWrites = await Promise.all(
      writes.map(async ({ task_id, channel, type, value }): Promise<[string, string, unknown]> => [
        task_id,
        channel,
        await load(type, value),
      ]),
    );
    const checkpoint = (await load(type, row.checkpoint)) as Checkpoint;
    if (checkpoint.v < 4 && parent !== null) {
      const sends = this.#sql.writes
        .all(row.thread_id, checkpoint_ns, parent)
        .filter(({ channel }) => channel === TASKS);
      addSends(checkpoint, await Promise.all(sends.map(({ type, value }) => load(type, value))));
    }
    const metadata = await load(type, row.metadata);
    return tupleOf({ thread_id, checkpoint_ns }, { id, parent, checkpoint, metadata, pendingWrites });
  }

  /** @throws StorageUnavailableError if the value cannot be read (`storage_unavailable`) */
  async #load(row: OfficialRow, type: string | null, data: Buffer | null): Promise<unknown> {
    const at = `checkpoint ${row.checkpoint_id} of thread ${row.thread_id} in ${this.#location}`;
    if (type === "msgpack")
      throw unusable(`LangGraph for Python wrote ${at}`, "only files of LangGraph.js can be copied");
    try {
      return (await this.serde.loadsTyped(type ?? "json", data ?? "")) as unknown;
    } catch (cause) {
      throw new StorageUnavailableError(`a value cannot be read: ${at}`, {
        hint: "restore the file from a backup, or delete this thread from it",
        cause,
      });
    }
  }
}

/** The status of a thread with this latest checkpoint. A static breakpoint leaves tasks that did not start. */
function restOf({ checkpoint, pendingWrites = [] }: CheckpointTuple): Pick<ThreadRow, "status" | "error"> {
  const failed = pendingWrites.find(([, channel]) => channel === ERROR);
  if (failed) {
    const { message } = (failed[2] ?? {}) as { message?: unknown };
    return { status: "error", error: typeof message === "string" ? message : "unknown error" };
  }
  const { [TASKS]: sends, ...values } = checkpoint.channel_values;
  const isStopped =
    pendingWrites.some(([, channel]) => channel === INTERRUPT) ||
    (Array.isArray(sends) && sends.length > 0) ||
    Object.keys(values).some((channel) => STARTS_TASK.test(channel));
  return { status: isStopped ? "interrupted" : "idle", error: null };
}
