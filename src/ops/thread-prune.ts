/** Cutting threads down to their latest state. */
import type { ThreadRow } from "../storage/storage.js";
import type { OpsContext } from "./context.js";
import { graphOf, liveNamespaces } from "./thread-state.js";

/** Drop a thread's history; the caller holds its lock. */
export async function keepLatest(context: OpsContext, row: ThreadRow): Promise<void> {
  const bound = await graphOf(context, row);
  const namespaces = await liveNamespaces(bound, row.thread_id);
  await context.storage.checkpointer.keepLatest(row.thread_id, namespaces);
}
