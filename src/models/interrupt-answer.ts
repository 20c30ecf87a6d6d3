/** The interrupts that a run answers. */
import { isRecord, type JsonObject } from "./json.js";
import type { Run } from "./run.js";

/** Whether a string has the format of LangGraph's interrupt ids. */
export const isInterruptId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** Whether a resume value consists of answers by interrupt id. */
export const isById = (resume: unknown): resume is JsonObject =>
  isRecord(resume) && Object.keys(resume).length > 0 && Object.keys(resume).every(isInterruptId);

/**
 * Ids of the interrupts that a run answers. Empty if its answer names no ids and applies to all of them; undefined if the
 * run is not an answer.
 */
export function answerFrom({ kwargs: { command } }: Pick<Run, "kwargs">): string[] | undefined {
  if (!isRecord(command) || command.resume === undefined) return undefined;
  return isById(command.resume) ? Object.keys(command.resume) : [];
}
