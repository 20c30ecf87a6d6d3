/** Loads modules of a compiled build, also of an older revision in which they had other paths. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Paths of a module: today's first, then those of earlier releases. */
const PATHS = {
  service: ["service/open.js", "service/service.js", "service.js"],
  server: ["http/server.js"],
  openStorage: ["storage/open.js"],
  threadLocks: ["storage/locks/thread-locks.js", "storage/thread-locks.js"],
  jsonBody: ["http/core/json-body.js"],
  sqliteSchema: ["storage/sqlite/schema.js"],
  sqliteSaver: ["storage/sqlite/saver.js"],
} as const;

export type DistModule = keyof typeof PATHS;

/** @throws Error if the build in `dist` has none of the paths */
export async function loadDist<T>(dist: string, name: DistModule): Promise<T> {
  for (const path of PATHS[name]) {
    const file = join(dist, path);
    const exists = await access(file).then(
      () => true,
      () => false,
    );
    if (exists) return (await import(pathToFileURL(file).href)) as T;
  }
  throw new Error(`${dist} has none of ${PATHS[name].join(", ")}`);
}
