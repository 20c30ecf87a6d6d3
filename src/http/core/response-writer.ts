/** Writes responses and event streams with back-pressure. */
import type { Writable } from "node:stream";
import type { Logger } from "../../support/log.js";

interface UnreadLimits {
  /** Maximum number of bytes buffered for all clients. */
  max_unread_bytes: number;
  /** Seconds without reading after which a client is disconnected. */
  unread_timeout_seconds: number;
}

/** Bytes written at a time. A client that takes a slice, however slowly, counts as reading. */
const SLICE = 256 * 1024;

/** Data buffered until all its readers have it: one response, or frames of a run shared by many readers. */
interface Held {
  bytes: number;
  readers: Set<ResponseWriter>;
}

export class WriteBudget {
  readonly timeoutMs: number;
  readonly logger: Logger;
  readonly #maxBytes: number;
  /** Least recently read first. */
  readonly #held = new Map<object, Held>();
  #bytes = 0;

  constructor({ max_unread_bytes, unread_timeout_seconds }: UnreadLimits, logger: Logger) {
    this.#maxBytes = max_unread_bytes;
    this.timeoutMs = unread_timeout_seconds * 1000;
    this.logger = logger;
  }

  /** Bytes buffered now; data shared by several readers counts once. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts data as buffered for a reader until it is released. */
  hold(reader: ResponseWriter, what: object, bytes: number): void {
    const held = this.#held.get(what);
    if (held) return void held.readers.add(reader);
    this.#held.set(what, { bytes, readers: new Set([reader]) });
    this.#bytes += bytes;
    this.#evict();
  }

  release(reader: ResponseWriter, what: object): void {
    const held = this.#held.get(what);
    if (!held?.readers.delete(reader) || held.readers.size > 0) return;
    this.#held.delete(what);
    this.#bytes -= held.bytes;
  }

  /** A reader has read part of the data. */
  touch(what: object): void {
    const held = this.#held.get(what);
    if (!held) return;
    this.#held.delete(what);
    this.#held.set(what, held);
  }

  /**
   * Disconnects the clients that have been idle longest until the limit is met. A single response
   * may exceed the limit.
   */
  #evict(): void {
    for (const [what, { readers }] of this.#held) {
      if (this.#bytes <= this.#maxBytes || this.#held.size === 1) return;
      for (const reader of [...readers]) {
        this.release(reader, what);
        reader.disconnect("slowest client disconnected: unread data exceeds max_unread_bytes");
      }
    }
  }
}

/** Writes to one client with back-pressure. */
export class ResponseWriter {
  readonly #unread: WriteBudget;
  readonly #out: Writable;
  readonly #labels: object;

  /** @param labels logged if the client is disconnected */
  constructor(unread: WriteBudget, out: Writable, labels: object = {}) {
    this.#unread = unread;
    this.#out = out;
    this.#labels = labels;
  }

  /**
   * Resolves with true when more can be written, and with false if the client is gone or was
   * disconnected because of a limit. The same bytes can be sent to several clients.
   * @param held bytes to count as buffered, if more than the bytes themselves
   */
  write(bytes: Buffer, held = bytes.length): boolean | Promise<boolean> {
    if (this.#out.destroyed) return false;
    const isSmall = bytes.length <= SLICE;
    if (isSmall && this.#out.write(bytes)) return true;
    return this.#writeSlowly(bytes, held, isSmall ? bytes.length : 0);
  }

  /** Ends the response, with an optional small last text. Data still unread is subject to the timeout. */
  end(last?: string): void {
    if (this.#out.destroyed) return;
    this.#out.end(last);
    if (this.#out.writableLength > 0) void this.#finish();
  }

  disconnect(why: string): void {
    this.#unread.logger.warn({ ...this.#labels, unread_bytes: this.#unread.bytes }, why);
    this.#out.destroy();
  }

  async #writeSlowly(bytes: Buffer, held: number, written: number): Promise<boolean> {
    this.#unread.hold(this, bytes, held);
    try {
      if (written > 0) return await this.#flushed("drain");
      for (let start = 0; start < bytes.length; start += SLICE) {
        if (this.#out.write(bytes.subarray(start, start + SLICE))) continue;
        if (!(await this.#flushed("drain"))) return false;
        this.#unread.touch(bytes);
      }
      return true;
    } finally {
      this.#unread.release(this, bytes);
    }
  }

  async #finish(): Promise<void> {
    this.#unread.hold(this, this, this.#out.writableLength);
    await this.#flushed("finish");
    this.#unread.release(this, this);
  }

  /** True once the client has received the written data; false if it has disconnected or timed out. */
  #flushed(event: "drain" | "finish"): Promise<boolean> {
    const out = this.#out;
    return new Promise((resolve) => {
      const settle = (isTaken: boolean) => {
        clearTimeout(timer);
        out.off(event, onTaken).off("close", onClose);
        resolve(isTaken);
      };
      const onTaken = () => settle(true);
      const onClose = () => settle(false);
      const onTimeout = () => {
        settle(false);
        this.disconnect(`client disconnected: it read nothing for ${this.#unread.timeoutMs / 1000} s`);
      };
      const timer = setTimeout(onTimeout, this.#unread.timeoutMs).unref();
      if (out.destroyed) return settle(false);
      out.once(event, onTaken).once("close", onClose);
    });
  }
}
