import { GraphServeError, RunTakenError, ThreadChangedError } from "../../support/errors.js";
import type { HeldRun } from "../saver/held-run.js";
import type { PostgresPool } from "./pool.js";
import { storableJson } from "../../models/json.js";
import { storeBatch } from "./saver-sql.js";

interface Request {
  threadId: string;
  entries: Entries;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Maximum number of concurrent statements. More would only reduce the batch size, not the latency. */
const MAX_CONCURRENT = 3;

/**
 * Stores checkpoints and writes in batches. Requests that arrive while statements are in flight share the next statement:
 * under load, one round trip and one commit serve many runs. A call resolves only after its entries are committed. Requests
 * of one thread are committed in order.
 */
export class PostgresWriter {
  readonly #pool: PostgresPool;
  readonly #sql: string;
  #waiting: Request[] = [];
  #inFlight = 0;
  readonly #busyThreads = new Set<string>();

  constructor(pool: PostgresPool, schema: string) {
    this.#pool = pool;
    this.#sql = storeBatch(schema);
  }

  store(threadId: string, entries: Entries): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ threadId, entries, resolve, reject });
      if (this.#inFlight < MAX_CONCURRENT) void this.#send();
    });
  }

  /**
   * Sends one statement after the other, each with the requests that fit into it. A request waits while an earlier one of
   * its thread is in flight.
   */
  async #send(): Promise<void> {
    this.#inFlight += 1;
    while (this.#waiting.length > 0) {
      const batch = new Batch();
      const requests: Request[] = [];
      const remaining: Request[] = [];
      const blocked = new Set(this.#busyThreads);
      for (const request of this.#waiting) {
        if (!blocked.has(request.threadId) && batch.add(request.entries)) requests.push(request);
        else {
          blocked.add(request.threadId);
          remaining.push(request);
        }
      }
      this.#waiting = remaining;
      if (requests.length === 0) break;
      for (const { threadId } of requests) this.#busyThreads.add(threadId);
      await this.#store(batch, requests);
      for (const { threadId } of requests) this.#busyThreads.delete(threadId);
    }
    this.#inFlight -= 1;
  }

  /** Never rejects: an error is that of the requests. */
  async #store(batch: Batch, requests: readonly Request[]): Promise<void> {
    try {
      const stored = new Map<string, string | null>();
      for (const { kind, id, version } of await this.#pool.query<StoredRow>(this.#sql, batch.parameters))
        stored.set(`${kind} ${id}`, version);
      for (const { threadId, entries, resolve, reject } of requests) {
        const error = errorFor(threadId, entries, stored);
        if (error) reject(error);
        else resolve();
      }
    } catch (error) {
      if (requests.length > 1 && isServerError(error)) await this.#storeOneByOne(requests);
      else for (const { reject } of requests) reject(error);
    }
  }

  /** A request that the server refuses must not fail the other requests of its batch. */
  async #storeOneByOne(requests: readonly Request[]): Promise<void> {
    for (const request of requests) {
      const batch = new Batch();
      batch.add(request.entries);
      await this.#store(batch, [request]);
    }
  }
}

/** Whether the error is the server's answer, so that nothing of the statement was stored. */
function isServerError(error: unknown): boolean {
  const cause = error instanceof GraphServeError ? error.cause : error;
  return typeof cause === "object" && cause !== null && "severity" in cause;
}

interface StoredRow {
  kind: "run" | "edit" | "checkpoint";
  id: string;
  version: string | null;
}

/**
 * The reason why the entries were not stored; undefined if they were. Updates the version of an edited thread.
 * @param stored versions by kind and id
 */
function errorFor(
  threadId: string,
  { run, edit, checkpoints }: Entries,
  stored: ReadonlyMap<string, string | null>,
): Error | undefined {
  if (run && !stored.has(`run ${run.run_id}`)) return new RunTakenError(run.run_id);
  if (edit) {
    const version = stored.get(`edit ${threadId}`);
    if (version == null) return new ThreadChangedError(threadId);
    edit.version = version;
  }
  for (const { id } of checkpoints)
    if (!stored.has(`checkpoint ${id}`)) return new ThreadChangedError(threadId);
  return undefined;
}

/** The version of a thread's row that an edit is based on. */
export interface EditGuard {
  version: string;
}

// Entries of a statement.

/** A serialized value; undefined bytes mean an empty slot. */
export type Serialized = readonly [type: string, bytes: Uint8Array | undefined];

interface CheckpointEntry {
  thread: string;
  ns: string;
  id: string;
  parent: string | undefined;
  /** The greatest checkpoint id in the namespace that the writer knows; undefined to skip the check. */
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
  /** Whether it overwrites a stored write with the same key. */
  replace: boolean;
}

/** The entries of one call: a checkpoint, or the writes of a task. */
interface Entries {
  /** If set, stored only while this holder has the run. */
  run: HeldRun | undefined;
  /** If set, stored only if the thread's row has this version. */
  edit: EditGuard | undefined;
  checkpoints: CheckpointEntry[];
  writes: WriteEntry[];
}

/** Size of a batch, in bytes, at which it accepts no further entries. */
const MAX_BATCH_BYTES = 1_000_000;

/** Entries for one statement, with distinct keys and a limited total size. */
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

  /** Adds all entries. Returns false, and adds none, if one of their keys exists or the batch is full. */
  add({ run, edit, checkpoints, writes }: Entries): boolean {
    if (this.#end >= MAX_BATCH_BYTES) return false;
    const other = run && this.#runs.get(run.run_id);
    // The holder is checked once per run, so all entries of a run in a batch need the same attempt.
    if (run && other && other.attempt !== run.attempt) return false;
    const keys: string[] = [];
    for (const { thread, ns, id } of checkpoints) keys.push(JSON.stringify([thread, ns, id]));
    for (const { thread, ns, id, task, idx } of writes)
      keys.push(JSON.stringify([thread, ns, id, task, idx]));
    for (const key of keys) if (this.#keys.has(key)) return false;
    for (const key of keys) this.#keys.add(key);
    if (run) this.#runs.set(run.run_id, run);
    const [entry] = [...checkpoints, ...writes];
    if (edit) this.#edits.push(JSON.stringify({ thread: entry?.thread, version: edit.version }));
    const owner = { run: run?.run_id, edit: edit?.version };
    for (const { values, checkpoint, metadata, ...slot } of checkpoints) {
      const { thread, ns } = slot;
      const key = JSON.stringify({ ...owner, ...slot });
      this.#checkpoints.push(`${key.slice(0, -1)},"checkpoint":${checkpoint},"metadata":${metadata}}`);
      for (const { value, ...channel } of values)
        this.#values.push(JSON.stringify({ ...owner, thread, ns, ...channel, ...this.#slice(value) }));
    }
    for (const { value, replace, ...write } of writes) {
      (replace ? this.#replacedWrites : this.#keptWrites).push(
        JSON.stringify({ ...owner, ...write, ...this.#slice(value) }),
      );
    }
    return true;
  }

  /** The parameters of `storeBatch`. */
  get parameters(): unknown[] {
    const json: string[] = [];
    for (const list of [this.#checkpoints, this.#values, this.#keptWrites, this.#replacedWrites])
      json.push(storableJson(`[${list.join()}]`));
    const runs = JSON.stringify([...this.#runs.values()]);
    return [...json, Buffer.concat(this.#bytes), runs, `[${this.#edits.join()}]`];
  }

  #slice([type, bytes]: Serialized) {
    const start = this.#end;
    if (bytes) {
      this.#bytes.push(bytes);
      this.#end += bytes.length;
    }
    return { type, start, length: bytes?.length ?? -1 };
  }
}
