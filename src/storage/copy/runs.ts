/** Copies the run rows of a thread. */
import type { MetadataStore, RunRow, ThreadRow } from "../storage.js";
import { digestOf } from "./digest.js";

const PAGE = 20;

/** Digests of run rows by id, the newest first. */
export async function indexRuns(metadata: MetadataStore, threadId: string): Promise<Map<string, string>> {
  const index = new Map<string, string>();
  for (let offset = 0; ; offset += PAGE) {
    const page = await metadata.listRuns({ threadId, limit: PAGE, offset });
    for (const run of page) index.set(run.run_id, digestOf(run));
    if (page.length < PAGE) return index;
  }
}

/** Store the runs that the target lacks or has otherwise, in the order they were made. Returns how many were stored. */
export async function copyRuns(
  from: MetadataStore,
  to: MetadataStore,
  { thread_id, updated_at }: ThreadRow,
  { wanted, held }: Record<"wanted" | "held", ReadonlyMap<string, string>>,
): Promise<number> {
  let stored = 0;
  for (const [runId, digest] of [...wanted].reverse()) {
    if (held.get(runId) === digest) continue;
    const run: RunRow | undefined = await from.getRun(thread_id, runId);
    if (!run) continue;
    if (held.has(runId)) await to.deleteRun(thread_id, runId);
    // The thread's row stays as it is.
    await to.insertRun(run, { updated_at });
    stored += 1;
  }
  return stored;
}
