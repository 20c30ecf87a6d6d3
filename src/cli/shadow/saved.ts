/** The results of `shadow --studio`, which the Studio of the project shows. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { isRecord } from "../../models/common.js";
import type { StudioShadow } from "../../models/studio.js";
import { readIfExists } from "../../support/read-text.js";
import { makeStateFolder, stateFile } from "../session/open.js";
import type { JudgedResult } from "./report.js";

const savedFile = (baseDir: string): string => stateFile(baseDir, "shadow.json");

export const hasSavedShadow = (baseDir: string): boolean => existsSync(savedFile(baseDir));

/** Replaces the results of the project. */
export async function saveShadow(
  baseDir: string,
  { results, ...about }: Pick<StudioShadow, "against" | "summary"> & { results: readonly JudgedResult[] },
): Promise<void> {
  const counts: Record<string, number> = {};
  const classed = results.map((one) => ({ ...one, outcome: one.accepted ? "accepted" : one.outcome }));
  for (const { outcome } of classed) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const saved: StudioShadow = {
    ...{ at: new Date().toISOString(), ...about, counts },
    results: classed
      .filter(({ outcome }) => outcome !== "same")
      .map(({ thread_id, run_ids, graph_id, outcome, difference, reason }) => ({
        ...{ thread_id, run_ids, graph_id, outcome, difference, reason },
      })),
  };
  await makeStateFolder(baseDir);
  await writeFile(savedFile(baseDir), JSON.stringify(saved), { mode: 0o600 });
}

/** Null if nothing was saved, or the file was not written by this release. */
export async function savedShadow(baseDir: string): Promise<StudioShadow | null> {
  try {
    const saved = JSON.parse((await readIfExists(savedFile(baseDir))) ?? "null") as unknown;
    return isRecord(saved) && Array.isArray(saved.results) ? (saved as unknown as StudioShadow) : null;
  } catch {
    return null;
  }
}
