/** The interrupts that a run answers. */
import { isRecord } from "./json.js";
import type { Run } from "./run.js";

/** Whether a string has the format of LangGraph's interrupt ids. */
export const isInterruptId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/**
 * Ids of the interrupts that a run answers. Empty if its answer names no ids and applies to all of them; undefined if the
 * run is not an answer.
 */
export function answerFrom({ kwargs: { command } }: Pick<Run, "kwargs">): string[] | undefined {
  if (!isRecord(command) || command.resume === undefined) return undefined;
  const ids = isRecord(command.resume) ? Object.keys(command.resume) : [];
  return ids.every(isInterruptId) ? ids : [];
}
