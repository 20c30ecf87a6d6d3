import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";

export interface RunningServer {
  /** URL of the server for clients on this machine. */
  url: string;
  host: string;
  port: number;
  /** URL of the metrics on `metrics_port`; undefined without the setting. */
  metricsUrl?: string;
  /**
   * Stops accepting connections, closes the service, which ends runs and streams within the grace
   * period, then closes all connections. A worker's port stays open until its service is closed.
   * Safe to call repeatedly.
   * @param graceSeconds overrides the setting shutdown_grace_seconds
   */
  close(graceSeconds?: number): Promise<void>;
}

/**
 * Starts listening and returns the port.
 * @throws ConfigError if the server cannot listen on the address (`config_invalid`)
 */
export function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
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
