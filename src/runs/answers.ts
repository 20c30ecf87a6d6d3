/**
 * The answers of a run, each of which reaches its question once. An attempt that crashed may have given an answer and
 * stored the next question of the same node: LangGraph would answer that one too if it got the command again.
 */
import { Command } from "@langchain/langgraph";
import type { JsonObject } from "../models/common.js";
import { answerFrom, isById } from "../models/interrupt-answer.js";
import { isRecord } from "../models/json.js";
import type { Run } from "../models/run.js";
import { UnknownInterruptError } from "../support/errors.js";

/** How far the task of each open interrupt is, by interrupt id. It changes when the task gets an answer. */
export type Positions = Readonly<Record<string, string>>;

export type Answer = Command<unknown, JsonObject>;

export const isAnswer = (input: unknown): input is Answer =>
  input instanceof Command && input.resume !== undefined;

/** Whether LangGraph treats the answer as missing: `false`, `0`, `""`, `null`, `{}`. It accepts any value by interrupt id. */
export const isEmpty = ({ resume }: Answer): boolean =>
  !resume || (isRecord(resume) && Object.keys(resume).length === 0);

/**
 * Addresses a value without ids to all open interrupts, as LangGraph does, but an empty one to a single interrupt only. Other
 * commands are returned unchanged.
 */
export function addressed(command: Answer, open: Positions): Answer {
  const ids = Object.keys(open);
  const { update, goto, resume } = command;
  if (ids.length === 0 || isById(resume) || (ids.length > 1 && isEmpty(command))) return command;
  return new Command({ update, goto, resume: Object.fromEntries(ids.map((id) => [id, resume])) });
}

/**
 * The command without the answers that earlier attempts have given: null if nothing is left, and the run continues from
 * its thread.
 * @param before positions when the first attempt started
 */
export function withoutGiven(command: Answer, before: Positions, open: Positions): Answer | null {
  const { resume } = addressed(command, before);
  if (!isById(resume)) return command;
  const left = Object.entries(resume).filter(([id]) => before[id] === undefined || before[id] === open[id]);
  return withAnswers(command, left);
}

/** The command with these answers only, by interrupt id; null if it would do nothing. */
export function withAnswers({ update, goto }: Answer, answers: readonly [string, unknown][]): Answer | null {
  if (answers.length > 0) return new Command({ update, goto, resume: Object.fromEntries(answers) });
  const goes = Array.isArray(goto) ? goto.length > 0 : goto !== undefined;
  return update !== undefined || goes ? new Command({ update, goto }) : null;
}

/**
 * The error of a run that answers interrupts that are not pending at its first checkpoint; undefined if all are pending.
 * An answer without interrupt ids requires at least one pending interrupt.
 */
export function unknownInterrupts(run: Run, open: Positions): UnknownInterruptError | undefined {
  const answered = answerFrom(run);
  if (!answered) return undefined;
  const pending = Object.keys(open);
  const unknown = answered.filter((id) => !pending.includes(id));
  const isKnown = answered.length > 0 ? unknown.length === 0 : pending.length > 0;
  return isKnown ? undefined : new UnknownInterruptError(unknown, pending);
}
