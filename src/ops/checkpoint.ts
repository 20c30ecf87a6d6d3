/** Checkpoint selectors of requests -> the `configurable` that LangGraph reads. */
import { InvalidRequestError, NotFoundError } from "../errors.js";
import { assertPlainData } from "../graphs/coerce.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { CheckpointSelector } from "../models/state.js";
import type { OpsContext } from "./context.js";

export interface CheckpointConfigurable extends JsonObject {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id?: string;
  checkpoint_map?: JsonObject;
}

/**
 * The selected checkpoint of a thread; absent, null and empty fields select nothing. Only the four fields of a
 * checkpoint are taken over: nothing else of a client's object reaches LangGraph's config.
 * @throws InvalidRequestError when the selector names another thread (`invalid_request`)
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
      `names another thread than the path, ${threadId}`,
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
 * A run or a write from a checkpoint that is not there would start an empty history.
 * @throws NotFoundError (`checkpoint_not_found`)
 */
export async function requireCheckpoint(
  { storage }: OpsContext,
  selected: CheckpointConfigurable,
): Promise<void> {
  const { thread_id, checkpoint_ns, checkpoint_id } = selected;
  if (checkpoint_id === undefined) return;
  const tuple = await storage.checkpointer.getTuple({
    configurable: { thread_id, checkpoint_ns, checkpoint_id },
  });
  if (!tuple) throw new NotFoundError("checkpoint", checkpoint_id);
}
