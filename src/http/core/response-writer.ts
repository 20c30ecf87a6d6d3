/** Writes responses and event streams with back-pressure. */
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { type Frame, FramesLostError, type FrameStream } from "../../models/run-stream.js";
import type { Logger } from "../../support/log.js";
import { StorageUnavailableError } from "../../support/errors.js";

// Limits for data that clients have not read.

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

// Server-sent events, independent of the source of the frames.

/**
 * Interval in milliseconds. SDK clients that have received heartbeats treat 15 s of silence as a
 * dead connection.
 */
export const HEARTBEAT_MS = 5_000;
// One newline only: after a blank line SDK clients would dispatch an empty event.
const HEARTBEAT = ": heartbeat\n";

/** Sends an event stream: headers immediately, then every frame. */
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
      // Without no-transform, compression middleware buffers frames.
      "Cache-Control": "no-cache, no-transform",
      "X-Accel-Buffering": "no",
      ...headers,
    });
    res.socket?.setNoDelay(true);
  }
  // Usually the first frame is ready in this turn, and its bytes leave with the headers in one write.
  const flush = setImmediate(() => {
    if (!res.destroyed) res.flushHeaders();
  });
  await pumpFrames(res, stream, unread, logger, () => clearImmediate(flush));
}

/**
 * Writes the frames of `stream` to `out` and ends it. If the reader disconnects, the stream is
 * disconnected. If frames were lost or the storage is unreachable, the connection is closed without
 * an end event, so that the reader assumes neither completion nor failure of the run.
 */
export async function pumpFrames(
  out: Writable,
  stream: FrameStream,
  unread: WriteBudget,
  logger: Logger,
  onFirstFrame?: () => void,
): Promise<void> {
  const onClose = () => {
    if (!out.writableFinished) stream.disconnect();
  };
  if (out.destroyed) onClose();
  else out.once("close", onClose);
  const heartbeat = setInterval(() => {
    if (!out.destroyed && !out.writableNeedDrain) out.write(HEARTBEAT);
  }, HEARTBEAT_MS).unref();
  const labels = labelsOf(stream);
  const writer = new ResponseWriter(unread, out, labels);
  try {
    await writeFrames(out, stream, writer, onFirstFrame);
  } catch (error) {
    // Errors after the reader has disconnected are expected.
    if (!out.destroyed) logger.error({ err: error, ...labels }, "event stream failed");
    if (error instanceof FramesLostError || error instanceof StorageUnavailableError) out.destroy();
    else if (!out.destroyed) out.write(FAILED_FRAME);
  } finally {
    clearInterval(heartbeat);
    writer.end();
  }
}

const labelsOf = (stream: FrameStream & { run?: { run_id: string }; thread_id?: string }): object =>
  stream.run ? { run_id: stream.run.run_id } : { thread_id: stream.thread_id };

async function writeFrames(
  out: Writable,
  stream: FrameStream,
  writer: ResponseWriter,
  onFirstFrame?: () => void,
): Promise<void> {
  for await (const batch of stream.frames) {
    if (out.destroyed) return;
    if (batch.length === 0) continue;
    onFirstFrame?.();
    const written = writer.write(bytesOf(batch));
    if (written !== true && !(await written)) return;
  }
}

const FAILED = { error: "internal_error", message: "internal error", detail: "internal error" };
const FAILED_FRAME = `event: error\ndata: ${JSON.stringify(FAILED)}\n\n`;

// Encodes frames as bytes, once for all readers that receive them at about the same time.

/** Line ends in the SSE standard or in client libraries that split lines differently, and NUL. */
const LINE_BREAKS = ["\n", "\r", "\0", "\u0085", "\u2028", "\u2029"];
const EVERY_LINE_BREAK = /[\n\r\0\u0085\u2028\u2029]/g;

/** Data length in characters from which the encoded frame is cached while in use. */
const LARGE = 16 * 1024;

/** The most recently encoded small frame. */
let last: { frame: Frame; bytes: Buffer } | undefined;
const large = new WeakMap<Frame, WeakRef<Buffer>>();

/** Encodes frames. Readers of the same frame share the bytes, which must not be modified. */
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

export function encodeFrames(frames: readonly Frame[]): string {
  let text = "";
  for (const { id, event, data } of frames)
    text += `id: ${id}\nevent: ${oneLine(event)}\ndata: ${jsonLine(data)}\n\n`;
  return text;
}

const oneLine = (text: string) => (hasLineBreak(text) ? text.replace(EVERY_LINE_BREAK, " ") : text);

/**
 * JSON text on a single line for every reader. Raw line ends in JSON can only be white space
 * between tokens.
 */
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
