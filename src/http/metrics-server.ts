/** The second server of the setting metrics_port: it serves only `/metrics`, with the checks of the first. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { RequestHandler } from "express";
import type { Service } from "../service/service.js";
import { ConfigError, GraphServeError } from "../support/errors.js";
import { listen } from "./listen.js";
import { openRoutes } from "./middleware/api-keys.js";

/** Whether a path is that of the metrics, for the checks of access and of the port alike. */
export const isMetricsPath = openRoutes(["/metrics"]);

const received = new WeakSet<IncomingMessage>();

export interface MetricsServer {
  url: string;
  close(): Promise<void>;
}

/**
 * @param app the application of the first server
 * @returns undefined without the setting
 * @throws ConfigError if the server cannot listen on the port (`config_invalid`)
 */
export async function serveMetrics(
  { settings, metrics }: Service,
  { app, host }: { app: RequestListener; host: string },
): Promise<MetricsServer | undefined> {
  const { metrics_port } = settings;
  if (metrics_port === undefined || !metrics) return undefined;
  const server = createServer((req, res) => {
    received.add(req);
    app(req, res);
  });
  const port = await listen(server, { host, port: metrics_port }).catch((error: ConfigError) => {
    // Without the cause: a port in use here must not move the first server to another port.
    throw new ConfigError(`metrics_port ${metrics_port}: ${error.message}`, {
      hint: "choose another metrics_port",
    });
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}/metrics`,
    close: () => close(server),
  };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Serves metrics on their own port only, and nothing else there. */
export const onlyOnOwnPort: RequestHandler = (req, _res, next) => {
  if (received.has(req) === isMetricsPath(req.path)) return next();
  throw new GraphServeError(
    "route_not_found",
    `route ${req.method} ${req.path} does not exist on this port`,
    {
      hint: received.has(req) ? "only /metrics is served here" : "it is served on metrics_port",
    },
  );
};
