/** Sends responses with back-pressure. */
import type { ServerResponse } from "node:http";
import type { Logger } from "../../support/log.js";
import { ResponseWriter, type WriteBudget } from "./response-writer.js";
import { requestContext } from "./request.js";

/** Memory of a list in progress relative to its text: the next items, already read, count too. */
const READ_INTO = 4;

/** Maximum number of characters that are buffered and written in one piece. */
const SMALL = 256 * 1024;

const JSON_TYPE = { "Content-Type": "application/json; charset=utf-8" };

const writerOf = (res: ServerResponse, unread: WriteBudget): ResponseWriter =>
  new ResponseWriter(unread, res, { request_id: requestContext(res.req).id });

/** Sends JSON with its length. No effect if the client has disconnected. */
export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  unread: WriteBudget,
  headers?: Record<string, string>,
): void | Promise<void> {
  return sendWhole(res, status, JSON.stringify(body), unread, { ...JSON_TYPE, ...headers });
}

export function sendText(
  res: ServerResponse,
  text: string,
  contentType: string,
  unread: WriteBudget,
): void | Promise<void> {
  return sendWhole(res, 200, text, unread, { "Content-Type": contentType });
}

function sendWhole(
  res: ServerResponse,
  status: number,
  text: string,
  unread: WriteBudget,
  headers: Record<string, string>,
): void | Promise<void> {
  if (res.destroyed) return;
  const writer = writerOf(res, unread);
  if (text.length <= SMALL) {
    res.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(text) });
    return writer.end(text);
  }
  const bytes = Buffer.from(text);
  res.writeHead(status, { ...headers, "Content-Length": bytes.length });
  return endWith(writer, bytes);
}

async function endWith(writer: ResponseWriter, bytes: Buffer): Promise<void> {
  if (await writer.write(bytes)) writer.end();
}

export interface ListFrame {
  head: string;
  tail: string;
}

/**
 * Sends a JSON list whose items are read while they are sent, with back-pressure. A small list is
 * sent in one piece.
 * @throws errors of `items` before the headers are sent; later errors close the connection
 */
export async function sendList(
  res: ServerResponse,
  items: AsyncIterable<unknown>,
  { head, tail }: ListFrame,
  unread: WriteBudget,
  headers: Record<string, string>,
  logger: Logger,
): Promise<void> {
  const writer = writerOf(res, unread);
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
      if (!(await writer.write(bytes, bytes.length * READ_INTO))) return;
    }
  } catch (error) {
    if (!res.headersSent) throw error;
    return abortResponse(res, error, logger);
  }
  if (!res.headersSent) return sendWhole(res, 200, text + tail, unread, { ...JSON_TYPE, ...headers });
  writer.end(text + tail);
}

export function sendEmpty(res: ServerResponse, status: 202 | 204, headers?: Record<string, string>): void {
  if (!res.destroyed) res.writeHead(status, headers).end();
}

/**
 * Interval of blank lines that show clients and proxies that the response is still pending, in
 * milliseconds.
 */
const KEEP_ALIVE_MS = 5_000;

/**
 * Sends JSON that takes time: headers immediately, then blank lines, which are valid before JSON,
 * until the answer is ready.
 */
export async function sendWhenReady(
  res: ServerResponse,
  answer: Promise<unknown>,
  headers: Record<string, string>,
  unread: WriteBudget,
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
    if (res.writable) await endWith(writerOf(res, unread), Buffer.from(text));
  } catch (error) {
    abortResponse(res, error, logger);
  } finally {
    clearInterval(keepAlive);
  }
}

/** The status has been sent. Closing the connection is the only remaining way to report the error. */
function abortResponse(res: ServerResponse, error: unknown, logger: Logger): void {
  if (!res.destroyed) logger.error({ err: error }, "request failed");
  res.destroy();
}
