/** Converts interrupts to forms that a client shows to a user, and the form content to resume values. */
import type { ElicitRequestFormParams } from "@modelcontextprotocol/sdk/types.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { jsonOrText, questionText } from "../view/outcome.js";

type FormSchema = ElicitRequestFormParams["requestedSchema"];

export interface Form {
  message: string;
  requestedSchema: FormSchema;
  answerOf(content: JsonObject): unknown;
}

/** The form for an interrupt: a choice for each call that needs approval, otherwise a text field. */
export function formOf(question: unknown): Form {
  return approvalForm(question) ?? textForm(question);
}

function textForm(question: unknown): Form {
  const answer = { type: "string", title: "Answer", description: "Text, or JSON." } as const;
  return {
    message: questionText(question),
    requestedSchema: { type: "object", properties: { answer }, required: ["answer"] },
    answerOf: ({ answer: text }) => jsonOrText(String(text)),
  };
}

/** Decisions that need no form for arguments. */
const DECISIONS = ["approve", "reject"];

interface Action {
  name: string;
  args?: unknown;
  description?: unknown;
}

/**
 * The form for interrupts of LangChain's human-in-the-loop middleware; undefined for other
 * interrupts, or if neither decision is allowed.
 */
function approvalForm(question: unknown): Form | undefined {
  if (!isRecord(question) || !Array.isArray(question.action_requests)) return undefined;
  const actions = question.action_requests.filter(isAction);
  const choices = actions.map((action) => allowedFor(action, question.review_configs));
  const isWhole = actions.length > 0 && actions.length === question.action_requests.length;
  if (!isWhole || choices.some((allowed) => allowed.length === 0)) return undefined;
  const fields = actions.flatMap(({ name }, index): [string, FormSchema["properties"][string]][] => [
    [`decision_${index + 1}`, { type: "string", title: name, enum: choices[index] ?? [] }],
    [`reason_${index + 1}`, { type: "string", title: "Reason", description: "Why it is rejected." }],
  ]);
  return {
    message: actions.map(actionText).join("\n\n"),
    requestedSchema: {
      type: "object",
      properties: Object.fromEntries(fields),
      required: actions.map((_, index) => `decision_${index + 1}`),
    },
    answerOf: (content) => ({ decisions: actions.map((_, index) => decisionOf(content, index + 1)) }),
  };
}

const isAction = (value: unknown): value is Action => isRecord(value) && typeof value.name === "string";

function allowedFor({ name }: Action, configs: unknown): string[] {
  const all: unknown[] = Array.isArray(configs) ? configs : [];
  const config = all.find((each): each is JsonObject => isRecord(each) && each.action_name === name);
  const allowed: unknown[] = Array.isArray(config?.allowed_decisions) ? config.allowed_decisions : DECISIONS;
  return DECISIONS.filter((decision) => allowed.includes(decision));
}

function actionText({ name, args, description }: Action): string {
  return typeof description === "string" && description !== ""
    ? description
    : `${name} ${JSON.stringify(args ?? {}, null, 2)}`;
}

function decisionOf(content: JsonObject, number: number): JsonObject {
  const type = content[`decision_${number}`];
  const reason = content[`reason_${number}`];
  return {
    type,
    ...(type === "reject" && typeof reason === "string" && reason !== "" && { message: reason }),
  };
}
