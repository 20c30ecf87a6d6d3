/** Selects the client of a command: a server, the storage, or the running dev server for in-memory threads. */
import type { Client, HiddenReason } from "../../client/client.js";
import type { RowsClient } from "../../client/rows.js";
import type { ServerAddress } from "../../client/server.js";
import type { LoadedConfig } from "../../config/load.js";
import { inMemory } from "../../config/local-settings.js";
import { isRecord } from "../../models/common.js";
import type { ThreadState } from "../../models/state.js";
import type { Thread } from "../../models/thread.js";
import type { ThreadInMemory } from "../../service/thread-copy.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { CLIENT_KEY_VARIABLE } from "../../support/secrets.js";
import type { CliIo } from "../terminal/io.js";
import {
  createConsoleLogger,
  makeStateFolder,
  openConfigured,
  readMarker,
  rememberGraphs,
  storageConfig,
  usesStateFolder,
  withRememberedGraphs,
} from "./open.js";
import { locatedNotFound } from "./not-found.js";
import type { ClientFlags } from "./options.js";
import { type Session, setVariables } from "./session.js";
import { watchCommand } from "./watchdog.js";
import type { Printer } from "../terminal/print.js";

interface ClientNeeds {
  /** `read` (the default) changes nothing, `write` changes rows, `run` executes graphs. */
  access?: "read" | "write" | "run";
  /** `required` fails with the graph's error; `optional` (the default) uses a placeholder for a graph that fails to load. */
  graphs?: "required" | "optional";
  /** The graph to run: a file, a key of the configuration, or an assistant of the server. */
  graph?: string;
  /** Whether the run continues a thread; its graph may be in a file that an earlier command named. */
  continuesThread?: boolean;
  /** Settings that override the configuration when the storage is opened. */
  settings?: Partial<LoadedConfig["settings"]>;
  /** A copy in memory to use instead of the configured storage. */
  storage?: ThreadInMemory["storage"];
}

/**
 * The server of `--url`, else the configured storage. If that storage is not durable, the dev server running in this
 * folder.
 * @throws InvalidRequestError if the flags contradict each other (`invalid_request`)
 * @throws ConfigError, GraphLoadError (when graphs are required)
 * @throws StorageUnavailableError (`storage_unavailable`), GraphServeError (`server_unreachable`)
 */
export async function clientOf(
  session: Session,
  flags: ClientFlags,
  needs: ClientNeeds = {},
): Promise<Client> {
  const { graph } = needs;
  if (flags.url !== undefined) return serverClient(session, flags.url, flags, graph);
  const config = await storageConfig(session, flags, { graphs: graph === undefined ? [] : [graph] });
  if (needs.storage) {
    const settings = inMemory(config.settings);
    return storageClient(session, { ...config, settings }, flags, needs);
  }
  if (isEphemeral(config)) {
    const url = await devServer(session, config, needs);
    const assistant = graph === undefined ? undefined : config.settings.default_assistant_id;
    if (url !== undefined) return serverClient(session, url, flags, assistant);
  }
  return storageClient(session, config, flags, needs);
}

/** Opens the client that the flags select, runs the work, and always closes the client. */
export async function withClient<T>(
  session: Session,
  flags: ClientFlags,
  needs: ClientNeeds,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await clientOf(session, flags, needs);
  try {
    return await work(client);
  } catch (error) {
    throw locatedNotFound(error, client, { ...session.flags, ...flags });
  } finally {
    await client.close();
  }
}

/**
 * Like `withClient`, for work that needs only stored rows: neither LangGraph nor a graph is loaded.
 * @throws as `clientOf`
 */
export async function withRows<T>(
  session: Session,
  flags: ClientFlags,
  work: (client: RowsClient) => Promise<T>,
): Promise<T> {
  const config = flags.url === undefined ? await storageConfig(session, flags) : undefined;
  if (!config || isEphemeral(config)) return withClient(session, flags, {}, work);
  setVariables(config.env);
  const { openRowsClient } = await import("../../client/rows.js");
  const client = await openRowsClient({ ...config.settings, cwd: config.baseDir });
  try {
    return await work(client);
  } catch (error) {
    throw locatedNotFound(error, client, { ...session.flags, ...flags });
  } finally {
    await client.close();
  }
}

/** The server from the flags; the API key falls back to the environment variable. */
export function serverOf({ env }: Pick<CliIo, "env">, { url, apiKey }: ServerAddress): ServerAddress {
  return { url, apiKey: apiKey ?? (env[CLIENT_KEY_VARIABLE] || undefined) };
}

async function serverClient(
  { io }: Session,
  url: string,
  { raw, apiKey }: ClientFlags,
  assistant: string | undefined,
): Promise<Client> {
  if (raw) {
    throw new InvalidRequestError(
      "--raw works only offline: a server never shows hidden state keys",
      undefined,
      { hint: "remove --url to read the storage directly" },
    );
  }
  const { remoteClient } = await import("../../client/remote.js");
  return remoteClient(serverOf(io, { url, apiKey }), assistant);
}

/** Whether threads are lost or unreachable after the process that created them exits. */
export function isEphemeral({ settings: { checkpointer_scheme, checkpointer_uri } }: LoadedConfig): boolean {
  return (
    ["memory", "redis", "rediss"].includes(checkpointer_scheme) ||
    (checkpointer_scheme === "sqlite" && /:memory:$/.test(checkpointer_uri ?? ""))
  );
}

/** The URL of this project's dev server; undefined if none is running, or if the flags name a storage. */
export async function projectServer(session: Session, flags: ClientFlags): Promise<string | undefined> {
  const { db, checkpointerScheme, checkpointerUri } = flags;
  if (db !== undefined || checkpointerScheme !== undefined || checkpointerUri !== undefined) return undefined;
  return runningServer((await storageConfig(session, flags)).baseDir);
}

async function runningServer(baseDir: string): Promise<string | undefined> {
  const { isServing } = await import("../../client/server.js");
  const marker = await readMarker(baseDir);
  return marker && (await isServing(marker.url)) ? marker.url : undefined;
}

/** The URL of the dev server running in this folder, which may hold in-memory threads. Only a run works without it. */
async function devServer(
  { print }: Session,
  { baseDir, settings }: LoadedConfig,
  { access }: ClientNeeds,
): Promise<string | undefined> {
  const scheme = settings.checkpointer_scheme;
  const url = await runningServer(baseDir);
  if (url !== undefined) {
    print.note(`scheme ${scheme}: using the dev server at ${url}`);
    return url;
  }
  if (access === "run") {
    print.note(`scheme ${scheme}: the thread is discarded when this command exits`);
    return undefined;
  }
  throw new GraphServeError(
    "server_unreachable",
    `scheme ${scheme} keeps threads only in the server process, and no dev server is running in ${baseDir}`,
    { hint: "specify the server with --url, or a storage with --db" },
  );
}

async function storageClient(
  { io, print }: Session,
  configured: LoadedConfig,
  { raw = false }: ClientFlags,
  { access = "read", graphs = "optional", graph, continuesThread = false, settings, storage }: ClientNeeds,
): Promise<Client> {
  const readOnly = access === "read";
  const runs = access === "run";
  const standIns = !runs && graphs === "optional";
  // Without placeholders every graph has to load, so a remembered file must not make the command fail.
  const hasNone = Object.keys(configured.settings.graphs).length === 0;
  const recalls = graph === undefined && (standIns || (hasNone && (!runs || continuesThread)));
  const { config, targets } = recalls
    ? await withRememberedGraphs(configured, io.cwd)
    : { config: configured, targets: {} };
  if (!readOnly && usesStateFolder(config)) await makeStateFolder(config.baseDir);
  // The command prints its own results; the log adds only errors.
  const level = print.flags.verbose ? config.settings.log_level : "error";
  const wanted = settings ? { ...config, settings: { ...config.settings, ...settings } } : config;
  if (runs) await watchCommand(io, config.settings);
  const service = await openConfigured(wanted, createConsoleLogger(print, level), {
    mode: access === "write" ? "edit" : access,
    // Leave runs of crashed processes to a server: this process exits after its single run.
    ...(runs && { cutOffs: "leave" }),
    standIns,
    unfiltered: raw,
    ...(storage && { storage }),
  });
  if (runs && !isEphemeral(config)) await rememberGraphs(config);
  if (runs) for (const notice of service.notices) print.warn(notice);
  if (raw) print.warn("--raw: the output includes state keys that are hidden from clients");
  const { localClient } = await import("../../client/local.js");
  return localClient(service, { unfiltered: raw, targets });
}

/** Warns if values are hidden because the graph of one of these threads is not available. */
export function warnHidden(
  print: Printer,
  client: Client,
  threads: readonly Partial<Pick<Thread, "metadata">>[],
): void {
  const reasons = new Set(threads.map((thread) => hiddenText(client.whyHidden(thread))));
  for (const reason of reasons) {
    if (reason !== undefined) print.warn(reason);
  }
}

/** A warning about hidden values; undefined if none are hidden. */
export const hiddenText = (hidden: HiddenReason | undefined): string | undefined =>
  hidden && (hidden.isPartial ? hidden.message : `${hidden.message}; ${hidden.hint}`);

/**
 * Rejects values that are empty only because they are hidden; for commands that print nothing else.
 * @throws GraphServeError (`graph_not_loaded`)
 */
export function refuseHidden(
  client: Client,
  thread: Partial<Pick<Thread, "metadata">>,
  { values, checkpoint }: Pick<ThreadState, "values" | "checkpoint">,
): void {
  const hidden = client.whyHidden(thread);
  if (!hidden || checkpoint?.checkpoint_id == null) return;
  if (isRecord(values) && Object.keys(values).length > 0) return;
  throw new GraphServeError("graph_not_loaded", hidden.message, { hint: hidden.hint });
}
