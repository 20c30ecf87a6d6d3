import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import express, { type Express, type RequestHandler, type Router } from "express";
import type { Service } from "../service.js";
import { callerGuard, keyGuard, openRoutes } from "./api-keys.js";
import { PAGE, SCRIPT, STYLE } from "./docs-page.js";
import { errorHandler } from "./error-handler.js";
import { accessLog, corsHeaders, hostGuard, noSniffing, originGuard, requestId } from "./middleware.js";
import { mountedApp } from "./mounted-app.js";
import { buildOpenApi, type KeySecurity } from "./openapi.js";
import { sendText, Unread } from "./respond.js";
import { enabledRoutes } from "./route-table.js";
import type { Route } from "./route.js";
import { methodNotAllowed, registerRoutes, routeNotFound } from "./router.js";

interface AppOptions {
  /** Check the Host header against the setting allowed_hosts. Off by default: a host application knows its names. */
  checkHost?: boolean;
}

/**
 * An Express application that serves `service`; it can be mounted in another one, under any prefix. Every path below
 * its mount point is its own: unknown ones answer 404. Closing the service stays with the caller.
 */
export function createApp(service: Service, { checkHost = false }: AppOptions = {}): Express {
  const { settings, logger } = service;
  const app = express();
  app
    .disable("x-powered-by")
    .set("etag", false)
    .set("case sensitive routing", true)
    .set("query parser", "simple");
  app.use(requestId(), noSniffing, accessLog(logger));
  if (checkHost) app.use(hostGuard(settings));
  app.use(corsHeaders(settings), originGuard(settings));
  const isOpen = openRoutes(settings.open_routes);
  if (settings.api_keys) app.use(keyGuard(settings.api_keys, isOpen));
  if (service.authenticate) app.use(callerGuard(service.authenticate, isOpen));
  if (settings.http_app !== undefined) {
    // The app must not take for another path what is a route all the same.
    app.set("strict routing", true);
    app.use(mountedApp(() => service.httpApp, settings.body_limit));
  }
  const unread = new Unread(settings, logger);
  const routes = enabledRoutes(settings.disabled_routes);
  registerRoutes(app, service, routes, unread);
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

/** Serves the document, built by the first request. */
function openApiDocument(
  routes: readonly Route[],
  unread: Unread,
  keys: KeySecurity | undefined,
): RequestHandler {
  let text: string | undefined;
  return (_req, res) => {
    text ??= JSON.stringify(buildOpenApi(routes, keys));
    return sendText(res, text, "application/json; charset=utf-8", unread);
  };
}

// Interactive documentation, from files of this package alone: nothing is fetched from elsewhere.

/** The files of Swagger UI that the page is made of. */
const ASSETS = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];

const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Swagger UI's icons are data.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Serves the documentation. */
function docs(): RequestHandler {
  const router = express.Router();
  router.get("/", redirectToFolder, page("html", PAGE));
  router.get("/page.css", page("css", STYLE));
  router.get("/page.js", page("js", SCRIPT));
  serveAssets(router);
  return router;
}

/** The page's paths are relative to its folder. */
const redirectToFolder: RequestHandler = (req, res, next) => {
  if (req.originalUrl.split("?", 1)[0]?.endsWith("/")) next();
  else res.redirect(301, "docs/");
};

const page =
  (type: string, text: string): RequestHandler =>
  (_req, res) => {
    res.setHeader("Content-Security-Policy", CONTENT_POLICY);
    res.type(type).send(text);
  };

function serveAssets(router: Router): void {
  let root: string | undefined;
  for (const name of ASSETS)
    router.get(`/${name}`, (_req, res) => res.sendFile(name, { root: (root ??= assetFolder()) }));
}

/** A build has a copy of its own; a checkout that was not built takes the files of the package. */
function assetFolder(): string {
  const { resolve } = createRequire(import.meta.url);
  const copy = join(dirname(resolve("graph-serve/package.json")), "dist/swagger-ui");
  return existsSync(copy) ? copy : dirname(resolve("swagger-ui-dist/package.json"));
}
