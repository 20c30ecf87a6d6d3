import type { Database } from "better-sqlite3";

/** Maximum number of other values that a value is rebuilt from. */
const MAX_CHAIN = 32;
/** Maximum bytes of values cached as the base of the next value. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;

interface ValueRow {
  base: number | null;
  head: number;
  tail: number;
  bytes: Buffer;
}

interface Known {
  id: number;
  /** Number of values that this one is rebuilt from. */
  depth: number;
  bytes: Buffer;
}

/**
 * Large channel values. Each is stored once for all checkpoints that share it, as the difference from the channel's
 * previous value. Otherwise, each turn of a long chat would store all earlier messages again.
 */
export class SqliteValues {
  readonly #sql;
  /** The last value of each channel, by thread; least recently used first. */
  readonly #known = new Map<string, Map<string, Known>>();
  #remembered = 0;

  constructor(db: Database) {
    this.#sql = {
      insert: db.prepare<[string, number | null, number, number, Buffer]>(
        "INSERT INTO gs_values (thread_id, base, head, tail, bytes) VALUES (?, ?, ?, ?, ?)",
      ),
      get: db.prepare<[number], ValueRow>("SELECT base, head, tail, bytes FROM gs_values WHERE id = ?"),
      exists: db.prepare<[number]>("SELECT 1 FROM gs_values WHERE id = ?").pluck(),
      deleteOthers: db.prepare<[string, string]>(
        `DELETE FROM gs_values WHERE thread_id = ? AND id NOT IN (
          WITH RECURSIVE needed (id) AS (
            SELECT value FROM json_each(?) UNION SELECT base FROM gs_values JOIN needed USING (id) WHERE base IS NOT NULL
          ) SELECT id FROM needed)`,
      ),
    };
  }

  /** Store a value within the caller's transaction, and return its id. */
  insert(threadId: string, channel: string, bytes: Buffer): number {
    const known = this.#known.get(threadId)?.get(channel);
    // Another process may have deleted the base.
    const base = known && known.depth < MAX_CHAIN && this.#sql.exists.get(known.id) ? known : undefined;
    const delta = base && byteDelta(base.bytes, bytes);
    const isShorter = delta !== undefined && delta.middle.length < bytes.length / 2;
    const { head, tail, middle } = isShorter ? delta : { head: 0, tail: 0, middle: bytes };
    const baseId = isShorter ? (base?.id ?? null) : null;
    const id = Number(this.#sql.insert.run(threadId, baseId, head, tail, middle).lastInsertRowid);
    this.#remember(threadId, channel, { id, depth: isShorter && base ? base.depth + 1 : 0, bytes });
    return id;
  }

  /** A function that reads values and caches them. */
  reader(): (id: number) => Buffer {
    const read = new Map<number, Buffer>();
    return (id) => this.#read(id, read);
  }

  /** Delete all values of a thread except these and the values they are rebuilt from. */
  keepOnly(threadId: string, ids: readonly number[]): void {
    this.#sql.deleteOthers.run(threadId, JSON.stringify(ids));
  }

  /** Drop the thread's cached values, which may belong to a transaction that was rolled back. */
  forget(threadId: string): void {
    for (const { bytes } of this.#known.get(threadId)?.values() ?? []) this.#remembered -= bytes.length;
    this.#known.delete(threadId);
  }

  #read(id: number, read: Map<number, Buffer>): Buffer {
    const chain: [number, ValueRow][] = [];
    let bytes: Buffer | undefined;
    for (let next: number | null = id; next !== null && !bytes;) {
      bytes = read.get(next);
      if (bytes) break;
      const row = this.#sql.get.get(next);
      if (!row) throw new Error(`value ${next} of a checkpoint is missing`);
      chain.push([next, row]);
      next = row.base;
    }
    for (const [place, { base, head, tail, bytes: middle }] of chain.reverse()) {
      bytes = base === null || !bytes ? middle : applyDelta(bytes, { head, tail, middle });
      read.set(place, bytes);
    }
    return bytes ?? Buffer.alloc(0);
  }

  #remember(threadId: string, channel: string, known: Known): void {
    const channels = this.#known.get(threadId) ?? new Map<string, Known>();
    this.#remembered += known.bytes.length - (channels.get(channel)?.bytes.length ?? 0);
    this.#known.delete(threadId);
    this.#known.set(threadId, channels.set(channel, known));
    for (const oldest of this.#known.keys()) {
      if (this.#remembered <= MAX_CACHED_BYTES) return;
      this.forget(oldest);
    }
  }
}

// Byte deltas: states grow at their ends, so most of a value equals the previous one.

/** `base` with everything between its first `head` and its last `tail` bytes replaced by `middle`. */
interface ByteDelta {
  head: number;
  tail: number;
  middle: Buffer;
}

export function byteDelta(base: Buffer, value: Buffer): ByteDelta {
  const shortest = Math.min(base.length, value.length);
  const head = longest(shortest, (length) => equalAt(base, 0, value, 0, length));
  const tail = longest(shortest - head, (length) =>
    equalAt(base, base.length - length, value, value.length - length, length),
  );
  return { head, tail, middle: value.subarray(head, value.length - tail) };
}

export function applyDelta(base: Buffer, { head, tail, middle }: ByteDelta): Buffer {
  return Buffer.concat([base.subarray(0, head), middle, base.subarray(base.length - tail)]);
}

/** Binary search: the greatest length up to `limit` for which `holds` is true. `holds` must be monotonic. */
function longest(limit: number, holds: (length: number) => boolean): number {
  let [least, most] = [0, limit];
  while (least < most) {
    const length = Math.ceil((least + most) / 2);
    if (holds(length)) least = length;
    else most = length - 1;
  }
  return least;
}

const equalAt = (one: Buffer, start: number, other: Buffer, otherStart: number, length: number): boolean =>
  one.compare(other, otherStart, otherStart + length, start, start + length) === 0;
