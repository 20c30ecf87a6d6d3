/** Serves the Studio on this machine and proxies its requests to a remote server. */
import { Readable } from "node:stream";
import express, { type Express, type Request as ExpressRequest, type RequestHandler } from "express";
import { GraphServeError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { silentLogger } from "../support/log.js";
import { keyGuard } from "./middleware/api-keys.js";
import { hostGuard } from "./middleware/hosts.js";
import { errorHandler } from "./middleware/error-handler.js";
import { sendResponse, toRequest } from "./in-process/fetch-bridge.js";
import { WriteBudget } from "./core/response-writer.js";
import { studio } from "./studio/studio.js";

interface Target {
  url: string;
  apiKey?: string;
}

/** Headers that apply to one connection, or only to this page. */
const LOCAL_HEADERS =
  /^(host|connection|keep-alive|transfer-encoding|content-length|accept-encoding|origin|referer|cookie|x-api-key|sec-.*)$/;
const RESPONSE_HEADERS =
  /^(connection|keep-alive|transfer-encoding|content-length|content-encoding|access-control-.*)$/;

/**
 * Requests without `key` are not forwarded. The page does not contain the key: it is part of the
 * address that is opened.
 */
export function studioProxy(target: Target, key: string): Express {
  const app = express().disable("x-powered-by").set("etag", false);
  app.use(hostGuard({ host: "127.0.0.1", allowed_hosts: [] }));
  app.use("/studio", studio({ note: target.url }));
  app.use(
    keyGuard([key], () => false),
    forward(target),
  );
  const unread = new WriteBudget({ max_unread_bytes: 2 ** 28, unread_timeout_seconds: 30 }, silentLogger);
  app.use(errorHandler(silentLogger, unread));
  return app;
}

function forward({ url, apiKey }: Target): RequestHandler {
  return async (req, res) => {
    const { url: requested, method, headers, body, signal } = toRequest(req, bodyOf(req));
    // The request target may be an absolute URL; only its path counts.
    const { pathname, search } = new URL(requested);
    for (const name of [...headers.keys()]) if (LOCAL_HEADERS.test(name)) headers.delete(name);
    if (apiKey !== undefined) headers.set("x-api-key", apiKey);
    const init: RequestInit = { method, headers, body, signal, redirect: "manual" };
    if (body) init.duplex = "half";
    const answer = await fetch(url + pathname + search, init).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      const { cause = error } = error as { cause?: unknown };
      throw new GraphServeError("server_unreachable", `${url} does not respond: ${errorMessage(cause)}`);
    });
    if (!answer) return;
    const kept = [...answer.headers].filter(([name]) => !RESPONSE_HEADERS.test(name));
    // With 401 the page would ask for a key, but the key of the remote server cannot be entered
    // there.
    const status = answer.status === 401 ? 403 : answer.status;
    const { statusText } = answer;
    await sendResponse(res, new Response(answer.body, { status, statusText, headers: kept }));
  };
}

const bodyOf = (req: ExpressRequest): ReadableStream<Uint8Array> | undefined =>
  req.method === "GET" || req.method === "HEAD"
    ? undefined
    : (Readable.toWeb(req) as ReadableStream<Uint8Array>);
