/** Server-sent events, independent of the source of the frames. */
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { FramesLostError, type FrameStream } from "../../models/run-stream.js";
import type { Logger } from "../../support/log.js";
import { StorageUnavailableError } from "../../support/errors.js";
import { bytesOf } from "./frame-bytes.js";
import { type WriteBudget, ResponseWriter } from "./response-writer.js";

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
  await pumpFrames(res, stream, unread, logger, flush);
}

/**
 * Writes the frames of `stream` to `out` and ends it. If the reader disconnects, the stream is
 * disconnected. If frames were lost or the storage is unreachable, the connection is closed without
 * an end event, so that the reader assumes neither completion nor failure of the run.
 * @param flush sends the headers, unless a frame is ready before
 */
export async function pumpFrames(
  out: Writable,
  stream: FrameStream & { run?: { run_id: string }; thread_id?: string },
  unread: WriteBudget,
  logger: Logger,
  flush?: NodeJS.Immediate,
): Promise<void> {
  const onClose = () => {
    if (!out.writableFinished) stream.disconnect();
  };
  if (out.destroyed) onClose();
  else out.once("close", onClose);
  const heartbeat = setInterval(() => {
    if (!out.destroyed && !out.writableNeedDrain) out.write(HEARTBEAT);
  }, HEARTBEAT_MS).unref();
  const labels = stream.run ? { run_id: stream.run.run_id } : { thread_id: stream.thread_id };
  const writer = new ResponseWriter(unread, out, labels);
  try {
    for await (const batch of stream.frames) {
      if (out.destroyed) return;
      if (batch.length === 0) continue;
      clearImmediate(flush);
      const written = writer.write(bytesOf(batch));
      if (written !== true && !(await written)) return;
    }
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

const FAILED = { error: "internal_error", message: "internal error", detail: "internal error" };
const FAILED_FRAME = `event: error\ndata: ${JSON.stringify(FAILED)}\n\n`;
