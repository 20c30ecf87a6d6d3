import { GraphServeError, RunTakenError } from "../../support/errors.js";
import type { HeldRun } from "../saver-parts.js";
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
      const held = await this.#pool.query<Pick<HeldRun, "run_id">>(this.#sql, batch.parameters);
      const ids = new Set(held.map(({ run_id }) => run_id));
      for (const { entries, resolve, reject } of taken) {
        if (!entries.run || ids.has(entries.run.run_id)) resolve();
        else reject(new RunTakenError(entries.run.run_id));
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
  #end = 0;

  /** Take entries in, all of them; false when a key of theirs is taken or the batch is full, and then none. */
  add({ run, checkpoints, writes }: Entries): boolean {
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
    for (const entry of checkpoints) this.#addCheckpoint(entry, run?.run_id);
    for (const { value, replace, ...write } of writes) {
      (replace ? this.#replacedWrites : this.#keptWrites).push(
        JSON.stringify({ run: run?.run_id, ...write, ...this.#place(value) }),
      );
    }
    return true;
  }

  /** The parameters of `storeBatch`. */
  get parameters(): unknown[] {
    const lists = [this.#checkpoints, this.#values, this.#keptWrites, this.#replacedWrites];
    const runs = JSON.stringify([...this.#runs.values()]);
    return [...lists.map((list) => storableJson(`[${list.join()}]`)), Buffer.concat(this.#bytes), runs];
  }

  #addCheckpoint(entry: CheckpointEntry, run: string | undefined): void {
    const { thread, ns, id, parent, checkpoint, metadata, values } = entry;
    const key = JSON.stringify({ run, thread, ns, id, parent });
    this.#checkpoints.push(`${key.slice(0, -1)},"checkpoint":${checkpoint},"metadata":${metadata}}`);
    for (const { value, ...slot } of values) {
      this.#values.push(JSON.stringify({ run, thread, ns, ...slot, ...this.#place(value) }));
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
