import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { ConfigError, errorMessage } from "../support/errors.js";
import { addFetchTarget } from "../support/sdk-fetch.js";
import type { Service } from "../service/service.js";
import { createApp } from "./app.js";
import { inProcessFetch } from "./in-process/fetch.js";
import { currentSender } from "./in-process/sender.js";
import type { StudioOptions } from "./studio/studio.js";
import { handleUpgrades, type Upgrades } from "./websocket/upgrades.js";

export interface RunningServer {
  /** Where to reach it from this machine. */
  url: string;
  host: string;
  port: number;
  /**
   * Accept no more, close the service (which ends runs and streams within its grace), then every connection. A worker's
   * port closes with the connections.
   * Safe to repeat.
   */
  close(graceSeconds?: number): Promise<void>;
}

export interface ListenOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** As those of `createApp`. */
  studio?: boolean | StudioOptions;
  readOnly?: boolean;
}

// Longer than the idle time of common proxies, so that the side that reuses a connection is not the one to lose it.
const KEEP_ALIVE_MS = 65_000;
// Time for a request to arrive, headers and body. The answer may take as long as it takes.
const REQUEST_TIMEOUT_MS = 300_000;
// Time for finished answers to reach their clients when the server closes.
const DRAIN_MS = 2_000;
const DRAIN_STEP_MS = 20;

/**
 * Serve `service` on an address.
 * @throws ConfigError when the address cannot be listened on (`config_invalid`)
 */
export async function startServer(service: Service, options: ListenOptions): Promise<RunningServer> {
  const checkHost = mustCheckHost(options.host, service);
  const { studio, readOnly } = options;
  const app = createApp(service, { checkHost, studio, readOnly });
  let closing: Promise<void> | undefined;
  const server = createServer(app);
  const upgrades = handleUpgrades(server, app);
  const endUnused = watchUnused(server);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = KEEP_ALIVE_MS + 1_000;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  const port = await listen(server, options);
  const url = `http://${reachable(options.host)}:${port}`;
  const withdrawFetch = addFetchTarget({
    url,
    fetch: inProcessFetch(server, service),
    isCalling: () => currentSender(service) !== undefined,
  });
  return {
    url,
    host: options.host,
    port,
    close: (graceSeconds) =>
      (closing ??= close(server, service, upgrades, endUnused, graceSeconds).finally(withdrawFetch)),
  };
}

/**
 * A server for this machine alone answers to this machine's names. One on a public address is reached by names that
 * only its settings can tell, so it is checked when they do.
 */
function mustCheckHost(host: string, { settings }: Service): boolean {
  return /^(localhost|127\.[\d.]+|::1)$/.test(host) || settings.allowed_hosts.length > 0;
}

/**
 * The port that the server listens on from now on.
 * @throws ConfigError when the address cannot be listened on (`config_invalid`)
 */
export function listen(
  server: Server,
  { host, port }: Pick<ListenOptions, "host" | "port">,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => reject(listenError(error, host, port));
    server.once("error", onError);
    server.listen(port, host, () => {
      server.off("error", onError);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): ConfigError {
  const where = `${host}:${port}`;
  switch (error.code) {
    case "EADDRINUSE":
      return new ConfigError(`${where} is in use by another process`, {
        cause: error,
        hint: "choose another port",
      });
    case "EACCES":
      return new ConfigError(`no permission to listen on ${where}`, {
        cause: error,
        hint: "choose a port above 1023",
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ConfigError(`${host} is not an address of this machine`, {
        cause: error,
        hint: "set host to 127.0.0.1, or to 0.0.0.0 for every address",
      });
    default:
      return new ConfigError(`cannot listen on ${where}: ${errorMessage(error)}`, { cause: error });
  }
}

/**
 * What browsers and clients open ahead of a request, Node does not count as idle: gives what ends the connections on
 * which nothing has come.
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
  // Connections that stay open would keep the server from closing.
  server.prependListener("request", (_req, res) => (res.shouldKeepAlive = false));
  const closePort = () => new Promise<void>((resolve) => server.close(() => resolve()));
  // Nobody sends a worker runs: probes and scrapers are answered until its own have ended.
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

/** A host for the URL: the wildcard addresses are reached as localhost, IPv6 stands in brackets. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::" || host === "") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
