/** Handles the requests of a route: validates query and body, calls the route and sends its reply. */
import type { Request, RequestHandler, Response } from "express";
import type { CommandService, Service } from "../service/service.js";
import type { Caller } from "../models/caller.js";
import type { JsonObject } from "../models/common.js";
import type { Metrics } from "../support/metrics.js";
import { headersFor } from "./core/configurable-headers.js";
import { authorizeRoute, commandEvents } from "./core/auth-events.js";
import { type InProcessSender, inProcessSenders } from "./in-process/sender.js";
import { sendStream } from "./core/event-stream.js";
import type { WriteBudget } from "./core/response-writer.js";
import { validatePayload } from "./core/validation.js";
import { readQuery } from "./core/query.js";
import { disconnectSignal, requestContext, readJson } from "./core/request.js";
import { sendEmpty, sendJson, sendList, sendText, sendWhenReady } from "./core/respond.js";
import type { Call, Route, RouteReply } from "./core/route.js";

/** Handles one request: validates query and body, calls the route and sends its reply. */
export function requestHandler(service: Service, route: Route, unread: WriteBudget): RequestHandler {
  const copyHeaders = headersFor(route, service.settings.configurable_headers);
  const takesKey = route.requestHeaders?.properties["Idempotency-Key"] !== undefined;
  // A function of its own, so that the data of the call can be collected while a client reads the reply.
  const replyTo = async (req: Request, res: Response): Promise<RouteReply> => {
    const query = route.query && (await readQuery(route.query, req.query));
    const sent = route.body && (await readJson(req, service.settings.body_limit));
    if (route.body) await validatePayload(route.body, sent, "body");
    const body = copyHeaders ? copyHeaders(sent, req.headers) : sent;
    const params = req.params as Call["params"];
    const { caller: sender } = requestContext(req);
    const { authorize } = service;
    const caller =
      authorize && sender ? await authorizeRoute(authorize, sender, route, { params, query, body }) : sender;
    const key = takesKey ? req.headers["idempotency-key"] : undefined;
    const within = inProcessSenders.get(req.socket)?.within;
    const trace = service.tracing && traceRequest(service.tracing, route, req, res);
    const call: Call = {
      ...(authorize && caller && { serviceFor: commandService(authorize, caller, service, within, trace) }),
      service: caller || within || trace ? service.as(caller, within, trace) : service,
      params,
      query,
      body: key === undefined ? body : { ...(body as JsonObject), idempotency_key: String(key) },
      headers: req.headers,
      disconnected: () => disconnectSignal(res),
    };
    return route.handle(call);
  };
  const { logger, metrics } = service;
  return async (req, res) => {
    const reply = await replyTo(req, res);
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
      case "socket":
        return (await import("./websocket/websocket.js")).acceptSocket(res, reply, unread, logger);
    }
  };
}

/** The service for a command, which can start a run. A command that reads has the scope of its request. */
function commandService(
  authorize: NonNullable<Service["authorize"]>,
  caller: Caller,
  service: Service,
  ...within: [InProcessSender["within"], string | undefined]
): CommandService {
  return async (method, threadId, params) => {
    const events = commandEvents(method, threadId, params);
    const acting = events.length === 0 ? caller : await authorize(caller, events);
    for (const { accept, value } of events) accept?.(value);
    return service.as(acting, ...within);
  };
}

/** The span of a request that can start a run, as a `traceparent`. It ends with the response. */
function traceRequest(
  tracing: NonNullable<Service["tracing"]>,
  { tag, method, path }: Route,
  req: Request,
  res: Response,
): string | undefined {
  if (method !== "post" || (tag !== "Runs" && tag !== "Events and commands")) return undefined;
  const incoming = req.headers.traceparent ?? inProcessSenders.get(req.socket)?.within?.traceparent;
  const request = tracing.request("POST", path, incoming);
  res.once("close", () => request.end(res.statusCode));
  return request.traceparent;
}

/** Counts a stream as open until its reader disconnects, which can be before its last frame. */
function countStream(res: Response, metrics: Metrics): void {
  metrics.streamOpened();
  res.once("close", () => metrics.streamClosed());
}
