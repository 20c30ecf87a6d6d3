/** The Studio for a server elsewhere: this machine serves the page, and hands its requests on. */
import { Readable } from "node:stream";
import express, { type Express, type Request as ExpressRequest, type RequestHandler } from "express";
import { errorMessage, GraphServeError } from "../support/errors.js";
import { silentLogger } from "../support/log.js";
import { keyGuard } from "./middleware/api-keys.js";
import { hostGuard } from "./app.js";
import { errorHandler } from "./middleware/error-handler.js";
import { sendResponse, toRequest } from "./in-process/fetch-bridge.js";
import { WriteBudget } from "./core/response-writer.js";
import { studio } from "./studio/studio.js";

interface Target {
  url: string;
  /** Sent along with every request. */
  apiKey?: string;
}

/** Headers that are of one connection, or of the page here alone. */
const OWN =
  /^(host|connection|keep-alive|transfer-encoding|content-length|accept-encoding|origin|referer|cookie|x-api-key|sec-.*)$/;
const OF_THE_ANSWER =
  /^(connection|keep-alive|transfer-encoding|content-length|content-encoding|access-control-.*)$/;

/** Without `key` nothing is handed on. The page does not hold it: it comes with the address that is opened. */
export function studioProxy(target: Target, key: string): Express {
  const app = express().disable("x-powered-by").set("etag", false);
  app.use(hostGuard({ host: "127.0.0.1", allowed_hosts: [] }));
  app.use("/studio", studio({ note: target.url }));
  app.use(
    keyGuard([key], () => false),
    handOn(target),
  );
  const unread = new WriteBudget({ max_unread_bytes: 2 ** 28, unread_timeout_seconds: 30 }, silentLogger);
  app.use(errorHandler(silentLogger, unread));
  return app;
}

function handOn({ url, apiKey }: Target): RequestHandler {
  return async (req, res) => {
    const { url: asked, method, headers, body, signal } = toRequest(req, bodyOf(req));
    // The target of a request may be a whole address: of that only the path counts.
    const { pathname, search } = new URL(asked);
    for (const name of [...headers.keys()]) if (OWN.test(name)) headers.delete(name);
    if (apiKey !== undefined) headers.set("x-api-key", apiKey);
    const init: RequestInit = { method, headers, body, signal, redirect: "manual" };
    if (body) init.duplex = "half";
    const answer = await fetch(url + pathname + search, init).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      const { cause = error } = error as { cause?: unknown };
      throw new GraphServeError("server_unreachable", `${url} does not answer: ${errorMessage(cause)}`);
    });
    if (!answer) return;
    const kept = [...answer.headers].filter(([name]) => !OF_THE_ANSWER.test(name));
    // The key that is asked for there is none that the page could give.
    const status = answer.status === 401 ? 403 : answer.status;
    const { statusText } = answer;
    await sendResponse(res, new Response(answer.body, { status, statusText, headers: kept }));
  };
}

const bodyOf = (req: ExpressRequest): ReadableStream<Uint8Array> | undefined =>
  req.method === "GET" || req.method === "HEAD"
    ? undefined
    : (Readable.toWeb(req) as ReadableStream<Uint8Array>);
