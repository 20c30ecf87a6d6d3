/** What one statement of the checkpointer stores. */
import { storableJson } from "./postgres-rows.js";

/** A serialised value; without bytes it stands for an empty slot. */
export interface Serialized {
  type: string;
  bytes: Uint8Array | undefined;
}

export interface CheckpointEntry {
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

export interface WriteEntry {
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
export interface Entries {
  checkpoints: CheckpointEntry[];
  writes: WriteEntry[];
}

/** Bytes after which a statement takes no more in. */
const FULL = 1_000_000;

/** Entries that fit into one statement: no two of them have one key, and together they are of bearable size. */
export class Batch {
  readonly #keys = new Set<string>();
  readonly #checkpoints: string[] = [];
  readonly #values: string[] = [];
  readonly #keptWrites: string[] = [];
  readonly #replacedWrites: string[] = [];
  readonly #bytes: Uint8Array[] = [];
  #end = 0;

  /** Take entries in, all of them; false when a key of theirs is taken or the batch is full, and then none. */
  add({ checkpoints, writes }: Entries): boolean {
    if (this.#end >= FULL) return false;
    const keys = [
      ...checkpoints.map(({ thread, ns, id }) => JSON.stringify([thread, ns, id])),
      ...writes.map(({ thread, ns, id, task, idx }) => JSON.stringify([thread, ns, id, task, idx])),
    ];
    if (keys.some((key) => this.#keys.has(key))) return false;
    for (const key of keys) this.#keys.add(key);
    for (const entry of checkpoints) this.#addCheckpoint(entry);
    for (const { value, replace, ...write } of writes) {
      (replace ? this.#replacedWrites : this.#keptWrites).push(
        JSON.stringify({ ...write, ...this.#place(value) }),
      );
    }
    return true;
  }

  /** The parameters of `storeBatch`. */
  get parameters(): unknown[] {
    const lists = [this.#checkpoints, this.#values, this.#keptWrites, this.#replacedWrites];
    return [...lists.map((list) => storableJson(`[${list.join()}]`)), Buffer.concat(this.#bytes)];
  }

  #addCheckpoint({ thread, ns, id, parent, checkpoint, metadata, values }: CheckpointEntry): void {
    const key = JSON.stringify({ thread, ns, id, parent });
    this.#checkpoints.push(`${key.slice(0, -1)},"checkpoint":${checkpoint},"metadata":${metadata}}`);
    for (const { value, ...slot } of values) {
      this.#values.push(JSON.stringify({ thread, ns, ...slot, ...this.#place(value) }));
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
