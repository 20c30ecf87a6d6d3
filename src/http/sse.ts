/** Server-sent events: frames to bytes, at the pace of the reader. Knows nothing of who produces them. */
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import type { Logger } from "../log.js";
import { FramesLostError, type RunFrame, type RunStream } from "../models/run-stream.js";

/** SDK clients that have seen heartbeats take 15 s of silence for a dead connection. */
export const HEARTBEAT_MS = 5_000;
/** How long a reader may leave a full buffer unread. */
export const STALL_MS = 30_000;

// One newline only: after a blank line SDK clients would dispatch an event that does not exist.
const HEARTBEAT = ": heartbeat\n";

/** Line ends by the SSE standard, or for client libraries that split lines their own way; and NUL. */
const LINE_BREAKS = ["\n", "\r", "\0", "\u0085", "\u2028", "\u2029"];
const EVERY_LINE_BREAK = /[\n\r\0\u0085\u2028\u2029]/g;

/** Answer with an event stream: headers at once, then every frame. */
export async function sendStream(
  res: ServerResponse,
  stream: RunStream,
  headers: Record<string, string>,
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
  await pumpFrames(res, stream, logger);
}

/**
 * Write the frames of `stream` to `out` and end it. When the reader goes or stalls, the stream is disconnected. Where
 * frames were lost the connection breaks: a reader must not take what it has for complete.
 */
export async function pumpFrames(out: Writable, stream: RunStream, logger: Logger): Promise<void> {
  const onClose = () => {
    if (!out.writableFinished) stream.disconnect();
  };
  if (out.destroyed) onClose();
  else out.once("close", onClose);
  const heartbeat = setInterval(() => {
    if (!out.destroyed && !out.writableNeedDrain) out.write(HEARTBEAT);
  }, HEARTBEAT_MS).unref();
  try {
    await writeFrames(out, stream, logger);
  } catch (error) {
    logger.error({ err: error, run_id: stream.run.run_id }, "event stream failed");
    if (error instanceof FramesLostError) out.destroy();
    else if (!out.destroyed) out.write(FAILED_FRAME);
  } finally {
    clearInterval(heartbeat);
    if (!out.destroyed) out.end();
  }
}

async function writeFrames(out: Writable, stream: RunStream, logger: Logger): Promise<void> {
  for await (const batch of stream.frames) {
    if (out.destroyed) break;
    if (batch.length === 0 || out.write(encodeFrames(batch)) || (await drained(out))) continue;
    if (!out.destroyed) {
      logger.warn(
        { run_id: stream.run.run_id, stalled_ms: STALL_MS },
        "reader of an event stream stalled: dropped",
      );
      out.destroy();
    }
    break;
  }
}

/** True when the reader has caught up; false when it is gone, or has not read for STALL_MS. */
function drained(out: Writable): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (result: boolean) => {
      clearTimeout(timer);
      out.off("drain", onDrain).off("close", onClose);
      resolve(result);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    const timer = setTimeout(onClose, STALL_MS).unref();
    if (out.destroyed) return settle(false);
    out.once("drain", onDrain).once("close", onClose);
  });
}

/** The bytes of some frames, as one string. */
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

const FAILED = { error: "internal_error", message: "internal error", detail: "internal error" };
const FAILED_FRAME = `event: error\ndata: ${JSON.stringify(FAILED)}\n\n`;
