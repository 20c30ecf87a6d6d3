/** The origin of a checkpoint, stored in its metadata and hidden from graphs and clients. */
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { ORIGIN_KEY } from "../storage/saver/stamps.js";
import { isRecord } from "../models/common.js";
import type { ChangedMessages } from "../models/state.js";
import { storedCounts } from "./message-counter.js";

export const hideOrigin = (tuple: CheckpointTuple): CheckpointTuple =>
  tuple.metadata ? { ...tuple, metadata: withoutOrigin(tuple.metadata) } : tuple;

/** Graphs and owner of a checkpoint's thread, which are still known if the thread's row is lost. */
export interface Origin {
  /** Graphs that had written to the thread, including the one that wrote this checkpoint. */
  graphs: readonly string[];
  /** The owner's scope in the format of thread rows. */
  scope: string | null;
}

/** The origin in a checkpoint's metadata; undefined if it was stored without one. */
export function originOf(metadata: object | undefined): Origin | undefined {
  const origin = (metadata as Record<string, unknown> | undefined)?.[ORIGIN_KEY];
  if (!isRecord(origin)) return undefined;
  const { graphs, scope } = origin;
  if (!Array.isArray(graphs) || !graphs.every((id) => typeof id === "string")) return undefined;
  return { graphs, scope: typeof scope === "string" ? scope : null };
}

/** The metadata that graphs and clients may see. */
export function withoutOrigin<T extends object>(metadata: T): T {
  const { [ORIGIN_KEY]: _servers, ...rest } = metadata as T & Record<string, unknown>;
  return rest as T;
}

/** The metadata with its origin replaced, and the counts of its messages. */
export const withOrigin = <T extends object>(
  metadata: T,
  { graphs, scope }: Origin,
  messages: ChangedMessages | undefined,
): T => ({
  ...metadata,
  [ORIGIN_KEY]: { graphs: [...graphs], scope, ...(messages && { messages }) },
});

/** The counts that were stored with a checkpoint; undefined if there are none. */
export function countsOf(metadata: object | undefined): ChangedMessages | undefined {
  const origin = (metadata as Record<string, unknown> | undefined)?.[ORIGIN_KEY];
  return isRecord(origin) && origin.messages !== undefined ? storedCounts(origin.messages) : undefined;
}
