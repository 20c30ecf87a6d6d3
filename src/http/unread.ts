/** What clients have been answered and have yet to read: how much of it is kept, and for how long. */
import type { Writable } from "node:stream";
import type { Logger } from "../support/log.js";

interface UnreadLimits {
  /** Most bytes kept for all clients together. */
  max_unread_bytes: number;
  /** Longest time in which a client may read nothing. */
  unread_timeout_seconds: number;
}

/** Bytes handed over at once: who takes these, however slowly, is reading. */
const SLICE = 256 * 1024;

/** What is kept until all its readers have it: one answer, or frames of a run that many readers share. */
interface Held {
  bytes: number;
  readers: Set<Outlet>;
}

export class Unread {
  readonly timeoutMs: number;
  readonly logger: Logger;
  readonly #maxBytes: number;
  /** Those of which nothing was read for longest first. */
  readonly #held = new Map<object, Held>();
  #bytes = 0;

  constructor({ max_unread_bytes, unread_timeout_seconds }: UnreadLimits, logger: Logger) {
    this.#maxBytes = max_unread_bytes;
    this.timeoutMs = unread_timeout_seconds * 1000;
    this.logger = logger;
  }

  /** Bytes kept now; those that several readers share count once. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A way to one client; `facts` go into the log when it is cut off. */
  outlet(out: Writable, facts: object = {}): Outlet {
    return new Outlet(this, out, facts);
  }

  /** Keep something for a reader, until it is released. */
  hold(reader: Outlet, what: object, bytes: number): void {
    const held = this.#held.get(what);
    if (held) return void held.readers.add(reader);
    this.#held.set(what, { bytes, readers: new Set([reader]) });
    this.#bytes += bytes;
    this.#shed();
  }

  release(reader: Outlet, what: object): void {
    const held = this.#held.get(what);
    if (!held?.readers.delete(reader) || held.readers.size > 0) return;
    this.#held.delete(what);
    this.#bytes -= held.bytes;
  }

  /** A reader has read some of it. */
  touch(what: object): void {
    const held = this.#held.get(what);
    if (!held) return;
    this.#held.delete(what);
    this.#held.set(what, held);
  }

  /** Cut off those who read nothing for longest, until there is room. One answer alone may be larger than all may be. */
  #shed(): void {
    for (const [what, { readers }] of this.#held) {
      if (this.#bytes <= this.#maxBytes || this.#held.size === 1) return;
      for (const reader of [...readers]) {
        this.release(reader, what);
        reader.cut("a client was cut off: of all it had read nothing for longest, and too much is unread");
      }
    }
  }
}

/** Writes to one client at the pace at which it reads. */
export class Outlet {
  readonly #unread: Unread;
  readonly #out: Writable;
  readonly #facts: object;

  constructor(unread: Unread, out: Writable, facts: object) {
    this.#unread = unread;
    this.#out = out;
    this.#facts = facts;
  }

  /**
   * True when more may be written; false when the client is gone or was cut off: for reading nothing in the time that
   * there is, or to make room. The same bytes may be on their way to several clients. `held` is the memory that is kept
   * meanwhile, where it is more than the bytes themselves.
   */
  write(bytes: Buffer, held = bytes.length): boolean | Promise<boolean> {
    if (this.#out.destroyed) return false;
    const isSmall = bytes.length <= SLICE;
    if (isSmall && this.#out.write(bytes)) return true;
    return this.#writeSlowly(bytes, held, isSmall ? bytes.length : 0);
  }

  /** End the answer, with a last small text; what is still unread then does not stay for ever. */
  end(last?: string): void {
    if (this.#out.destroyed) return;
    this.#out.end(last);
    if (this.#out.writableLength > 0) void this.#finish();
  }

  cut(why: string): void {
    this.#unread.logger.warn({ ...this.#facts, unread_bytes: this.#unread.bytes }, why);
    this.#out.destroy();
  }

  async #writeSlowly(bytes: Buffer, held: number, written: number): Promise<boolean> {
    this.#unread.hold(this, bytes, held);
    try {
      if (written > 0) return await this.#taken("drain");
      for (let start = 0; start < bytes.length; start += SLICE) {
        if (this.#out.write(bytes.subarray(start, start + SLICE))) continue;
        if (!(await this.#taken("drain"))) return false;
        this.#unread.touch(bytes);
      }
      return true;
    } finally {
      this.#unread.release(this, bytes);
    }
  }

  async #finish(): Promise<void> {
    this.#unread.hold(this, this, this.#out.writableLength);
    await this.#taken("finish");
    this.#unread.release(this, this);
  }

  /** True when the client has taken what was written; false when it is gone, or has not taken it in time. */
  #taken(event: "drain" | "finish"): Promise<boolean> {
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
        this.cut(`a client was cut off: it read nothing for ${this.#unread.timeoutMs / 1000} s`);
      };
      const timer = setTimeout(onTimeout, this.#unread.timeoutMs).unref();
      if (out.destroyed) return settle(false);
      out.once(event, onTaken).once("close", onClose);
    });
  }
}
