/** Opens Node's debugger in the process of `dev`, which runs the graphs. It stays open when `dev` reloads. */
import { once } from "node:events";
import inspector from "node:inspector";
import { createServer } from "node:net";
import { ConfigError, InvalidRequestError } from "../../support/errors.js";
import { portTaken } from "./dev-server.js";

const HOST = "127.0.0.1";
const PORT = 9229;
const MOST = 65_535;

export interface InspectAddress {
  host: string;
  port: number;
}

/**
 * Parses `--inspect`: nothing, a port, a host, or both.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function inspectAddress(value: string | true): InspectAddress {
  if (value === true) return { host: HOST, port: PORT };
  const parts = /^\d+$/.test(value) ? ["", "", value] : ADDRESS.exec(value);
  const [, host, digits] = parts ?? [];
  const port = digits === undefined ? PORT : Number(digits);
  if (!parts || port > MOST || SOURCE_FILE.test(value))
    throw new InvalidRequestError(`--inspect must be a port, or a host and a port, got ${value}`, undefined, {
      hint: "for example --inspect=9230 or --inspect=127.0.0.1:9230; name graphs before it: graph-serve dev ./graph.ts --inspect",
    });
  return { host: host?.replace(/^\[|\]$/g, "") || HOST, port };
}

/** A name or an IPv4 address, or an IPv6 address in brackets, and a port. */
const ADDRESS = /^(\[[\da-f:]+\]|[a-z][\w.-]*|\d+(?:\.\d+){3})(?::(\d+))?$/i;
const SOURCE_FILE = /\.[cm]?[jt]sx?$/;

/**
 * @returns the address for a debugger, and a function that closes it
 * @throws ConfigError if the address cannot be used (`config_invalid`)
 */
export async function openDebugger({ host, port }: InspectAddress): Promise<{ url: string; close(): void }> {
  const open = inspector.url();
  // Node was started with --inspect itself, and its debugger is in this process too.
  if (open !== undefined) return { url: open, close: () => undefined };
  await assertFree(host, port);
  inspector.open(port, host);
  const url = inspector.url();
  if (url === undefined) throw unusable(host, port, "Node could not listen there");
  return { url, close: () => inspector.close() };
}

/** Node only prints that it cannot listen. */
async function assertFree(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    const listening = once(server, "listening");
    server.listen(port, host);
    await listening;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE") throw unusable(host, port, code ?? String(error));
    throw await portTaken(
      { host, port },
      `another port, such as --inspect=${port + 1}, or --inspect=0`,
      error,
    );
  }
  server.close();
  await once(server, "close");
}

const unusable = (host: string, port: number, why: string): ConfigError =>
  new ConfigError(`the debugger cannot listen on ${host}:${port}: ${why}`, {
    hint: "use a port of this machine, such as --inspect=127.0.0.1:9230",
  });
