/** Server-sent events: frames to bytes, at the pace of the reader. Knows nothing of who produces them. */
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import type { Logger } from "../support/log.js";
import { FramesLostError, type RunFrame, type RunStream } from "../models/run-stream.js";
import type { Outlet, Unread } from "./respond.js";

/** SDK clients that have seen heartbeats take 15 s of silence for a dead connection. */
export const HEARTBEAT_MS = 5_000;
// One newline only: after a blank line SDK clients would dispatch an event that does not exist.
const HEARTBEAT = ": heartbeat\n";

/** Answer with an event stream: headers at once, then every frame. */
export async function sendStream(
  res: ServerResponse,
  stream: RunStream,
  headers: Record<string, string>,
  unread: Unread,
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
 * frames were lost the connection breaks: a reader must not take what it has for complete.
 */
export async function pumpFrames(
  out: Writable,
  stream: RunStream,
  unread: Unread,
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
  const outlet = unread.outlet(out, { run_id: stream.run.run_id });
  try {
    await writeFrames(out, stream, outlet);
  } catch (error) {
    // Of a reader that has left, what it no longer waits for fails.
    if (!out.destroyed) logger.error({ err: error, run_id: stream.run.run_id }, "event stream failed");
    if (error instanceof FramesLostError) out.destroy();
    else if (!out.destroyed) out.write(FAILED_FRAME);
  } finally {
    clearInterval(heartbeat);
    outlet.end();
  }
}

async function writeFrames(out: Writable, stream: RunStream, outlet: Outlet): Promise<void> {
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
let last: { frame: RunFrame; bytes: Buffer } | undefined;
const large = new WeakMap<RunFrame, WeakRef<Buffer>>();

/** The bytes of some frames. Readers that are at the same frame get the same bytes: they must not be changed. */
export function bytesOf(frames: readonly RunFrame[]): Buffer {
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
export function encodeFrames(frames: readonly RunFrame[]): string {
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
