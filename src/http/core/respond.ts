/** Answers, at the pace at which their clients read. */
import type { ServerResponse } from "node:http";
import type { Logger } from "../../support/log.js";
import type { ResponseWriter, WriteBudget } from "./response-writer.js";
import { requestContext } from "./request.js";

/** Of a list that is on its way, what its next items were read into counts too: so many times their text, roughly. */
const READ_INTO = 4;

/** Characters up to which an answer is written in one go, and a list is put together before any of it goes out. */
const SMALL = 256 * 1024;

const JSON_TYPE = { "Content-Type": "application/json; charset=utf-8" };

const outletOf = (res: ServerResponse, unread: WriteBudget): ResponseWriter =>
  unread.outlet(res, { request_id: requestContext(res.req).id });

/** Answer with JSON, its length known. Nothing happens when the client has gone. */
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
  const outlet = outletOf(res, unread);
  if (text.length <= SMALL) {
    res.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(text) });
    return outlet.end(text);
  }
  const bytes = Buffer.from(text);
  res.writeHead(status, { ...headers, "Content-Length": bytes.length });
  return endWith(outlet, bytes);
}

async function endWith(outlet: ResponseWriter, bytes: Buffer): Promise<void> {
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
  unread: WriteBudget,
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
