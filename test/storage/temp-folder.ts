import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";

/** Returns paths in a folder of the current test file, removed when it ends. */
export function tempFolder(): (name: string) => string {
  const folder = mkdtempSync(path.join(tmpdir(), "graph-serve-storage-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (name) => path.join(folder, name);
}
