/** Builds the Express application: middleware, then the routes. */
import express, { type Express, type RequestHandler } from "express";
import type { Service } from "../service/service.js";
import { ConfigError, GraphServeError } from "../support/errors.js";
import { agentGuard, callerGuard, keyGuard, openRoutes } from "./middleware/api-keys.js";
import { docs } from "./docs.js";
import { accessLog } from "./middleware/access-log.js";
import { errorHandler } from "./middleware/error-handler.js";
import { hostGuard } from "./middleware/hosts.js";
import { corsHeaders } from "./middleware/cors.js";
import { originGuard } from "./middleware/origins.js";
import { mountedApp } from "./in-process/mounted-app.js";
import { isMetricsPath, onlyOnOwnPort } from "./metrics-server.js";
import { buildOpenApi, type KeySecurity } from "./openapi.js";
import { WriteBudget } from "./core/response-writer.js";
import { BodyBudget } from "./core/body-bytes.js";
import { sendText } from "./core/respond.js";
import { requestHandler } from "./request-handler.js";
import { enabledRoutes, isReadOnly } from "./route-table.js";
import type { Route } from "./core/route.js";
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
  app.use(accessLog(logger, new BodyBudget(settings.max_incoming_bytes)));
  app.use(hostGuard(checkHost ? settings : undefined));
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
