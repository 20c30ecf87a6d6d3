import { GraphServeError, RunTakenError, ThreadChangedError } from "../../support/errors.js";
import type { HeldRun } from "../saver/saver-parts.js";
import type { PostgresPool } from "./pool.js";
import { storableJson } from "./rows.js";
import { storeBatch } from "./saver-sql.js";

interface Request {
  threadId: string;
  entries: Entries;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Statements under way at once: a further one would rather carry fewer entries than store them sooner. */
const LANES = 3;

/**
 * Stores checkpoints and writes. What comes while statements are under way goes together into the next: under load one
 * round trip and one commit serve many runs. A call resolves when what it asked for is committed, never before; those
 * of one thread are committed in their order.
 */
export class PostgresWriter {
  readonly #pool: PostgresPool;
  readonly #sql: string;
  #waiting: Request[] = [];
  #underWay = 0;
  readonly #busyThreads = new Set<string>();

  constructor(pool: PostgresPool, schema: string) {
    this.#pool = pool;
    this.#sql = storeBatch(schema);
  }

  store(threadId: string, entries: Entries): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ threadId, entries, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#underWay >= LANES || this.#waiting.length === 0) return;
    const [batch, taken] = this.#take();
    if (taken.length > 0) void this.#send(batch, taken);
  }

  /** What fits into one statement; a thread's requests wait for those of it that are under way. */
  #take(): [Batch, Request[]] {
    const batch = new Batch();
    const taken: Request[] = [];
    const left: Request[] = [];
    const passedOver = new Set(this.#busyThreads);
    for (const request of this.#waiting) {
      if (!passedOver.has(request.threadId) && batch.add(request.entries)) taken.push(request);
      else {
        passedOver.add(request.threadId);
        left.push(request);
      }
    }
    this.#waiting = left;
    return [batch, taken];
  }

  async #send(batch: Batch, taken: readonly Request[]): Promise<void> {
    const threads = new Set(taken.map(({ threadId }) => threadId));
    for (const threadId of threads) this.#busyThreads.add(threadId);
    this.#underWay += 1;
    try {
      await this.#store(batch, taken);
    } finally {
      this.#underWay -= 1;
      for (const threadId of threads) this.#busyThreads.delete(threadId);
      this.#next();
    }
  }

  async #store(batch: Batch, taken: readonly Request[]): Promise<void> {
    try {
      const stored = new Stored(await this.#pool.query<StoredRow>(this.#sql, batch.parameters));
      for (const { threadId, entries, resolve, reject } of taken) {
        const refusal = stored.refusalOf(threadId, entries);
        if (refusal) reject(refusal);
        else resolve();
      }
    } catch (error) {
      if (taken.length > 1 && isOfTheServer(error)) await this.#storeOneByOne(taken);
      else for (const { reject } of taken) reject(error);
    }
  }

  /** One request that the server refuses must not fail those that happened to be with it. */
  async #storeOneByOne(taken: readonly Request[]): Promise<void> {
    for (const request of taken) {
      const batch = new Batch();
      batch.add(request.entries);
      await this.#store(batch, [request]);
    }
  }
}

/** Whether the server answered: then it stored nothing of the statement. */
function isOfTheServer(error: unknown): boolean {
  const cause = error instanceof GraphServeError ? error.cause : error;
  return typeof cause === "object" && cause !== null && "severity" in cause;
}

interface StoredRow {
  kind: "run" | "edit" | "checkpoint";
  id: string;
  version: string | null;
}

/** What a statement says of what it has stored. */
class Stored {
  readonly #runs = new Set<string>();
  readonly #checkpoints = new Set<string>();
  readonly #versions = new Map<string, string | null>();

  constructor(rows: readonly StoredRow[]) {
    for (const { kind, id, version } of rows) {
      if (kind === "run") this.#runs.add(id);
      else if (kind === "checkpoint") this.#checkpoints.add(id);
      else this.#versions.set(id, version);
    }
  }

  /** Why nothing of these entries was stored; undefined if they were. Notes the new version of an edited thread. */
  refusalOf(threadId: string, { run, edit, checkpoints }: Entries): Error | undefined {
    if (run && !this.#runs.has(run.run_id)) return new RunTakenError(run.run_id);
    if (edit) {
      const version = this.#versions.get(threadId);
      if (version == null) return new ThreadChangedError(threadId);
      edit.version = version;
    }
    const isStored = checkpoints.every(({ id }) => this.#checkpoints.has(id));
    return isStored ? undefined : new ThreadChangedError(threadId);
  }
}

/** The version of a thread's row as an edit knows it. */
export interface EditGuard {
  version: string;
}

// What one statement of the checkpointer stores.

/** A serialised value; without bytes it stands for an empty slot. */
export interface Serialized {
  type: string;
  bytes: Uint8Array | undefined;
}

interface CheckpointEntry {
  thread: string;
  ns: string;
  id: string;
  parent: string | undefined;
  /** The greatest id in its namespace that its writer knows; undefined if it did not say. */
  known: string | undefined;
  /** JSON. */
  checkpoint: string;
  /** JSON. */
  metadata: string;
  values: { channel: string; version: string; value: Serialized }[];
}

interface WriteEntry {
  thread: string;
  ns: string;
  id: string;
  task: string;
  idx: number;
  channel: string;
  value: Serialized;
  /** Whether it takes the place of what is stored under its key. */
  replace: boolean;
}

/** What a call asks to be stored: one checkpoint, or the writes of one task. */
interface Entries {
  /** Stored only while the run is this holder's. */
  run: HeldRun | undefined;
  /** Stored only while the thread's row is of this version. */
  edit: EditGuard | undefined;
  checkpoints: CheckpointEntry[];
  writes: WriteEntry[];
}

/** Bytes after which a statement takes no more in. */
const FULL = 1_000_000;

/** Entries that fit into one statement: no two of them have one key, and together they are of bearable size. */
class Batch {
  readonly #keys = new Set<string>();
  readonly #checkpoints: string[] = [];
  readonly #values: string[] = [];
  readonly #keptWrites: string[] = [];
  readonly #replacedWrites: string[] = [];
  readonly #bytes: Uint8Array[] = [];
  readonly #runs = new Map<string, HeldRun>();
  readonly #edits: string[] = [];
  #end = 0;

  /** Take entries in, all of them; false when a key of theirs is taken or the batch is full, and then none. */
  add({ run, edit, checkpoints, writes }: Entries): boolean {
    if (this.#end >= FULL) return false;
    const other = run && this.#runs.get(run.run_id);
    if (run && other && other.attempt !== run.attempt) return false;
    const keys = [
      ...checkpoints.map(({ thread, ns, id }) => JSON.stringify([thread, ns, id])),
      ...writes.map(({ thread, ns, id, task, idx }) => JSON.stringify([thread, ns, id, task, idx])),
    ];
    if (keys.some((key) => this.#keys.has(key))) return false;
    for (const key of keys) this.#keys.add(key);
    if (run) this.#runs.set(run.run_id, run);
    const [thread] = [...checkpoints, ...writes].map((entry) => entry.thread);
    if (edit) this.#edits.push(JSON.stringify({ thread, version: edit.version }));
    const owner = { run: run?.run_id, edit: edit?.version };
    for (const entry of checkpoints) this.#addCheckpoint(entry, owner);
    for (const { value, replace, ...write } of writes) {
      (replace ? this.#replacedWrites : this.#keptWrites).push(
        JSON.stringify({ ...owner, ...write, ...this.#place(value) }),
      );
    }
    return true;
  }

  /** The parameters of `storeBatch`. */
  get parameters(): unknown[] {
    const lists = [this.#checkpoints, this.#values, this.#keptWrites, this.#replacedWrites];
    const runs = JSON.stringify([...this.#runs.values()]);
    const json = lists.map((list) => storableJson(`[${list.join()}]`));
    return [...json, Buffer.concat(this.#bytes), runs, `[${this.#edits.join()}]`];
  }

  #addCheckpoint(entry: CheckpointEntry, owner: { run?: string; edit?: string }): void {
    const { thread, ns, id, parent, known, checkpoint, metadata, values } = entry;
    const key = JSON.stringify({ ...owner, known, thread, ns, id, parent });
    this.#checkpoints.push(`${key.slice(0, -1)},"checkpoint":${checkpoint},"metadata":${metadata}}`);
    for (const { value, ...slot } of values) {
      this.#values.push(JSON.stringify({ ...owner, thread, ns, ...slot, ...this.#place(value) }));
    }
  }

  #place({ type, bytes }: Serialized) {
    const start = this.#end;
    if (bytes) {
      this.#bytes.push(bytes);
      this.#end += bytes.length;
    }
    return { type, start, length: bytes?.length ?? -1 };
  }
}
