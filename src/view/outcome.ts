/** Outcome of a run for clients of other protocols (MCP, A2A). */
import { isMessageLike, isRecord, type JsonObject } from "../models/json.js";
import type { RunFrame } from "../models/run-stream.js";
import { contentText } from "./text.js";

export interface Question {
  id: string;
  value: unknown;
}

export interface Outcome {
  status: "success" | "interrupted" | "cancelled" | "error";
  values: JsonObject;
  /** Pending questions of the graph. */
  questions: Question[];
  error?: { error: string; message: string };
}

/**
 * @param answer response of the run: its visible values, plus `__interrupt__` or `__error__`
 * @param runStatus status of the run, which distinguishes a cancelled run from a finished one
 */
export function runOutcome(answer: JsonObject, runStatus: string | undefined): Outcome {
  const { __error__: error, __interrupt__: interrupts, ...values } = answer;
  if (isRecord(error)) {
    const told = { error: String(error.error), message: String(error.message) };
    return { status: "error", values: {}, questions: [], error: told };
  }
  const questions = Array.isArray(interrupts) ? interrupts.filter(isRecord).map(questionOf) : [];
  if (questions.length > 0) return { status: "interrupted", values, questions };
  return { status: runStatus === "interrupted" ? "cancelled" : "success", values, questions };
}

const questionOf = ({ id, value }: JsonObject): Question => ({ id: String(id), value });

/** The run status from the last frame of its stream. */
export function statusOf(last: RunFrame | undefined): string | undefined {
  if (last?.event !== "end") return undefined;
  const { status } = JSON.parse(last.data) as { status?: unknown };
  return typeof status === "string" ? status : undefined;
}

/** The last message of a model if the values are a conversation, otherwise the values as JSON. */
export function outputText(values: JsonObject): string {
  const messages: unknown[] = Array.isArray(values.messages) ? values.messages : [];
  const last = messages.at(-1);
  const text = isMessageLike(last) && last.type === "ai" ? contentText(last.content) : "";
  return text === "" ? JSON.stringify(values, null, 2) : text;
}

export const questionText = (question: unknown): string =>
  typeof question === "string" ? question : (JSON.stringify(question, null, 2) ?? "");

/** All questions of a run as one string; several questions are prefixed with their ids. */
export const questionsText = (questions: readonly Question[]): string =>
  questions
    .map(({ id, value }) => (questions.length === 1 ? questionText(value) : `${id}: ${questionText(value)}`))
    .join("\n");

/** Parses user input as JSON if possible. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
