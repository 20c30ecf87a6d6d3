/** Names of keys. All of a thread's have the thread in braces, so that a cluster would keep them together. */

export interface ThreadKeys {
  /** Set of the namespaces that have checkpoints. */
  namespaces: string;
  /** Stands while the thread's time to live need not be renewed. */
  renewed: string;
}

export interface NamespaceKeys {
  /** Sorted set of checkpoint ids, all of one score: in the order of their texts, which is that of time. */
  ids: string;
  /** Hash of channel values, by channel and the checkpoint that wrote it. */
  values: string;
  /** Hash of a checkpoint. */
  checkpoint(id: string): string;
  /** Hash of the pending writes of a checkpoint, by task and index. */
  writes(id: string): string;
}

const SUFFIX = ":namespaces";

export class RedisKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  thread(threadId: string): ThreadKeys {
    const thread = this.#thread(threadId);
    return { namespaces: thread + SUFFIX, renewed: `${thread}:renewed` };
  }

  namespace(threadId: string, namespace: string): NamespaceKeys {
    const thread = this.#thread(threadId);
    // The namespace comes last: it may hold any sign.
    return {
      ids: `${thread}:ids:${namespace}`,
      values: `${thread}:values:${namespace}`,
      checkpoint: (id) => `${thread}:checkpoint:${encoded(id)}:${namespace}`,
      writes: (id) => `${thread}:writes:${encoded(id)}:${namespace}`,
    };
  }

  /** Matches the `namespaces` key of every thread. */
  get everyThread(): string {
    return `${this.#prefix.replace(/[\\*?[\]]/g, "\\$&")}{*}${SUFFIX}`;
  }

  /** The thread of a `namespaces` key. */
  threadOf(key: string): string {
    return decodeURIComponent(key.slice(this.#prefix.length + 1, -SUFFIX.length - 1));
  }

  #thread(threadId: string): string {
    return `${this.#prefix}{${encoded(threadId)}}`;
  }
}

/** No colons or braces; a text that is no valid Unicode is no error here. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());
