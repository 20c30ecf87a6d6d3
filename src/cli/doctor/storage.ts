/** Checks of the storage: reachable, set up well, and nothing left behind by a server that died. */
import type { LoadedConfig } from "../../config/load.js";
import { errorMessage, StorageUnavailableError } from "../../errors.js";
import type { Service } from "../../service.js";
import { openStorageOf } from "../open-storage.js";
import { failure, ok, warn, type Check } from "./check.js";

export async function storageChecks(config: LoadedConfig): Promise<Check[]> {
  const { checkpointer_scheme: scheme } = config.settings;
  if (scheme === "memory") return [ok("storage", "memory: threads end with the server")];
  try {
    const service = await openStorageOf(config, "read");
    try {
      return await look(service);
    } finally {
      await service.close(0);
    }
  } catch (error) {
    if (isNotMadeYet(error)) return [ok("storage", `${scheme}: not there yet, the first run makes it`)];
    return [failure("storage", error, "check checkpointer_scheme and checkpointer_uri")];
  }
}

async function look(service: Service): Promise<Check[]> {
  const { scheme, location } = service.storage;
  const findings = service
    .storageFindings()
    .map(({ name, ok: isOk, detail, fix = "" }) => (isOk ? ok(name, detail) : warn(name, detail, fix)));
  const stale = await service.cutOffRuns();
  return [
    ok("storage", location === undefined ? scheme : `${scheme} ${location}`),
    ...findings,
    stale.length === 0
      ? ok("stale runs", "none")
      : warn(
          "stale runs",
          `${stale.length} left unfinished by a server that no longer lives`,
          "graph-serve recover --apply, or start a server: it settles them",
        ),
  ];
}

/** A file that no run has made yet is no fault. */
function isNotMadeYet(error: unknown): boolean {
  return error instanceof StorageUnavailableError && errorMessage(error).startsWith("there is no database");
}
