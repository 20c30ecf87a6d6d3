/** Builds the Express application: middleware, then the routes. */
import { randomUUID } from "node:crypto";
import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import type { CommandService, Service } from "../service/service.js";
import { ConfigError, GraphServeError } from "../support/errors.js";
import type { Caller } from "../models/caller.js";
import type { Logger } from "../support/log.js";
import type { Metrics } from "../support/metrics.js";
import { agentGuard, callerGuard, keyGuard, openRoutes } from "./middleware/api-keys.js";
import { headersFor } from "./core/configurable-headers.js";
import { authorizeRoute, commandEvents } from "./core/auth-events.js";
import { docs } from "./docs.js";
import { errorHandler } from "./middleware/error-handler.js";
import { corsHeaders, hostGuard, originGuard } from "./middleware/origins.js";
import { type InProcessSender, inProcessSender } from "./in-process/sender.js";
import { mountedApp } from "./in-process/mounted-app.js";
import { isMetricsPath, onlyOnOwnPort } from "./metrics-server.js";
import { buildOpenApi, type KeySecurity } from "./openapi.js";
import { sendStream, WriteBudget } from "./core/response-writer.js";
import { BodyBudget } from "./core/body-bytes.js";
import {
  disconnectSignal,
  requestContext,
  trackRequest,
  readJson,
  readQuery,
  validatePayload,
} from "./core/request.js";
import { sendEmpty, sendJson, sendList, sendText, sendWhenReady } from "./core/respond.js";
import { enabledRoutes, isReadOnly } from "./route-table.js";
import type { Call, Route, RouteReply } from "./core/route.js";
import { studio, type StudioOptions } from "./studio/studio.js";

interface AppOptions {
  /**
   * Checks the Host header against the setting allowed_hosts. Off by default, because a host
   * application does this itself.
   */
  checkHost?: boolean;
  /** Serves the Studio at /studio, with options. Default: the setting `studio`. */
  studio?: boolean | StudioOptions;
  /** Rejects all requests that would change something (`read_only`). */
  readOnly?: boolean;
}

/**
 * Creates an Express application that serves `service`. It can be mounted in another application
 * under any prefix. It handles every path below its mount point: unknown paths return 404.
 * @param service an open service; the caller must close it
 * @param options whether to check the Host header, serve the Studio, or reject changes
 * @returns the application
 * @throws ConfigError for a service that was opened without its auth function (`config_invalid`)
 * @example
 * ```ts
 * import express from "express";
 * import { once } from "node:events";
 * import { createApp, openService } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const service = await openService({ graphs: { agent: graph } });
 * const app = express();
 * app.use("/agents", createApp(service));
 * const server = app.listen(0, "127.0.0.1");
 * await once(server, "listening");
 * server.close();
 * await service.close();
 * ```
 */
export function createApp(
  service: Service,
  { checkHost = false, studio: studioOptions = service.settings.studio, readOnly = false }: AppOptions = {},
): Express {
  const { settings, logger } = service;
  assertAuth(service);
  const app = express();
  app
    .disable("x-powered-by")
    .set("etag", false)
    .set("case sensitive routing", true)
    .set("query parser", "simple");
  app.use(requestId(new BodyBudget(settings.max_incoming_bytes)), noSniffing, accessLog(logger), oneHost);
  if (checkHost) app.use(hostGuard(settings));
  if (settings.metrics_port !== undefined) app.use(onlyOnOwnPort);
  // Before CORS, which does not apply to the Studio. The page is public; the data it shows is not.
  if (studioOptions !== false)
    app.use(
      "/studio",
      hostGuard(settings),
      studio({ ...(studioOptions === true ? {} : studioOptions), readOnly }),
    );
  app.use(corsHeaders(settings), originGuard(settings));
  const { metrics_key } = settings;
  const isInOpenRoutes = openRoutes(settings.open_routes);
  const isOpen = (path: string) => isInOpenRoutes(path) || (metrics_key !== undefined && isMetricsPath(path));
  if (metrics_key !== undefined) app.use(keyGuard([metrics_key], (path) => !isMetricsPath(path)));
  if (settings.api_keys) app.use(keyGuard(settings.api_keys, isOpen));
  if (service.authenticate) app.use(callerGuard(service.authenticate, isOpen));
  if (settings.http_app !== undefined) {
    // With loose routing, the app could treat a path as different although a route matches it.
    app.set("strict routing", true);
    app.use(mountedApp(service, isOpen));
  }
  const unread = new WriteBudget(settings, logger);
  if (service.authorize) app.use(["/mcp", "/a2a"], agentGuard(service.authorize));
  if (service.mcpSdk && !readOnly) app.use("/mcp", mcp(service, unread));
  if (service.a2aSdk && !readOnly) app.use(a2a(service, unread));
  const routes = enabledRoutes(settings);
  registerRoutes(app, routes, (route) =>
    readOnly && !isReadOnly(route) ? refuseChange : requestHandler(service, route, unread),
  );
  if (!settings.disabled_routes.includes("meta")) {
    const keys = settings.api_keys && { openRoutes: settings.open_routes };
    app
      .route("/openapi.json")
      .get(openApiDocument(routes, unread, keys))
      .all(methodNotAllowed(["get"]));
    app.use("/docs", docs());
  }
  app.use(routeNotFound);
  app.use(errorHandler(logger, unread));
  return app;
}

/** @throws ConfigError if the setting auth is present but no auth function is loaded */
function assertAuth({ settings, authenticate }: Service): void {
  if (settings.auth === undefined || authenticate) return;
  throw new ConfigError("this service was opened without its auth function", {
    hint: 'open it with openService({ mode: "serve" })',
  });
}

/** Serves the document, built by the first request. */
function openApiDocument(
  routes: readonly Route[],
  unread: WriteBudget,
  keys: KeySecurity | undefined,
): RequestHandler {
  let text: string | undefined;
  return (_req, res) => {
    text ??= JSON.stringify(buildOpenApi(routes, keys));
    return sendText(res, text, "application/json; charset=utf-8", unread);
  };
}

/** The Model Context Protocol, loaded by the first request. */
function mcp(service: Service, unread: WriteBudget): RequestHandler {
  let handler: Promise<RequestHandler> | undefined;
  return async (req, res, next) => {
    handler ??= import("./agents/mcp.js").then(({ serveMcp }) => serveMcp(service, unread));
    await (
      await handler
    )(req, res, next);
  };
}

const A2A_PATHS = /^\/(a2a|\.well-known\/agent-card\.json)(\/|$)/;

/** The Agent2Agent protocol, loaded by the first request. */
function a2a(service: Service, unread: WriteBudget): RequestHandler {
  let handler: Promise<RequestHandler> | undefined;
  return async (req, res, next) => {
    if (!A2A_PATHS.test(req.path)) return next();
    handler ??= import("./agents/a2a.js").then(({ serveA2a }) => serveA2a(service, unread));
    await (
      await handler
    )(req, res, next);
  };
}

// Middleware before the access checks: request id, access log.

/** Characters that proxies and tracing libraries use in ids. They cannot forge a log line. */
const SANE = /^[\w.:/+=@-]{1,128}$/;

/** Assigns a request id, taken from `x-request-id` if valid, and returns it in the response. */
function requestId(budget: BodyBudget): RequestHandler {
  return (req, res, next) => {
    const given = req.headers["x-request-id"];
    const id = typeof given === "string" && SANE.test(given) ? given : randomUUID();
    trackRequest(req, id, budget);
    res.setHeader("X-Request-Id", id);
    next();
  };
}

/** With two Host headers, proxies and servers may disagree on which one counts (RFC 9112, 3.2). */
const oneHost: RequestHandler = ({ rawHeaders }, res, next) => {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (hosts < 2) return next();
  res.status(400).json({ detail: "the request has more than one Host header", code: "invalid_request" });
};

/** Status of a request that was upgraded to a WebSocket. */
const SWITCHED = 101;

/**
 * Logs every request once its response is complete or its client has disconnected. Never logs a
 * query, header or body.
 */
function accessLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const start = performance.now();
    const path = req.originalUrl.split("?", 1)[0];
    res.once("close", () => {
      const ms = Math.round((performance.now() - start) * 10) / 10;
      const aborted = !res.writableFinished && res.statusCode !== SWITCHED;
      const { id, key, caller } = requestContext(req);
      const sender = { ...(key !== undefined && { key }), ...(caller && { user: caller.user.identity }) };
      logger.info(
        {
          request_id: id,
          method: req.method,
          path,
          status: res.statusCode,
          ms,
          ...sender,
          ...(aborted && { aborted }),
        },
        "request",
      );
    });
    next();
  };
}

/** Prevents browsers from guessing the content type. */
const noSniffing: RequestHandler = (_req, res, next) => {
  res.setHeader("X-Content-Type-Options", "nosniff");
  next();
};

// Routes.

/** Registers every route, and a 405 response for the other methods of its path. */
function registerRoutes(
  app: Express,
  routes: readonly Route[],
  handlerOf: (route: Route) => RequestHandler,
): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    const entry = app.route(path.replace(/\{(\w+)\}/g, ":$1"));
    for (const route of here) entry[route.method](handlerOf(route));
    entry.all(methodNotAllowed(here.map((route) => route.method)));
  }
}

const refuseChange: RequestHandler = () => {
  throw new GraphServeError("read_only", "this server is read-only", {
    hint: "use graph-serve dev to run graphs and edit state",
  });
};

/** Handles one request: validates query and body, calls the route and sends its reply. */
function requestHandler(service: Service, route: Route, unread: WriteBudget): RequestHandler {
  const copyHeaders = headersFor(route, service.settings.configurable_headers);
  return async (req, res) => {
    const query = route.query && (await readQuery(route.query, req.query));
    const sent = route.body && (await readBody(route.body, req, service.settings.body_limit));
    const body = copyHeaders ? copyHeaders(sent, req.headers) : sent;
    const disconnected = () => disconnectSignal(res);
    const params = req.params as Call["params"];
    const { caller: sender } = requestContext(req);
    const { authorize } = service;
    const caller =
      authorize && sender ? await authorizeRoute(authorize, sender, route, { params, query, body }) : sender;
    const within = inProcessSender(req)?.within;
    const trace = service.tracing && traceRequest(service.tracing, route, req, res);
    const call: Call = {
      ...(authorize && caller && { serviceFor: commandService(authorize, caller, service, within, trace) }),
      service: caller || within || trace ? service.as(caller, within, trace) : service,
      params,
      query,
      body,
      headers: req.headers,
      disconnected,
    };
    await answer(route, call, (reply) => send(res, reply, service, unread));
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
  const incoming = req.headers.traceparent ?? inProcessSender(req)?.within?.traceparent;
  const request = tracing.request("POST", path, incoming);
  res.once("close", () => request.end(res.statusCode));
  return request.traceparent;
}

/**
 * Does not await while holding the call, so that its data can be collected while a client reads the
 * reply.
 */
function answer(
  route: Route,
  call: Call,
  sendReply: (reply: RouteReply) => void | Promise<void>,
): Promise<void> {
  return Promise.resolve(route.handle(call)).then(sendReply);
}

async function readBody(schema: NonNullable<Route["body"]>, req: Request, limit: number): Promise<unknown> {
  const body = await readJson(req, limit);
  await validatePayload(schema, body, "body");
  return body;
}

function send(res: Response, reply: RouteReply, service: Service, unread: WriteBudget): void | Promise<void> {
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
    case "socket":
      return import("./websocket/websocket.js").then(({ acceptSocket }) =>
        acceptSocket(res, reply, unread, logger),
      );
  }
}

/** Counts a stream as open until its reader disconnects, which can be before its last frame. */
function countStream(res: Response, metrics: Metrics): void {
  metrics.streamOpened();
  res.once("close", () => metrics.streamClosed());
}

function methodNotAllowed(methods: readonly Route["method"][]): RequestHandler {
  const allow = methods.map((method) => method.toUpperCase());
  if (allow.includes("GET")) allow.push("HEAD");
  const allowed = allow.join(", ");
  return (req, res) => {
    res.setHeader("Allow", allowed);
    throw new GraphServeError("method_not_allowed", `${req.method} is not allowed here; allowed: ${allowed}`);
  };
}

const routeNotFound: RequestHandler = (req) => {
  throw new GraphServeError(
    "route_not_found",
    `route ${req.method} ${req.path.slice(0, 200)} does not exist`,
  );
};
