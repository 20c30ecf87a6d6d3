/** Answers, at the pace at which their clients read. */
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import type { Logger } from "../support/log.js";
import { factsOf } from "./middleware.js";

/** Of a list that is on its way, what its next items were read into counts too: so many times their text, roughly. */
const READ_INTO = 4;

/** Characters up to which an answer is written in one go, and a list is put together before any of it goes out. */
const SMALL = 256 * 1024;

const JSON_TYPE = { "Content-Type": "application/json; charset=utf-8" };

const outletOf = (res: ServerResponse, unread: Unread): Outlet =>
  unread.outlet(res, { request_id: factsOf(res.req).id });

/** Answer with JSON, its length known. Nothing happens when the client has gone. */
export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  unread: Unread,
  headers?: Record<string, string>,
): void | Promise<void> {
  return sendWhole(res, status, JSON.stringify(body), unread, { ...JSON_TYPE, ...headers });
}

export function sendText(
  res: ServerResponse,
  text: string,
  contentType: string,
  unread: Unread,
): void | Promise<void> {
  return sendWhole(res, 200, text, unread, { "Content-Type": contentType });
}

function sendWhole(
  res: ServerResponse,
  status: number,
  text: string,
  unread: Unread,
  headers: Record<string, string>,
): void | Promise<void> {
  if (res.destroyed) return;
  const outlet = outletOf(res, unread);
  if (text.length <= SMALL) {
    res.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(text) });
    return outlet.end(text);
  }
  const bytes = Buffer.from(text);
  res.writeHead(status, { ...headers, "Content-Length": bytes.length });
  return endWith(outlet, bytes);
}

async function endWith(outlet: Outlet, bytes: Buffer): Promise<void> {
  if (await outlet.write(bytes)) outlet.end();
}

/** What stands around the items of a list. */
export interface ListFrame {
  head: string;
  tail: string;
}

/**
 * Answer with a JSON list whose items are read while they are sent, at the client's pace. A small one goes out whole.
 * @throws what reading throws before anything has gone out; later the connection breaks
 */
export async function sendList(
  res: ServerResponse,
  items: AsyncIterable<unknown>,
  { head, tail }: ListFrame,
  unread: Unread,
  headers: Record<string, string>,
  logger: Logger,
): Promise<void> {
  const outlet = outletOf(res, unread);
  let text = head;
  let count = 0;
  try {
    for await (const item of items) {
      if (res.destroyed) return;
      text += (count++ === 0 ? "" : ",") + JSON.stringify(item);
      if (text.length <= SMALL) continue;
      if (!res.headersSent) res.writeHead(200, { ...JSON_TYPE, ...headers });
      const bytes = Buffer.from(text);
      text = "";
      if (!(await outlet.write(bytes, bytes.length * READ_INTO))) return;
    }
  } catch (error) {
    if (!res.headersSent) throw error;
    return breakOff(res, error, logger);
  }
  if (!res.headersSent) return sendWhole(res, 200, text + tail, unread, { ...JSON_TYPE, ...headers });
  outlet.end(text + tail);
}

export function sendEmpty(res: ServerResponse, status: 202 | 204, headers?: Record<string, string>): void {
  if (!res.destroyed) res.writeHead(status, headers).end();
}

/** How often a blank line tells the client, and proxies between, that an answer is still coming. */
const KEEP_ALIVE_MS = 5_000;

/** Answer with JSON that takes its time: headers at once, blank lines while it is awaited (JSON may begin with them). */
export async function sendWhenReady(
  res: ServerResponse,
  answer: Promise<unknown>,
  headers: Record<string, string>,
  unread: Unread,
  logger: Logger,
): Promise<void> {
  if (!res.destroyed) {
    res.writeHead(200, { ...JSON_TYPE, ...headers });
    res.flushHeaders();
  }
  const keepAlive = setInterval(() => res.writable && res.write("\n"), KEEP_ALIVE_MS).unref();
  try {
    const text = JSON.stringify(await answer);
    clearInterval(keepAlive);
    if (res.writable) await endWith(outletOf(res, unread), Buffer.from(text));
  } catch (error) {
    breakOff(res, error, logger);
  } finally {
    clearInterval(keepAlive);
  }
}

/** The status is out: a connection that breaks is the only way left to say that this is no answer. */
function breakOff(res: ServerResponse, error: unknown, logger: Logger): void {
  if (!res.destroyed) logger.error({ err: error }, "request failed");
  res.destroy();
}

/** A signal that aborts when the client goes away before its answer is complete. */
export function disconnectSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) controller.abort(new DOMException("the client disconnected", "AbortError"));
  };
  if (res.destroyed) onClose();
  else res.once("close", onClose);
  return controller.signal;
}

// What clients have been answered and have yet to read: how much of it is kept, and for how long.

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
