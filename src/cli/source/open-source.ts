/** Decides where a command reads: a server, the storage itself, or the dev server that holds what no storage does. */
import { GraphServeError, InvalidRequestError } from "../../errors.js";
import type { LoadedConfig } from "../../config/load.js";
import { storageSettings } from "../commands/listen-options.js";
import { createConsoleLogger } from "../dev/console-logger.js";
import { makeStateFolder, readMarker, usesStateFolder, withDevStorage } from "../dev/state-folder.js";
import { settingsOfFlags } from "../flags.js";
import { openConfigured } from "../open.js";
import { isServing, serverOf } from "../server-client.js";
import { loadSettings, type Session } from "../session.js";
import { offlineSource } from "./offline-source.js";
import { remoteSource } from "./remote-source.js";
import { impliedScheme } from "./implied-scheme.js";
import type { Source, SourceFlags } from "./source.js";

export interface SourceNeeds {
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
    { hint: "name the server with --url, or a storage with --checkpointer-scheme and --checkpointer-uri" },
  );
}

async function offline(
  session: Session,
  config: LoadedConfig,
  { raw = false, checkpointerScheme, checkpointerUri }: SourceFlags,
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
  return offlineSource(service, { placeFlags: { checkpointerScheme, checkpointerUri }, raw });
}
