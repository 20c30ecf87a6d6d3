import type { Command } from "@commander-js/extra-typings";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { LoadedConfig } from "../../config/load.js";
import { ConfigError } from "../../support/errors.js";
import { examples, type Runner } from "../session/command.js";
import { openInBrowser } from "../dev/banner.js";
import { listenAt, listenOnFreePort } from "../dev/dev-server.js";
import { StorageHelpers } from "../dev/thread-helpers.js";
import { isEphemeral, serverOf } from "../session/open-client.js";
import { createConsoleLogger, openConfigured, storageConfig } from "../session/open.js";
import { addClientOptions, listenOptions, type PlaceFlags, wholeNumber } from "../session/options.js";
import { shortPath } from "../session/report-error.js";
import type { Session } from "../session/session.js";
import { Closers, listenForStop } from "../session/stop.js";

export function studioCommand(command: Command, run: Runner): void {
  addClientOptions(command.addOption(listenOptions.port()).option("--open", "open the page in a browser"))
    .addHelpText(
      "after",
      examples(
        "graph-serve studio --open",
        "graph-serve studio --db ./threads.db",
        "graph-serve studio --url https://agents.example.com --api-key secret",
      ),
    )
    .action((options) => run(command, async (session) => studio(session, options)));
}

interface StudioFlags extends PlaceFlags {
  port?: string;
  open?: boolean;
}

/** Loopback only, because the page shows hidden state keys. */
const HOST = "127.0.0.1";
const NOTE = "Read-only. Shows all values, including state keys that are hidden from clients.";

/** `studio`: shows a storage or a server until stopped by a signal. Read-only for a storage. */
async function studio(session: Session, flags: StudioFlags): Promise<number> {
  const stop = listenForStop(session.io, 1);
  const closers = new Closers();
  try {
    const { url, key, place, close } = await (flags.url === undefined
      ? showStorage(session, flags)
      : showServer(session, { ...flags, url: flags.url }));
    closers.add(close);
    // The fragment is not sent to the server. The page itself needs no key: any local process can load it.
    const address = `${url}/studio/#key=${key}`;
    session.print.note(`studio ${address}`);
    session.print.note(`showing ${place}`);
    if (session.print.flags.json) session.print.json({ studio: address, place, pid: process.pid });
    if (flags.open) openInBrowser(address);
    await stop.stopped;
  } finally {
    await closers.close();
  }
  stop.done();
  return 0;
}

interface Shown {
  url: string;
  /** API key of the page, printed only on the terminal. */
  key: string;
  place: string;
  close: () => Promise<void>;
}

const newKey = (): string => randomBytes(16).toString("hex");

/** @throws ConfigError for a storage that is not durable, StorageUnavailableError, InvalidRequestError if the port is invalid */
async function showStorage(session: Session, flags: StudioFlags): Promise<Shown> {
  const port = portOf(flags);
  const config = await storageConfig(session, flags);
  const { checkpointer_scheme, log_level } = config.settings;
  if (isEphemeral(config))
    throw new ConfigError(`scheme ${checkpointer_scheme} does not persist threads`, {
      hint: "specify a storage with --db or a server with --url, or open the Studio of the running dev server",
    });
  const key = newKey();
  const logger = createConsoleLogger(session.print, log_level === "info" ? "warn" : log_level);
  const service = await openConfigured(forOnePage(config, key), logger, { mode: "read", unfiltered: true });
  const { baseDir } = config;
  const env = { ...session.io.env, ...config.env };
  const helpers = new StorageHelpers({ service, env, baseDir }, key);
  try {
    const hasGraphs = Object.keys(config.settings.graphs).length > 0;
    if (hasGraphs) for (const fault of service.graphFaults().values()) session.print.warn(fault.message);
    const server = await listenAt(service, {
      host: HOST,
      port: port ?? config.settings.port,
      mayMove: port === undefined,
      studio: { note: NOTE, helpers },
      readOnly: true,
    });
    const { scheme, location } = service.storage;
    const place = location === undefined ? scheme : `${scheme} ${shortPath(location, config.baseDir)}`;
    return { url: server.url, key, place, close: () => server.close(1) };
  } catch (error) {
    await service.close(0);
    throw error;
  }
}

/** Accepts only loopback requests with the key, whatever access the project configures for its own server. */
function forOnePage(config: LoadedConfig, key: string): LoadedConfig {
  const settings = {
    ...config.settings,
    host: HOST,
    allowed_hosts: [],
    api_keys: [key],
    auth: undefined,
    open_routes: [],
    cors_origins: [],
    cors_origin_regex: undefined,
    disabled_routes: [],
    list_all_assistants: true,
    metrics: false,
    metrics_port: undefined,
    metrics_key: undefined,
  };
  return { ...config, settings };
}

/** @throws ConfigError if the port is not available, InvalidRequestError if the port is invalid */
async function showServer(session: Session, flags: StudioFlags & { url: string }): Promise<Shown> {
  const { checkedAddress } = await import("../../client/server.js");
  const address = checkedAddress(serverOf(session.io, flags));
  const { studioProxy } = await import("../../http/studio-proxy.js");
  const { listen } = await import("../../http/listen.js");
  const key = newKey();
  const server = createServer(studioProxy(address, key));
  const port = await listenOnFreePort({ host: HOST, port: portOf(flags) ?? 0, mayMove: false }, (at) =>
    listen(server, at),
  );
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://${HOST}:${port}`, key, place: address.url, close };
}

const MOST_PORT = 65_535;
const portOf = ({ port }: StudioFlags): number | undefined =>
  port === undefined ? undefined : wholeNumber("--port", port, 0, MOST_PORT);
