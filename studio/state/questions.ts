/**
 * Recognizes the formats of interrupts and builds their answers. Unknown formats are classified by the shape
 * of the value.
 */
import { isRecord, type JsonObject } from "../../src/models/json.js";

export const DECISIONS = ["approve", "edit", "reject", "respond", "ignore"] as const;
export type DecisionKind = (typeof DECISIONS)[number];

export interface ReviewRequest {
  name: string;
  args: unknown;
  description: string | undefined;
  allowed: readonly DecisionKind[];
  /** JSON schema of the arguments, if the graph declares it. */
  schema: unknown;
}

export interface Decision {
  kind: DecisionKind;
  args?: unknown;
  /** Reason for a rejection, or the response. */
  message?: string;
}

/** Format of the answer to a review. */
type Spelling = "camel" | "snake" | "inbox";

export type Question =
  | { kind: "review"; requests: readonly ReviewRequest[]; spelling: Spelling }
  | { kind: "choice"; options: readonly unknown[] }
  | { kind: "form"; schema: JsonObject }
  | { kind: "any" };

export function questionOf(value: unknown): Question {
  const review = middlewareRequest(value) ?? inboxRequests(value);
  if (review) return review;
  if (!isRecord(value)) return { kind: "any" };
  const schema = SCHEMAS.map((name) => value[name]).find(isObjectSchema);
  if (schema) return { kind: "form", schema };
  const options = OPTIONS.map((name) => value[name]).find(isChoice);
  return options ? { kind: "choice", options } : { kind: "any" };
}

const SCHEMAS = [
  "schema",
  "json_schema",
  "response_schema",
  "answer_schema",
  "responseSchema",
  "resumeSchema",
];
const OPTIONS = ["options", "choices", "allowed", "answers"];

const isObjectSchema = (value: unknown): value is JsonObject =>
  isRecord(value) && value.type === "object" && isRecord(value.properties);

const isChoice = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each !== "object");

/** Interrupt of LangChain's humanInTheLoopMiddleware, in JavaScript or Python spelling. */
function middlewareRequest(value: unknown): Question | undefined {
  if (!isRecord(value)) return undefined;
  const spelling = Array.isArray(value.actionRequests) ? "camel" : "snake";
  const actions = value.actionRequests ?? value.action_requests;
  const configs = value.reviewConfigs ?? value.review_configs;
  if (!Array.isArray(actions) || actions.length === 0 || !actions.every(isAction)) return undefined;
  const policies = Array.isArray(configs) ? configs.filter(isRecord) : [];
  const requests = actions.map(({ name, args, description }, index): ReviewRequest => {
    const named = policies.find((each) => (each.actionName ?? each.action_name) === name) ?? policies[index];
    const allowed = named?.allowedDecisions ?? named?.allowed_decisions;
    return {
      name,
      args,
      description: withoutCall(textOr(description), name),
      allowed: DECISIONS.filter((kind) => (Array.isArray(allowed) ? allowed : DEFAULTS).includes(kind)),
      schema: named?.argsSchema ?? named?.args_schema,
    };
  });
  return { kind: "review", requests, spelling };
}

/** The middleware's description repeats the call, which is already shown. */
function withoutCall(description: string | undefined, name: string): string | undefined {
  const end = description?.indexOf(`\n\nTool: ${name}\nArgs: `) ?? -1;
  return end === -1 ? description : description?.slice(0, end);
}

const DEFAULTS: readonly unknown[] = ["approve", "edit", "reject"];

const isAction = (value: unknown): value is { name: string; args: unknown; description?: unknown } =>
  isRecord(value) && typeof value.name === "string";

const textOr = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const INBOX: Readonly<Record<string, DecisionKind>> = {
  allow_accept: "approve",
  allow_edit: "edit",
  allow_respond: "respond",
  allow_ignore: "ignore",
};

/** Interrupts in the agent inbox format: a HumanInterrupt, or a list of them. */
function inboxRequests(value: unknown): Question | undefined {
  const asked: unknown[] = Array.isArray(value) ? value : [value];
  const requests = asked.map((each): ReviewRequest | undefined => {
    if (!isRecord(each) || !isRecord(each.action_request) || !isRecord(each.config)) return undefined;
    const { action_request: request, config, description } = each;
    if (typeof request.action !== "string") return undefined;
    const allowed = Object.entries(INBOX).filter(([name]) => config[name] === true);
    return {
      name: request.action,
      args: request.args ?? {},
      description: textOr(description),
      allowed: allowed.map(([, kind]) => kind),
      schema: undefined,
    };
  });
  if (requests.length === 0 || !requests.every((request) => request !== undefined)) return undefined;
  return { kind: "review", requests, spelling: "inbox" };
}

/** The resume value of a review, in the format that the interrupt expects. */
export function reviewAnswer(
  { requests, spelling }: Extract<Question, { kind: "review" }>,
  decisions: readonly Decision[],
): unknown {
  const answers = requests.map((request, index) => {
    const decision = decisions[index] ?? { kind: "approve" };
    return spelling === "inbox"
      ? inboxAnswer(request, decision)
      : middlewareAnswer(request, decision, spelling);
  });
  return spelling === "inbox" ? answers : { decisions: answers };
}

function middlewareAnswer(
  { name }: ReviewRequest,
  { kind, args, message }: Decision,
  spelling: Spelling,
): JsonObject {
  if (kind === "edit")
    return { type: kind, [spelling === "camel" ? "editedAction" : "edited_action"]: { name, args } };
  return { type: kind, ...(message !== undefined && message !== "" && { message }) };
}

function inboxAnswer(
  { name, args: asked }: ReviewRequest,
  { kind, args, message = "" }: Decision,
): JsonObject {
  switch (kind) {
    case "approve":
      return { type: "accept", args: { action: name, args: asked } };
    case "edit":
      return { type: "edit", args: { action: name, args } };
    case "ignore":
      return { type: "ignore", args: null };
    default:
      return { type: "response", args: message };
  }
}

/** `command.resume` for these answers: a single answer as is, several as a map by interrupt id. */
export function resumeOf(answers: ReadonlyMap<string, unknown>, asked: number): unknown {
  const [first] = answers.values();
  return asked === 1 && first != null ? first : Object.fromEntries(answers);
}
