/** Writes of tasks: their numbers, and limits of the errors among them. */
import { type PendingWrite, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
import { errorMessage, errorName } from "../../support/errors/thrown.js";

/** Numbers of the writes to special channels, such as an interrupt or an error of the task. */
const FIXED = new Map(Object.entries(WRITES_IDX_MAP));

/** Whether writes to this channel have a fixed number. */
export const isSpecial = (channel: string): boolean => FIXED.has(channel);

/** A write with its number, which is unique within its task; numbers of special channels are negative. */
interface NumberedWrite {
  idx: number;
  channel: string;
  value: unknown;
}

interface NumberedWrites {
  /** At most one write per number. */
  writes: NumberedWrite[];
  /**
   * Whether they replace stored writes with the same numbers. Ordinary writes do not: a stored one comes from an earlier
   * attempt of the same task and is kept.
   */
  replace: boolean;
}

/** Number the writes of one `putWrites` call. */
export function numbered(writes: readonly PendingWrite[]): NumberedWrites {
  let replace = true;
  for (const [channel] of writes) replace &&= FIXED.has(channel);
  const byNumber = new Map<number, NumberedWrite>();
  for (const [index, [channel, value]] of writes.entries()) {
    const idx = FIXED.get(channel) ?? index;
    if (replace || !byNumber.has(idx)) byNumber.set(idx, { idx, channel, value });
  }
  return { writes: [...byNumber.values()], replace };
}

/** Limits the name and message of an error that a task threw: LangGraph stores them at any length. */
export function limitError(thrown: unknown): unknown {
  if (typeof thrown !== "object" || thrown === null) return thrown;
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  return {
    message: message === undefined ? message : errorMessage({ message }),
    name: typeof name === "string" ? name.slice(0, 200) : errorName(thrown),
  };
}
