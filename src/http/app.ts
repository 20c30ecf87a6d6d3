import express, { type Express, type RequestHandler } from "express";
import type { Service } from "../service.js";
import { keyGuard } from "./api-keys.js";
import { accessLog } from "./access-log.js";
import { callerGuard, openRoutes } from "./authenticate.js";
import { docs } from "./docs.js";
import { errorHandler } from "./error-handler.js";
import { corsHeaders, hostGuard, originGuard } from "./guard.js";
import { buildOpenApi, type KeySecurity } from "./openapi.js";
import { requestId } from "./request-id.js";
import { ROUTES } from "./route-table.js";
import { methodNotAllowed, registerRoutes, routeNotFound } from "./router.js";

export interface AppOptions {
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
  app.use(requestId(), accessLog(logger));
  if (checkHost) app.use(hostGuard(settings));
  app.use(corsHeaders(settings), originGuard(settings));
  const isOpen = openRoutes(settings.open_routes);
  if (settings.api_keys) app.use(keyGuard(settings.api_keys, isOpen));
  if (service.authenticate) app.use(callerGuard(service.authenticate, isOpen));
  registerRoutes(app, service, ROUTES);
  app
    .route("/openapi.json")
    .get(openApiDocument(settings.api_keys && { openRoutes: settings.open_routes }))
    .all(methodNotAllowed(["get"]));
  app.use("/docs", docs());
  app.use(routeNotFound);
  app.use(errorHandler(logger));
  return app;
}

/** Serves the document, built by the first request. */
function openApiDocument(keys: KeySecurity | undefined): RequestHandler {
  let text: string | undefined;
  return (_req, res) => {
    text ??= JSON.stringify(buildOpenApi(ROUTES, keys));
    res.type("json").send(text);
  };
}
