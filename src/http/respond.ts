import type { ServerResponse } from "node:http";
import type { Logger } from "../log.js";

/** Answer with JSON, written once, its length known. Nothing happens when the client has gone. */
export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers?: Record<string, string>,
): void {
  if (res.destroyed) return;
  const text = JSON.stringify(body);
  res.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
    ...headers,
  });
  res.end(text);
}

export function sendText(res: ServerResponse, text: string, contentType: string): void {
  if (res.destroyed) return;
  res.writeHead(200, { "Content-Type": contentType, "Content-Length": Buffer.byteLength(text) });
  res.end(text);
}

export function sendEmpty(res: ServerResponse, status: 202 | 204): void {
  if (!res.destroyed) res.writeHead(status).end();
}

/** How often a blank line tells the client, and proxies between, that an answer is still coming. */
const KEEP_ALIVE_MS = 5_000;

/** Answer with JSON that takes its time: headers at once, blank lines while it is awaited (JSON may begin with them). */
export async function sendWhenReady(
  res: ServerResponse,
  answer: Promise<unknown>,
  headers: Record<string, string>,
  logger: Logger,
): Promise<void> {
  if (!res.destroyed) {
    res.writeHead(200, { "Content-Type": "application/json; charset=utf-8", ...headers });
    res.flushHeaders();
  }
  const keepAlive = setInterval(() => res.writable && res.write("\n"), KEEP_ALIVE_MS).unref();
  try {
    const body = await answer;
    if (res.writable) res.end(JSON.stringify(body));
  } catch (error) {
    // The status is out: a connection that breaks is the only way left to say that this is no answer.
    if (!res.destroyed) logger.error({ err: error }, "request failed");
    res.destroy();
  } finally {
    clearInterval(keepAlive);
  }
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
