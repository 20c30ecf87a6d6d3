/** Files of migrations for a test. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Fingerprints } from "../../src/graphs/fingerprint.js";
import type { ServedGraph } from "../../src/graphs/graph.js";

/** @param list the source of the list, such as `[{ from: "none" }]` */
export async function migrationsFile(list: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-migrations-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "migrations.ts");
  await writeFile(file, `export default ${list};\n`);
  return file;
}

export const versionOf = async (graph: unknown): Promise<string> =>
  (await new Fingerprints().of(graph as ServedGraph)) ?? "none";
