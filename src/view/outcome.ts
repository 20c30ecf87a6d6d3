/** How a run ended, for callers of another protocol than the server's own (MCP, A2A). */
import { isRecord, type JsonObject } from "../models/json.js";
import type { RunFrame } from "../models/run-stream.js";
import { contentText, isMessageLike } from "./text.js";

export interface Question {
  id: string;
  value: unknown;
}

export interface Outcome {
  status: "success" | "interrupted" | "cancelled" | "error";
  values: JsonObject;
  /** What the graph has stopped to ask. */
  questions: Question[];
  error?: { error: string; message: string };
}

/**
 * @param answer what the run answered: its visible values, with `__interrupt__`, or `__error__`
 * @param runStatus the run's own status, which distinguishes a stopped run from a finished one
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

/** The run's status in the last frame of its stream. */
export function statusOf(last: RunFrame | undefined): string | undefined {
  if (last?.event !== "end") return undefined;
  const { status } = JSON.parse(last.data) as { status?: unknown };
  return typeof status === "string" ? status : undefined;
}

/** What a model said last where the values are a conversation, else the values. */
export function outputText(values: JsonObject): string {
  const messages: unknown[] = Array.isArray(values.messages) ? values.messages : [];
  const last = messages.at(-1);
  const text = isMessageLike(last) && last.type === "ai" ? contentText(last.content) : "";
  return text === "" ? JSON.stringify(values, null, 2) : text;
}

/** A question as text. */
export const questionText = (question: unknown): string =>
  typeof question === "string" ? question : (JSON.stringify(question, null, 2) ?? "");

/** All questions of a run as one text; where there are several, each with its id. */
export const questionsText = (questions: readonly Question[]): string =>
  questions
    .map(({ id, value }) => (questions.length === 1 ? questionText(value) : `${id}: ${questionText(value)}`))
    .join("\n");

/** An answer that a person typed: what reads as JSON is JSON. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
