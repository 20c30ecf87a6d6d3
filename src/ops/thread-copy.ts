import type { ThreadRow } from "../storage/storage.js";
import { now } from "../storage/rows.js";
import type { OpsContext } from "./context.js";
import { checkpointConfigurable, requireCheckpoint } from "./run-request.js";
import { forgetThread } from "./thread-removal.js";
import { scopeOf, threadRow, writersOf } from "./thread-origin.js";
import { latestSnapshot, liveNamespaces, newThreadRow, readerOf, restingStatus } from "./thread-state.js";

/**
 * A new thread with the source's latest state, or the one of `checkpointId`, and its metadata, stamped with
 * `forked_from`; no history.
 * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
 */
export async function copyThread(
  context: OpsContext,
  threadId: string,
  checkpointId: string | undefined,
): Promise<ThreadRow> {
  const { storage } = context;
  const source = await threadRow(context, threadId);
  const reader = await readerOf(context, source);
  const selected = checkpointConfigurable(source.thread_id, { checkpoint_id: checkpointId });
  await requireCheckpoint(context, selected);
  const fresh = newThreadRow(context, {});
  try {
    const namespaces = await liveNamespaces(reader, source.thread_id, checkpointId);
    await storage.checkpointer.copyLatest(source.thread_id, fresh.thread_id, namespaces, checkpointId);
    const copy: ThreadRow = {
      ...fresh,
      metadata: { ...source.metadata, forked_from: source.thread_id },
      scope: scopeOf(context) ?? source.scope,
      // Of what was copied: a run may have begun on the source meanwhile.
      graphs: await writersOf(context, await threadRow(context, source.thread_id)),
      config: source.config,
      state_updated_at: source.state_updated_at === null ? null : now(),
      status: restingStatus(await latestSnapshot(reader, fresh.thread_id)),
    };
    await storage.threads.insert(copy);
    return copy;
  } catch (error) {
    await forgetThread(context, fresh.thread_id);
    throw error;
  }
}
