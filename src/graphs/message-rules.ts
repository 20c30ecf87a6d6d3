/** Whether the state key `messages` of a graph takes messages: many graphs do not say so, some hold something else. */
import { isRecord, type JsonObject } from "../models/common.js";
import type { MessageRule } from "./coerce.js";
import type { ServedGraph } from "./graph.js";
import { declaredSchemas } from "./schemas.js";
import { isMessage } from "./serialize.js";

const KEY = "messages";

/** What a key is known to hold. */
type Content = "messages" | "other" | "unknown";

/** What becomes of `messages` in a run's input, and in what is written to the state by any other way. */
interface MessageRules {
  input: MessageRule;
  write: MessageRule;
}

const RULES: Record<Content, MessageRules> = {
  messages: { input: "all", write: "all" },
  other: { input: "none", write: "none" },
  // A run's input becomes messages wherever nothing speaks against it (spec, RunCreateRequest).
  unknown: { input: "all", write: "recognised" },
};

const known = new WeakMap<ServedGraph, Promise<MessageRules>>();

/** The rules of a graph; found out once. */
export function messageRules(graph: ServedGraph): Promise<MessageRules> {
  let rules = known.get(graph);
  if (!rules) known.set(graph, (rules = contentOf(graph).then((content) => RULES[content])));
  return rules;
}

async function contentOf(graph: ServedGraph): Promise<Content> {
  const channel = graph.channels?.[KEY];
  if (!isRecord(channel)) return "unknown";
  const { operator, initialValueFactory } = channel;
  // By name: the reducer may come from another copy of LangGraph.
  if (typeof operator === "function" && operator.name === "messagesStateReducer") return "messages";
  const declared = await declaredContent(graph);
  if (declared !== "unknown" || typeof initialValueFactory !== "function") return declared;
  return contentOfDefault(initialValueFactory as () => unknown);
}

/** What the schemas that a graph declares by zod or StateSchema say of the key. */
async function declaredContent(graph: ServedGraph): Promise<Content> {
  const declared = await declaredSchemas(graph);
  const schemas = [declared("getStateTypeSchema"), declared("getInputTypeSchema")];
  for (const schema of schemas) {
    const property = isRecord(schema?.properties) ? schema.properties[KEY] : undefined;
    if (isRecord(property)) return contentOfSchema(property);
  }
  return "unknown";
}

function contentOfSchema(schema: JsonObject): Content {
  if (schema.langgraph_type === KEY) return "messages";
  if (schema.type === "array") return saysNothing(schema.items) ? "unknown" : "other";
  return saysNothing(schema) ? "unknown" : "other";
}

/** `z.any()` and the like. */
const saysNothing = (schema: unknown): boolean =>
  !isRecord(schema) ||
  Object.keys(schema).every((key) => ["$schema", "default", "description", "title"].includes(key));

/** Of a reducer without types, its default may tell. */
function contentOfDefault(makeDefault: () => unknown): Content {
  let value: unknown;
  try {
    value = makeDefault();
  } catch {
    return "unknown";
  }
  if (value == null) return "unknown";
  if (!Array.isArray(value)) return isMessage(value) ? "messages" : "other";
  if (value.length === 0) return "unknown";
  return value.every(isMessage) ? "messages" : "other";
}
