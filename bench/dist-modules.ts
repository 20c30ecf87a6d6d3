/**
 * Loads modules of a compiled build, also of an older revision in which they had other paths. The build of this revision
 * has no files for single modules, so those that the package does not export are loaded from its sources.
 */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Paths of a module. */
const PATHS = {
  service: ["service/open.js", "service/service.js", "service.js", "index.js"],
  server: ["http/server.js", "index.js"],
  openStorage: ["storage/open.js", "index.js"],
  threadLocks: ["storage/locks/thread-locks.js", "storage/thread-locks.js", "index.js"],
  jsonBody: ["http/core/json-body.js", "../src/http/core/json-body.ts"],
  sqliteSchema: ["storage/sqlite/schema.js", "../src/storage/sqlite/schema.ts"],
  sqliteSaver: ["storage/sqlite/saver.js", "../src/storage/sqlite/saver.ts"],
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
