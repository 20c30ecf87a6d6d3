/** From the route table to Express. */
import type { Express, Request, RequestHandler, Response } from "express";
import type { Service } from "../service.js";
import { GraphServeError } from "../support/errors.js";
import type { Metrics } from "../support/metrics.js";
import { factsOf } from "./middleware.js";
import { readJson, readQuery, validate } from "./request.js";
import {
  disconnectSignal,
  sendEmpty,
  sendJson,
  sendList,
  sendText,
  sendWhenReady,
  type Unread,
} from "./respond.js";
import type { Call, Reply, Route } from "./route.js";
import { sendStream } from "./sse.js";

/** Register every route, and a 405 for the methods that a path does not have. */
export function registerRoutes(
  app: Express,
  service: Service,
  routes: readonly Route[],
  unread: Unread,
): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    const entry = app.route(path.replace(/\{(\w+)\}/g, ":$1"));
    for (const route of here) entry[route.method](requestHandler(service, route, unread));
    entry.all(methodNotAllowed(here.map((route) => route.method)));
  }
}

/** One request: query and body checked, one call, one reply. */
function requestHandler(service: Service, route: Route, unread: Unread): RequestHandler {
  return async (req, res) => {
    const query = route.query && (await readQuery(route.query, req.query));
    const body = route.body && (await readBody(route.body, req, service.settings.body_limit));
    const disconnected = () => disconnectSignal(res);
    const params = req.params as Call["params"];
    const { caller } = factsOf(req);
    const call: Call = {
      service: caller ? service.as(caller) : service,
      params,
      query,
      body,
      headers: req.headers,
      disconnected,
    };
    await answer(route, call, (reply) => send(res, reply, service, unread));
  };
}

/** Nothing here waits with the reply in hand: what it was made of is not to stay while a client reads it. */
function answer(route: Route, call: Call, sendReply: (reply: Reply) => void | Promise<void>): Promise<void> {
  return Promise.resolve(route.handle(call)).then(sendReply);
}

async function readBody(schema: NonNullable<Route["body"]>, req: Request, limit: number): Promise<unknown> {
  const body = await readJson(req, limit);
  await validate(schema, body, "body");
  return body;
}

function send(res: Response, reply: Reply, service: Service, unread: Unread): void | Promise<void> {
  const { logger, metrics } = service;
  switch (reply.kind) {
    case "json":
      return sendJson(res, 200, reply.body, unread, reply.headers);
    case "list":
      return sendList(res, reply.items, reply.frame, unread, reply.headers, logger);
    case "empty":
      return sendEmpty(res, reply.status, reply.headers);
    case "waiting":
      return sendWhenReady(res, reply.answer, reply.headers, unread, logger);
    case "text":
      return sendText(res, reply.text, reply.contentType, unread);
    case "stream":
      if (metrics && !res.destroyed) countStream(res, metrics);
      return sendStream(res, reply.stream, reply.headers, unread, logger);
  }
}

/** A stream is open for as long as its reader is there, which may be less than it has frames to come. */
function countStream(res: Response, metrics: Metrics): void {
  metrics.streamOpened();
  res.once("close", () => metrics.streamClosed());
}

export function methodNotAllowed(methods: readonly Route["method"][]): RequestHandler {
  const allow = methods.map((method) => method.toUpperCase());
  if (allow.includes("GET")) allow.push("HEAD");
  const allowed = allow.join(", ");
  return (req, res) => {
    res.setHeader("Allow", allowed);
    throw new GraphServeError("method_not_allowed", `${req.method} is not allowed here; allowed: ${allowed}`);
  };
}

export const routeNotFound: RequestHandler = (req) => {
  throw new GraphServeError("route_not_found", `there is no route ${req.method} ${req.path.slice(0, 200)}`);
};
