import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import express, { type Express } from "express";
import { addFetchTarget } from "../support/sdk-fetch.js";
import type { Service } from "../service/service.js";
import { createApp } from "./app.js";
import { listen, type RunningServer } from "./listen.js";
import { serveMetrics } from "./metrics-server.js";
import { inProcessFetch } from "./in-process/fetch.js";
import { currentSender } from "./in-process/sender.js";
import type { StudioOptions } from "./studio/studio.js";
import { handleUpgrades, type Upgrades } from "./websocket/upgrades.js";

export interface ListenOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** See `createApp`. */
  studio?: boolean | StudioOptions;
  readOnly?: boolean;
}

// Longer than the idle timeout of common proxies, so that a proxy does not reuse a connection that
// we are closing.
const KEEP_ALIVE_MS = 65_000;
// Timeout for receiving a request, headers and body. The response is not limited.
const REQUEST_TIMEOUT_MS = 300_000;
// Time for finished responses to reach their clients during shutdown.
const DRAIN_MS = 2_000;
const DRAIN_STEP_MS = 20;

/**
 * Serves `service` on an address.
 * @param service an open service; closing the server closes it
 * @param options host and port to listen on; port 0 picks a free port
 * @returns the server, after it has started to listen
 * @throws ConfigError if the server cannot listen on the address (`config_invalid`)
 * @example
 * ```ts
 * import { openService, startServer } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const service = await openService({ graphs: { agent: graph } });
 * const server = await startServer(service, { host: "127.0.0.1", port: 0 });
 * const response = await fetch(`${server.url}/ok`);
 * await response.json(); // => { ok: true }
 * await server.close();
 * ```
 */
export async function startServer(service: Service, options: ListenOptions): Promise<RunningServer> {
  const checkHost = mustCheckHost(options.host, service);
  const { studio, readOnly } = options;
  const { mount_prefix: prefix = "" } = service.settings;
  const inner = createApp(service, { checkHost, studio, readOnly });
  const app = prefix === "" ? inner : below(prefix, inner);
  let closing: Promise<void> | undefined;
  const server = createServer(app);
  const upgrades = handleUpgrades(server, app);
  const endUnused = watchUnused(server);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = KEEP_ALIVE_MS + 1_000;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  const metrics = await serveMetrics(service, { app: inner, host: options.host });
  const port = await listen(server, options).catch(async (error: unknown) => {
    await metrics?.close();
    throw error;
  });
  const url = `http://${reachable(options.host)}:${port}${prefix}`;
  const withdrawFetch = addFetchTarget({
    url,
    fetch: inProcessFetch(server, service),
    isCalling: () => currentSender(service) !== undefined,
  });
  return {
    url,
    host: options.host,
    port,
    ...(metrics && { metricsUrl: metrics.url }),
    close: (graceSeconds) =>
      (closing ??= close(server, service, upgrades, endUnused, graceSeconds)
        .finally(() => metrics?.close())
        .finally(withdrawFetch)),
  };
}

/** Serves `app` below `prefix` (`mount_prefix`), and the health checks of load balancers without it. */
function below(prefix: string, app: Express): Express {
  const outer = express();
  outer.disable("x-powered-by").set("case sensitive routing", true).set("strict routing", true);
  outer.use(prefix, app);
  outer.get(["/ok", "/ready"], app);
  return outer.use(({ method, path }, res) => {
    const detail = `route ${method} ${path} does not exist: this server serves only paths below ${prefix}`;
    res.status(404).json({ detail, code: "route_not_found" });
  });
}

/**
 * A server on a loopback address only accepts local host names. A public server is reached by names
 * that only its settings can list, so hosts are checked if the settings list any.
 */
function mustCheckHost(host: string, { settings }: Service): boolean {
  return /^(localhost|127\.[\d.]+|::1)$/.test(host) || settings.allowed_hosts.length > 0;
}

/**
 * Tracks connections that browsers and clients open in advance, which Node does not count as idle.
 * Returns a function that closes connections without any received data.
 */
function watchUnused(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
}

async function close(
  server: Server,
  service: Service,
  upgrades: Upgrades,
  endUnused: () => void,
  graceSeconds: number | undefined,
): Promise<void> {
  // Open keep-alive connections would prevent the server from closing.
  server.prependListener("request", (_req, res) => (res.shouldKeepAlive = false));
  const closePort = () => new Promise<void>((resolve) => server.close(() => resolve()));
  // A worker receives no runs over HTTP. It keeps answering probes and scrapers until its own runs
  // have ended.
  let closed = service.settings.role === "worker" ? undefined : closePort();
  try {
    await service.close(graceSeconds);
  } finally {
    closed ??= closePort();
    upgrades.end();
    const deadline = setTimeout(() => {
      server.closeAllConnections();
      upgrades.destroy();
    }, DRAIN_MS);
    const idle = setInterval(() => {
      server.closeIdleConnections();
      endUnused();
    }, DRAIN_STEP_MS);
    server.closeIdleConnections();
    await closed;
    clearTimeout(deadline);
    clearInterval(idle);
  }
}

/** Host for a URL: localhost for wildcard addresses, IPv6 addresses in brackets. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::" || host === "") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
