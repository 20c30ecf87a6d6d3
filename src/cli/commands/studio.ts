import type { Command } from "@commander-js/extra-typings";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { LoadedConfig } from "../../config/load.js";
import { ConfigError } from "../../support/errors.js";
import { examples, type Runner } from "../command.js";
import { openInBrowser } from "../dev/banner.js";
import { listenAt } from "../dev/dev-server.js";
import { serverOf } from "../open-client.js";
import { createConsoleLogger, openConfigured, storageConfig } from "../open.js";
import { addClientOptions, listenOptions, type PlaceFlags, wholeNumber } from "../options.js";
import { shortPath } from "../report-error.js";
import type { Session } from "../session.js";
import { Closers, listenForStop } from "../stop.js";

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

/** Nobody else is to see what graphs hide. */
const HOST = "127.0.0.1";
const NOTE = "Read only. All values are shown, also those that the graphs hide from clients.";

/** `studio`: show a storage, or a server, until told to stop. Nothing is run, nothing changed in a storage. */
async function studio(session: Session, flags: StudioFlags): Promise<number> {
  const stop = listenForStop(session.io, 1);
  const closers = new Closers();
  try {
    const { url, place, close } = await (flags.url === undefined
      ? showStorage(session, flags)
      : showServer(session, { ...flags, url: flags.url }));
    closers.add(close);
    session.print.note(`studio ${url}/studio`);
    session.print.note(`shows ${place}`);
    if (session.print.flags.json) session.print.json({ studio: `${url}/studio`, place, pid: process.pid });
    if (flags.open) openInBrowser(`${url}/studio`);
    await stop.stopped;
  } finally {
    await closers.close();
  }
  stop.done();
  return 0;
}

interface Shown {
  url: string;
  place: string;
  close: () => Promise<void>;
}

/** A key that the page alone knows. */
const newKey = (): string => randomBytes(16).toString("hex");

/** @throws ConfigError for a storage that keeps nothing, StorageUnavailableError */
async function showStorage(session: Session, flags: StudioFlags): Promise<Shown> {
  const config = await storageConfig(session, flags);
  const { checkpointer_scheme, log_level } = config.settings;
  if (checkpointer_scheme === "memory")
    throw new ConfigError("scheme memory keeps no threads to look at", {
      hint: "name a storage with --db, or a server with --url",
    });
  const key = newKey();
  const logger = createConsoleLogger(session.print, log_level === "info" ? "warn" : log_level);
  const service = await openConfigured(forOnePage(config, key), logger, { readOnly: true, unfiltered: true });
  try {
    const hasGraphs = Object.keys(config.settings.graphs).length > 0;
    if (hasGraphs) for (const fault of service.graphFaults().values()) session.print.warn(fault.message);
    const server = await listenAt(service, {
      host: HOST,
      port: portOf(flags) ?? config.settings.port,
      mayMove: flags.port === undefined,
      studio: { key, note: NOTE },
      readOnly: true,
    });
    const { scheme, location } = service.storage;
    const place = location === undefined ? scheme : `${scheme} ${shortPath(location, config.baseDir)}`;
    return { url: server.url, place, close: () => server.close(1) };
  } catch (error) {
    await service.close(0);
    throw error;
  }
}

/** Nobody but the page is answered. */
function forOnePage(config: LoadedConfig, key: string): LoadedConfig {
  const settings = {
    ...config.settings,
    api_keys: [key],
    auth: undefined,
    open_routes: [],
    cors_origins: [],
    cors_origin_regex: undefined,
    disabled_routes: [],
    list_all_assistants: true,
    metrics: false,
  };
  return { ...config, settings };
}

/** @throws ConfigError when the port cannot be had */
async function showServer(session: Session, flags: StudioFlags & { url: string }): Promise<Shown> {
  const { checkedAddress } = await import("../../client/server.js");
  const address = checkedAddress(serverOf(session.io, flags));
  const { studioProxy } = await import("../../http/studio-proxy.js");
  const server = createServer(studioProxy(address, newKey()));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new ConfigError(error.message, { cause: error })));
    server.listen(portOf(flags) ?? 0, HOST, resolve);
  });
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://${HOST}:${port}`, place: address.url, close };
}

const portOf = ({ port }: StudioFlags): number | undefined =>
  port === undefined ? undefined : wholeNumber("--port", port);
