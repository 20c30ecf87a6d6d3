/** Decides where a command reads: a server, the storage itself, or the dev server that holds what no storage does. */
import type { LoadedConfig } from "../../config/load.js";
import type { Thread } from "../../models/thread.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import {
  createConsoleLogger,
  makeStateFolder,
  openConfigured,
  readMarker,
  usesStateFolder,
  withDevStorage,
} from "../open.js";
import { impliedScheme, settingsOfFlags, storageSettings } from "../options.js";
import type { PlaceFlags } from "../run/outcome.js";
import type { RunTarget } from "../run/target.js";
import { isServing, type ServerAddress, serverOf } from "../server-client.js";
import { loadSettings, type Session } from "../session.js";
import type { Printer } from "../terminal/print.js";
import { offlineSource } from "./offline-source.js";
import { remoteSource } from "./remote-source.js";
import type { Source, SourceFlags } from "./source.js";

interface SourceNeeds {
  /** Whether something is to be changed; default `read`. */
  access?: "read" | "write";
  /** `required` fails with the graph's fault; default `optional`: what does not load is stood in for. */
  graphs?: "required" | "optional";
}

/**
 * The server of `--url`; else the configured storage; for scheme memory the running dev server of this folder.
 * @throws InvalidRequestError when the flags contradict each other (`invalid_request`)
 * @throws ConfigError, GraphLoadError (when graphs are required)
 * @throws StorageUnavailableError (`storage_unavailable`), GraphServeError (`server_unreachable`)
 */
export async function openSource(
  session: Session,
  flags: SourceFlags,
  needs: SourceNeeds = {},
): Promise<Source> {
  if (flags.url !== undefined) return remote(session, flags.url, flags);
  const settings = settingsOfFlags(storageSettings(impliedScheme(flags)));
  const config = withDevStorage(await loadSettings(session, { settings }));
  if (keepsNothing(config)) return remote(session, await devServer(session, config), flags);
  return offline(session, config, flags, needs);
}

function remote({ io }: Session, url: string, { raw, apiKey }: SourceFlags): Source {
  if (raw) {
    throw new InvalidRequestError(
      "--raw works offline only: a server never shows what is hidden",
      undefined,
      {
        hint: "leave --url out to read the storage itself",
      },
    );
  }
  return remoteSource(serverOf(io, { url, apiKey }));
}

function keepsNothing({ settings: { checkpointer_scheme, checkpointer_uri } }: LoadedConfig): boolean {
  return (
    ["memory", "redis", "rediss"].includes(checkpointer_scheme) ||
    (checkpointer_scheme === "sqlite" && /:memory:$/.test(checkpointer_uri ?? ""))
  );
}

/** Memory keeps nothing outside of its process: the running `dev` of this folder may have the thread. */
async function devServer({ print }: Session, { baseDir, settings }: LoadedConfig): Promise<string> {
  const marker = await readMarker(baseDir);
  if (marker && (await isServing(marker.url))) {
    print.note(`scheme ${settings.checkpointer_scheme}: asking the dev server at ${marker.url}`);
    return marker.url;
  }
  throw new GraphServeError(
    "server_unreachable",
    `scheme ${settings.checkpointer_scheme} keeps threads in the server's process only, and no dev server runs in ${baseDir}`,
    { hint: "name the server with --url, or a storage with --db" },
  );
}

async function offline(
  session: Session,
  config: LoadedConfig,
  { raw = false, db, checkpointerScheme, checkpointerUri }: SourceFlags,
  { access = "read", graphs = "optional" }: SourceNeeds,
): Promise<Source> {
  const { print } = session;
  const readOnly = access === "read";
  if (!readOnly && usesStateFolder(config)) await makeStateFolder(config.baseDir);
  // The command tells what it finds; the log adds what could not be read.
  const level = print.flags.verbose ? config.settings.log_level : "error";
  const service = await openConfigured(config, createConsoleLogger(print, level), {
    readOnly,
    passive: true,
    standIns: graphs === "optional",
    unfiltered: raw,
  });
  if (raw) print.warn("--raw: this shows what clients of the server never see");
  return offlineSource(service, { placeFlags: { db, checkpointerScheme, checkpointerUri }, raw });
}

// Decides where a run is executed.

/** The server of `--url`; else this process, on the storage that `dev` has too. */
export async function openTarget(
  session: Session,
  graph: string | undefined,
  flags: PlaceFlags,
): Promise<RunTarget> {
  if (flags.url !== undefined) return remoteRuns(session, { ...flags, url: flags.url }, graph);
  const config = withDevStorage(
    await loadSettings(session, {
      graphs: graph === undefined ? [] : [graph],
      settings: settingsOfFlags(storageSettings(flags)),
    }),
  );
  return (await devServerOf(session, config, graph)) ?? local(session, config);
}

async function remoteRuns(
  { io }: Session,
  { url, apiKey }: ServerAddress,
  assistant: string | undefined,
): Promise<RunTarget> {
  const { serverOf } = await import("../server-client.js");
  const { remoteTarget } = await import("./remote-source.js");
  return remoteTarget(serverOf(io, { url, apiKey }), assistant);
}

/** Memory keeps nothing between processes: the running `dev` of this folder may have the thread. */
async function devServerOf(
  { io, print }: Session,
  { settings, baseDir }: LoadedConfig,
  graph: string | undefined,
): Promise<RunTarget | undefined> {
  if (settings.checkpointer_scheme !== "memory") return undefined;
  const marker = await readMarker(baseDir);
  const { isServing, serverOf } = await import("../server-client.js");
  const { remoteTarget } = await import("./remote-source.js");
  if (marker && (await isServing(marker.url))) {
    print.note(`scheme memory: asking the dev server at ${marker.url}`);
    return remoteTarget(
      serverOf(io, marker),
      graph === undefined ? undefined : settings.default_assistant_id,
    );
  }
  print.note("scheme memory: the thread ends with this command");
  return undefined;
}

async function local({ print }: Session, config: LoadedConfig): Promise<RunTarget> {
  if (usesStateFolder(config)) await makeStateFolder(config.baseDir);
  // The outcome is shown anyway; only what is not part of it is worth a line.
  const level = print.flags.verbose ? config.settings.log_level : "error";
  const service = await openConfigured(config, createConsoleLogger(print, level));
  for (const notice of service.notices) print.warn(notice);
  const { localTarget } = await import("./offline-source.js");
  return localTarget(service);
}

/** Say what hides values, where the graph of one of these threads is not there. */
export function warnHidden(
  print: Printer,
  source: Source,
  threads: readonly Partial<Pick<Thread, "metadata">>[],
): void {
  const reasons = new Set(threads.map((thread) => source.whyHidden(thread)));
  for (const reason of reasons) {
    if (reason === undefined) continue;
    print.warn(reason);
  }
}

/** Open the source that the flags name, do the work, close it whatever happens. */
export async function withSource<T>(
  session: Session,
  flags: SourceFlags,
  needs: SourceNeeds,
  work: (source: Source) => Promise<T>,
): Promise<T> {
  const source = await openSource(session, flags, needs);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}
