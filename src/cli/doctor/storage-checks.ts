/** Checks of the storage: reachable, configured correctly, and without unfinished runs of a crashed server. */
import type { Service } from "../../service/service.js";
import { StorageUnavailableError } from "../../support/errors.js";
import { configuredStorage } from "../migrate/sides.js";
import { type DevConfig, openStorageOf } from "../session/open.js";
import { type Check, ok, warn, failure } from "./check.js";

export async function storageChecks(config: DevConfig): Promise<Check[]> {
  const { checkpointer_scheme: scheme } = config.settings;
  if (config.notKept)
    return [
      warn(
        "storage",
        `${config.notKept.message}: threads are lost when the server exits`,
        config.notKept.hint ?? "",
      ),
    ];
  if (scheme === "memory") return [ok("storage", "memory: threads are lost when the server exits")];
  try {
    const service = await openStorageOf(config, "read");
    try {
      return await look(service);
    } finally {
      await service.close(0);
    }
  } catch (error) {
    const check = await startable(config, error);
    return [check ?? failure("storage", error, "check checkpointer_scheme and checkpointer_uri")];
  }
}

async function look(service: Service): Promise<Check[]> {
  const { scheme, location } = service.storage;
  const findings = (await service.storageFindings()).map(({ name, ok: isOk, detail, fix = "" }) =>
    isOk ? ok(name, detail) : warn(name, detail, fix),
  );
  const stale = await service.cutOffRuns();
  const attempts = await Promise.all(
    stale.map(async ({ thread_id, run_id }) => (await service.runs.get(thread_id, run_id)).attempt),
  );
  return [
    ok("storage", location === undefined ? scheme : `${scheme} ${location}`),
    ...findings,
    stale.length === 0
      ? ok("stale runs", "none")
      : warn(
          "stale runs",
          `${stale.length} left unfinished by a crashed server, at attempt ${[...new Set(attempts)].sort().join(", ")}`,
          "start a server to resume them if possible, or end them: graph-serve recover --apply",
        ),
    ...(await searchCheck(service)),
    await ttlCheck(service),
  ];
}

/** What compares items in searches of the store by query. */
async function searchCheck(service: Service): Promise<Check[]> {
  const search = await service.vectorSearch();
  if (!search) return [];
  const detail = "name" in search ? search.name : `exact scan in the server: ${search.reason}`;
  return [ok("vector search", detail)];
}

/** Maximum number of expired threads that are counted. */
const EXPIRED_SHOWN = 1000;

/** What the next sweep would remove. */
async function ttlCheck(service: Service): Promise<Check> {
  const { threads } = service.settings.ttl ?? {};
  const rule = threads
    ? `new threads are ${threads.strategy === "keep_latest" ? "pruned" : "deleted"} ${threads.minutes} minutes after their last change`
    : "new threads are kept until they are deleted";
  const expired = await service.expiredThreads(EXPIRED_SHOWN);
  const deleted = expired.filter(({ ttl }) => ttl?.strategy !== "keep_latest").length;
  const many = (count: number) => (count >= EXPIRED_SHOWN ? `at least ${count}` : String(count));
  if (expired.length === 0) return ok("ttl", `${rule}; no thread has expired`);
  const stored = await service.threads.count({});
  const next = `${many(deleted)} of ${stored} threads have expired and are deleted by the next sweep, ${many(expired.length - deleted)} pruned`;
  if (deleted < stored) return ok("ttl", `${rule}; ${next}`);
  return warn(
    "ttl",
    `every thread has expired: the next sweep deletes all ${stored}`,
    "copy the database before you start a server, or set another ttl with PATCH /threads/{thread_id}",
  );
}

/** The check of a storage that cannot be read yet, because its tables are missing or old: a server creates or migrates them. */
async function startable(config: DevConfig, error: unknown): Promise<Check | undefined> {
  if (!(error instanceof StorageUnavailableError)) return undefined;
  const { storageSchema } = await import("../../service/migration.js");
  const place = configuredStorage(config);
  const { location = "", parts = [] } = (await storageSchema(place).catch(() => undefined)) ?? {};
  const tables = parts.some(({ name }) => name === "documents") ? "collections" : "tables";
  const storage = `${place.checkpointer_scheme} ${location}`;
  if (parts.some(({ version, wanted }) => version > wanted)) return undefined;
  if (parts.some(({ version, wanted }) => version > 0 && version < wanted))
    return warn(
      "storage",
      `${storage}: ${tables} of an earlier release, which graph-serve start migrates`,
      "stop the servers of the earlier release, then start a server or run graph-serve migrate up; other commands cannot read the storage before",
    );
  if (!parts.some(({ version }) => version === 0)) return undefined;
  return ok("storage", `${storage}: no ${tables} yet, graph-serve start or the first run creates them`);
}
