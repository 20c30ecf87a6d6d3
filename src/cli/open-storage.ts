/** The configured storage, opened for a look at itself: no graph is needed, nothing is changed. */
import type { LoadedConfig } from "../config/load.js";
import type { Service } from "../service.js";
import { storageSettings, type StorageFlags } from "./commands/listen-options.js";
import { withDevStorage } from "./dev/state-folder.js";
import { settingsOfFlags } from "./flags.js";
import { openConfigured } from "./open.js";
import { loadSettings, type Session } from "./session.js";
import { impliedScheme } from "./source/implied-scheme.js";

/** The settings of the commands that read what `dev` and `start` keep. */
export async function storageConfig(
  session: Session,
  flags: StorageFlags,
  warn?: (message: string) => void,
): Promise<LoadedConfig> {
  const settings = settingsOfFlags(storageSettings(impliedScheme(flags)));
  return withDevStorage(await loadSettings(session, { settings, warn }));
}

/**
 * With `serve` as a server opens it, which settles what a dead one left.
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export function openStorageOf(config: LoadedConfig, access: "read" | "write" | "serve"): Promise<Service> {
  const options = { readOnly: access === "read", passive: access !== "serve", standIns: true };
  return openConfigured(config, undefined, options);
}
