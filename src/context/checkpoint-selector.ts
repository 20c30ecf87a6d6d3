/** Checkpoint selectors of requests, as the `configurable` that LangGraph reads. */
import { assertPlainData } from "../graphs/coerce.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { CheckpointSelector } from "../models/state.js";
import { InvalidRequestError, NotFoundError } from "../support/errors.js";
import type { Checkpointer } from "../storage/contract/checkpointer.js";

export interface CheckpointConfigurable extends JsonObject {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id?: string;
  checkpoint_map?: JsonObject;
}

/**
 * The selected checkpoint of a thread. Missing, null and empty fields select nothing. Only the four fields of a
 * checkpoint are copied: other fields of a client's object must not reach LangGraph's config.
 * @throws InvalidRequestError if the selector names another thread (`invalid_request`)
 */
export function checkpointConfigurable(
  threadId: string,
  selector: CheckpointSelector | null | undefined,
  checkpointId?: string | null,
): CheckpointConfigurable {
  const { thread_id, checkpoint_ns, checkpoint_id, checkpoint_map } = selector ?? {};
  if (thread_id && thread_id.toLowerCase() !== threadId) {
    throw InvalidRequestError.at(
      ["body", "checkpoint", "thread_id"],
      `does not match the thread in the path, ${threadId}`,
    );
  }
  const id = checkpoint_id || checkpointId;
  if (checkpoint_map) assertPlainData(checkpoint_map, ["body", "checkpoint", "checkpoint_map"]);
  return {
    thread_id: threadId,
    checkpoint_ns: checkpoint_ns ?? "",
    ...(id && { checkpoint_id: id }),
    ...(isRecord(checkpoint_map) && { checkpoint_map }),
  };
}

/**
 * Checks that the selected checkpoint exists: a run or write from a missing one would start an empty history.
 * @throws NotFoundError (`checkpoint_not_found`)
 */
export async function requireCheckpoint(
  { storage }: { storage: { readonly checkpointer: Checkpointer } },
  selected: CheckpointConfigurable,
): Promise<void> {
  const { thread_id, checkpoint_ns, checkpoint_id } = selected;
  if (checkpoint_id === undefined) return;
  const tuple = await storage.checkpointer.getTuple({
    configurable: { thread_id, checkpoint_ns, checkpoint_id },
  });
  if (!tuple) throw new NotFoundError("checkpoint", checkpoint_id);
}
