/** The ways out to clients, at the pace at which they read: bytes of any answer, and event streams. */
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { type Frame, FramesLostError, type FrameStream } from "../../models/run-stream.js";
import type { Logger } from "../../support/log.js";
import { StorageUnavailableError } from "../../support/errors.js";

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
  readers: Set<ResponseWriter>;
}

export class WriteBudget {
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
  outlet(out: Writable, facts: object = {}): ResponseWriter {
    return new ResponseWriter(this, out, facts);
  }

  /** Keep something for a reader, until it is released. */
  hold(reader: ResponseWriter, what: object, bytes: number): void {
    const held = this.#held.get(what);
    if (held) return void held.readers.add(reader);
    this.#held.set(what, { bytes, readers: new Set([reader]) });
    this.#bytes += bytes;
    this.#shed();
  }

  release(reader: ResponseWriter, what: object): void {
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
export class ResponseWriter {
  readonly #unread: WriteBudget;
  readonly #out: Writable;
  readonly #facts: object;

  constructor(unread: WriteBudget, out: Writable, facts: object) {
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

// Server-sent events. Nothing here knows who produces the frames.

/** SDK clients that have seen heartbeats take 15 s of silence for a dead connection. */
export const HEARTBEAT_MS = 5_000;
// One newline only: after a blank line SDK clients would dispatch an event that does not exist.
const HEARTBEAT = ": heartbeat\n";

/** Answer with an event stream: headers at once, then every frame. */
export async function sendStream(
  res: ServerResponse,
  stream: FrameStream,
  headers: Record<string, string>,
  unread: WriteBudget,
  logger: Logger,
): Promise<void> {
  if (!res.destroyed) {
    res.writeHead(200, {
      "Content-Type": "text/event-stream",
      // Without no-transform, compression middleware holds frames back.
      "Cache-Control": "no-cache, no-transform",
      "X-Accel-Buffering": "no",
      ...headers,
    });
    res.socket?.setNoDelay(true);
    res.flushHeaders();
  }
  await pumpFrames(res, stream, unread, logger);
}

/**
 * Write the frames of `stream` to `out` and end it. When the reader goes or is cut off, the stream is disconnected. Where
 * frames were lost, or the storage is away, the connection breaks: a reader must not take what it has for complete, nor
 * the run for failed.
 */
export async function pumpFrames(
  out: Writable,
  stream: FrameStream,
  unread: WriteBudget,
  logger: Logger,
): Promise<void> {
  const onClose = () => {
    if (!out.writableFinished) stream.disconnect();
  };
  if (out.destroyed) onClose();
  else out.once("close", onClose);
  const heartbeat = setInterval(() => {
    if (!out.destroyed && !out.writableNeedDrain) out.write(HEARTBEAT);
  }, HEARTBEAT_MS).unref();
  const facts = factsOf(stream);
  const outlet = unread.outlet(out, facts);
  try {
    await writeFrames(out, stream, outlet);
  } catch (error) {
    // Of a reader that has left, what it no longer waits for fails.
    if (!out.destroyed) logger.error({ err: error, ...facts }, "event stream failed");
    if (error instanceof FramesLostError || error instanceof StorageUnavailableError) out.destroy();
    else if (!out.destroyed) out.write(FAILED_FRAME);
  } finally {
    clearInterval(heartbeat);
    outlet.end();
  }
}

/** What the log says of a stream. */
const factsOf = (stream: FrameStream & { run?: { run_id: string }; thread_id?: string }): object =>
  stream.run ? { run_id: stream.run.run_id } : { thread_id: stream.thread_id };

async function writeFrames(out: Writable, stream: FrameStream, outlet: ResponseWriter): Promise<void> {
  for await (const batch of stream.frames) {
    if (out.destroyed) return;
    if (batch.length === 0) continue;
    const written = outlet.write(bytesOf(batch));
    if (written !== true && !(await written)) return;
  }
}

const FAILED = { error: "internal_error", message: "internal error", detail: "internal error" };
const FAILED_FRAME = `event: error\ndata: ${JSON.stringify(FAILED)}\n\n`;

// Frames as bytes: made once for all readers that are sent them at about one time.

/** Line ends by the SSE standard, or for client libraries that split lines their own way; and NUL. */
const LINE_BREAKS = ["\n", "\r", "\0", "\u0085", "\u2028", "\u2029"];
const EVERY_LINE_BREAK = /[\n\r\0\u0085\u2028\u2029]/g;

/** Characters of data from which on a frame is not made twice while anybody has it. */
const LARGE = 16 * 1024;

/** Of the frames that went out last. */
let last: { frame: Frame; bytes: Buffer } | undefined;
const large = new WeakMap<Frame, WeakRef<Buffer>>();

/** The bytes of some frames. Readers that are at the same frame get the same bytes: they must not be changed. */
export function bytesOf(frames: readonly Frame[]): Buffer {
  const [frame] = frames;
  if (!frame || frames.length > 1) return Buffer.from(encodeFrames(frames));
  const known = last?.frame === frame ? last.bytes : large.get(frame)?.deref();
  if (known) return known;
  const bytes = Buffer.from(encodeFrames(frames));
  if (frame.data.length >= LARGE) large.set(frame, new WeakRef(bytes));
  else last = { frame, bytes };
  return bytes;
}

/** The text of some frames. */
export function encodeFrames(frames: readonly Frame[]): string {
  let text = "";
  for (const { id, event, data } of frames)
    text += `id: ${id}\nevent: ${oneLine(event)}\ndata: ${jsonLine(data)}\n\n`;
  return text;
}

const oneLine = (text: string) => (hasLineBreak(text) ? text.replace(EVERY_LINE_BREAK, " ") : text);

/** JSON text that no reader can take for several lines. Raw line ends can only be white space between its tokens. */
function jsonLine(data: string): string {
  if (!hasLineBreak(data)) return data;
  return data.replace(EVERY_LINE_BREAK, (char) =>
    char > "\u007f" ? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}` : " ",
  );
}

/** Six native searches: on a large state ten times faster than one regular expression. */
function hasLineBreak(text: string): boolean {
  for (const char of LINE_BREAKS) if (text.includes(char)) return true;
  return false;
}
