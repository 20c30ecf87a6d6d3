/** Which graphs have written to a thread: the server notes it in the row, whatever the thread's metadata says. */
import type { ThreadRow } from "../storage/storage.js";
import type { OpsContext } from "./context.js";

/** Runs that are read at once. */
const PAGE = 100;

/**
 * Ids of the graphs; null when nobody knows them. A row of release 0.1.0 does not say it, but its runs do. Checkpoints
 * that no run of this server is known to have written were brought here from elsewhere.
 */
export async function writersOf(context: OpsContext, row: ThreadRow): Promise<readonly string[] | null> {
  if (row.graphs != null) return row.graphs;
  const ids = await graphsOfRuns(context, row.thread_id);
  if (ids.length > 0) return ids;
  const { checkpointer } = context.storage;
  return (await checkpointer.namespaces(row.thread_id)).length === 0 ? [] : null;
}

/** The graphs once this one will write too. Where nobody knows the others, each that is served may be one. */
export async function writersWith(
  context: OpsContext,
  row: ThreadRow,
  graphId: string,
): Promise<readonly string[]> {
  if (row.graphs?.includes(graphId)) return row.graphs;
  const writers = (await writersOf(context, row)) ?? context.registry.ids;
  return [...new Set([...writers, graphId])].sort();
}

/** Note a graph before it writes to the thread; the caller holds the thread's lease. Returns all of its writers. */
export async function noteWriter(
  context: OpsContext,
  row: ThreadRow,
  graphId: string,
): Promise<readonly string[]> {
  const graphs = await writersWith(context, row, graphId);
  await noteWriters(context, row, graphs);
  return graphs;
}

/** Keep what is known, before that goes from which it is known. */
export async function keepWriters(context: OpsContext, row: ThreadRow): Promise<void> {
  if (row.graphs == null) await noteWriters(context, row, await writersOf(context, row));
}

async function noteWriters({ storage }: OpsContext, row: ThreadRow, graphs: ThreadRow["graphs"]) {
  if (graphs === row.graphs) return;
  await storage.threads.update(row.thread_id, { updated_at: row.updated_at, graphs });
}

async function graphsOfRuns({ storage }: OpsContext, threadId: string): Promise<string[]> {
  const ids = new Set<string>();
  for (let offset = 0; ; offset += PAGE) {
    const runs = await storage.runs.list({ threadId, limit: PAGE, offset });
    for (const { metadata } of runs) if (typeof metadata.graph_id === "string") ids.add(metadata.graph_id);
    if (runs.length < PAGE) return [...ids].sort();
  }
}
