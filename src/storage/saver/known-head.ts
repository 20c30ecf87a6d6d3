/**
 * Compare-and-set for the newest checkpoint of a thread. Checkpoints are ordered by their ids, which are time-based
 * UUIDs (version 6). A writer knows the newest id it read under its lease, and the ids it wrote itself. Savers reject a
 * checkpoint if there is a newer one that the writer does not know: otherwise one of the two would be silently lost.
 */
import type { RunnableConfig } from "@langchain/core/runnables";
import { ThreadChangedError } from "../../support/errors.js";

const KNOWN = "__graph_serve_known";
const GUARD = "__graph_serve_guard";

/** What a writer knows of a namespace. Savers read it at the time of the write. */
export interface KnownHead {
  /** The greatest known checkpoint id; empty if no checkpoint is known. */
  greatest: string;
}

/**
 * Attach the newest known checkpoint id to a config.
 * @param guard for an edit: the result of `Checkpointer.guardEdit`
 */
export const withKnownHead = (config: RunnableConfig, known: KnownHead, guard?: unknown): RunnableConfig => ({
  ...config,
  configurable: { ...config.configurable, [KNOWN]: known, ...(guard !== undefined && { [GUARD]: guard }) },
});

export const guardOf = ({ configurable }: RunnableConfig): unknown => configurable?.[GUARD];

/** The greatest id that the writer knows; undefined if the config has none. */
export const knownHead = ({ configurable }: RunnableConfig): string | undefined =>
  (configurable?.[KNOWN] as KnownHead | undefined)?.greatest;

/**
 * Must be called in the same transaction as the write.
 * @throws ThreadChangedError if the writer does not know the newest checkpoint (`thread_changed`)
 */
export function requireKnownHead(config: RunnableConfig, newest: string | undefined): void {
  const known = knownHead(config);
  if (known === undefined || newest === undefined || newest <= known) return;
  throw new ThreadChangedError(String(config.configurable?.thread_id));
}

const UUID_6 = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/;
/** Milliseconds from the epoch of UUIDs, the start of the Gregorian calendar, to 1970. */
const EPOCH_MS = 12_219_292_800_000;

/** Time of a checkpoint id in milliseconds since 1970; undefined if the id is not time-based. */
export function timeOfCheckpoint(id: string): number | undefined {
  const [, high, middle, low] = UUID_6.exec(id) ?? [];
  if (high === undefined) return undefined;
  return Math.floor(Number(BigInt(`0x${high}${middle}${low}`) / 10_000n)) - EPOCH_MS;
}
