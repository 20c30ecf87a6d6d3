/** Decides where a run is executed. */
import type { LoadedConfig } from "../../config/load.js";
import { settingsOfFlags } from "../flags.js";
import { storageSettings } from "../commands/listen-options.js";
import { createConsoleLogger } from "../dev/console-logger.js";
import { makeStateFolder, readMarker, usesStateFolder, withDevStorage } from "../dev/state-folder.js";
import { openConfigured } from "../open.js";
import { loadSettings, type Session } from "../session.js";
import type { ServerAddress } from "../server-client.js";
import type { PlaceFlags } from "./next-command.js";
import type { RunTarget } from "./target.js";

/** The server of `--url`; else this process, on the storage that `dev` has too. */
export async function openTarget(
  session: Session,
  graph: string | undefined,
  flags: PlaceFlags,
): Promise<RunTarget> {
  if (flags.url !== undefined) return remote(session, { ...flags, url: flags.url }, graph);
  const config = withDevStorage(
    await loadSettings(session, {
      graphs: graph === undefined ? [] : [graph],
      settings: settingsOfFlags(storageSettings(flags)),
    }),
  );
  return (await devServerOf(session, config, graph)) ?? local(session, config);
}

async function remote(
  { io }: Session,
  { url, apiKey }: ServerAddress,
  assistant: string | undefined,
): Promise<RunTarget> {
  const { serverOf } = await import("../server-client.js");
  const { remoteTarget } = await import("./remote-target.js");
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
  const { remoteTarget } = await import("./remote-target.js");
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
  const { localTarget } = await import("./local-target.js");
  return localTarget(service);
}
