/** Client values -> graph values: the only input sanitizer. Messages become message objects; other values stay data. */
import { coerceMessageLikeToMessage, type BaseMessage, type BaseMessageLike } from "@langchain/core/messages";
import { Command, Send } from "@langchain/langgraph";
import { InvalidRequestError } from "../support/errors.js";
import type { Issue } from "../support/errors/codes.js";
import { errorMessage } from "../support/errors/thrown.js";
import { newId } from "../support/ids.js";
import { UNKNOWN } from "../models/assistant.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { CommandRequest } from "../models/command.js";
import type { ServedGraph } from "./graph.js";
import { declaredSchemas } from "./declared-schemas.js";
import { isMessage } from "./serialize.js";

type Loc = Issue["loc"];

/**
 * What the value under `messages` is converted to: `all` converts every item, including strings, to a message;
 * `recognised` converts only values that look like a message; `none` converts nothing.
 */
export type MessageRule = "all" | "recognised" | "none";

/**
 * Reject data that the checkpoint serializer would read back as a constructor call: such a value would fail to load, or
 * would become a library object built from user data.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function assertPlainData(value: unknown, loc: Loc): void {
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item !== "object" || item === null || isMessageInstance(item)) continue;
    if (Object.hasOwn(item, "lc") || Object.hasOwn(item, "__lc_escaped__")) {
      throw InvalidRequestError.at(loc, 'objects with a key "lc" are not accepted here', "reserved_key");
    }
    for (const inner of Object.values(item)) if (typeof inner === "object") stack.push(inner);
  }
}

/** Whether the value is a message of any copy of the library. JSON cannot contain the method. */
const isMessageInstance = (value: object): value is BaseMessage =>
  "_getType" in value && typeof value._getType === "function";

/** Normalizes the accepted spellings of a message to the parameters of the library's own coercion. */
function messageParams(message: JsonObject): JsonObject {
  if (message.lc === 1 && message.type === "constructor") return message;
  const { data, ...rest } = message;
  const params =
    isRecord(data) && rest.content === undefined ? { ...rest, ...data, type: rest.type } : message;
  const { type } = params;
  if (typeof type !== "string" || params.role !== undefined) return params;
  return {
    ...params,
    type: type === "AIMessageChunk" ? "ai" : type.replace(/Message(Chunk)?$/, "").toLowerCase(),
  };
}

function assertMessageFields(params: JsonObject, loc: Loc): void {
  const { content } = params;
  if (content != null && typeof content !== "string" && !Array.isArray(content)) {
    throw InvalidRequestError.at(
      [...loc, "content"],
      "content must be text or a list of blocks",
      "message_invalid",
    );
  }
  for (const field of ["additional_kwargs", "response_metadata"]) {
    if (params[field] != null && !isRecord(params[field])) {
      throw InvalidRequestError.at([...loc, field], `${field} must be an object`, "message_invalid");
    }
  }
}

/** The fields of a message, which must be plain data in every form of a message. */
function messageBody(params: JsonObject): unknown {
  return params.lc === 1 ? params.kwargs : params;
}

function coerceMessage(value: unknown, loc: Loc): BaseMessage {
  if (isRecord(value) && isMessageInstance(value)) return value;
  const params = isRecord(value) ? messageParams(value) : value;
  if (isRecord(params)) {
    const body = messageBody(params);
    assertPlainData(body, loc);
    if (isRecord(body)) assertMessageFields(body, loc);
  } else assertPlainData(params, loc);
  try {
    const message = coerceMessageLikeToMessage(params as BaseMessageLike);
    // With an id assigned here, the reducer recognizes the message when the run is retried.
    if (message.id === undefined) message._updateId(newId());
    return message;
  } catch (error) {
    throw InvalidRequestError.at(loc, `not a message: ${firstLine(error)}`, "message_invalid", error);
  }
}

const firstLine = (error: unknown): string => errorMessage(error).split("\n", 1)[0] ?? "";

/**
 * Converts messages from a client: a list, or a single message.
 * @throws InvalidRequestError with the location of the invalid message (`invalid_request`)
 */
export function coerceMessages(messages: unknown, loc: Loc): BaseMessage[] {
  const list = Array.isArray(messages) && !isPair(messages) ? messages : [messages];
  return list.map((message, index) => coerceMessage(message, [...loc, index]));
}

/** `["human", "hi"]` is one message, not two. */
const isPair = (list: unknown[]): boolean =>
  list.length === 2 && typeof list[0] === "string" && /^(human|user|ai|assistant|system)$/.test(list[0]);

/** Converts the items that look like messages; see `MessageRule`. */
function coerceRecognised(value: unknown, loc: Loc): unknown {
  if (isMessageForm(value)) return coerceMessages(value, loc);
  if (!Array.isArray(value) || !value.some(isMessageForm)) {
    assertPlainData(value, loc);
    return value;
  }
  return value.map((item: unknown, index) => {
    if (isMessageForm(item)) return coerceMessage(item, [...loc, index]);
    assertPlainData(item, [...loc, index]);
    return item;
  });
}

const MESSAGE_TYPES = new Set(["human", "ai", "system", "tool", "function", "developer", "remove"]);

/** True for an object with the type or role of a message, and content or tool calls. */
function isMessageForm(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (isMessageInstance(value) || (value.lc === 1 && value.type === "constructor")) return true;
  const { type, role, content, tool_calls } = messageParams(value);
  const isOfType = typeof role === "string" || MESSAGE_TYPES.has(String(type));
  return isOfType && (content != null || tool_calls != null || type === "remove");
}

/**
 * Convert state values for a graph: `messages` by the graph's rule; other keys stay data.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function coerceValues(values: unknown, loc: Loc, rule: MessageRule = "all"): unknown {
  if (
    !isRecord(values) ||
    values.messages == null ||
    typeof values.messages === "number" ||
    rule === "none"
  ) {
    assertPlainData(values, loc);
    return values;
  }
  const { messages, ...rest } = values;
  assertPlainData(rest, loc);
  const coerce = rule === "all" ? coerceMessages : coerceRecognised;
  return { ...rest, messages: coerce(messages, [...loc, "messages"]) };
}

type Goto = NonNullable<CommandRequest["goto"]>;

function coerceGoto(goto: Goto, loc: Loc, rule: MessageRule): (string | Send)[] {
  return [goto].flat().map((target, index) => {
    if (typeof target === "string") return target;
    return new Send(target.node, coerceValues(target.input, [...loc, index, "input"], rule));
  });
}

function coerceUpdate(
  update: NonNullable<CommandRequest["update"]>,
  loc: Loc,
  rule: MessageRule,
): JsonObject | [string, unknown][] {
  for (const key of Array.isArray(update) ? update.map(([name]) => name) : Object.keys(update))
    // LangGraph stores the update, then collects it in a plain object, in which these names are taken.
    if (key in Object.prototype)
      throw InvalidRequestError.at(loc, `${JSON.stringify(key)} cannot be a state key`, "reserved_key");
  if (!Array.isArray(update)) return coerceValues(update, loc, rule) as JsonObject;
  return update.map(([key, value], index): [string, unknown] => {
    const wrapped = coerceValues({ [key]: value }, [...loc, index], rule) as JsonObject;
    return [key, wrapped[key]];
  });
}

/**
 * Convert a command for a graph; undefined for a command that does nothing.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function coerceCommand(
  command: CommandRequest,
  loc: Loc,
  rule: MessageRule = "all",
): Command | undefined {
  const { update, resume, goto } = command;
  if (resume !== undefined) assertPlainData(resume, [...loc, "resume"]);
  // Like LangGraph, which fails for a command without any of the three.
  const isUpdate = update != null && Object.keys(update).length > 0;
  const isGoto = goto != null && !(Array.isArray(goto) && goto.length === 0);
  const parts = {
    ...(isUpdate && { update: coerceUpdate(update, [...loc, "update"], rule) }),
    ...(resume !== undefined && { resume }),
    ...(isGoto && { goto: coerceGoto(goto, [...loc, "goto"], rule) }),
  };
  return Object.keys(parts).length > 0 ? new Command(parts) : undefined;
}

/** Keys of `configurable` that only the server sets. */
const RESERVED_CONFIGURABLE = new Set([
  "thread_id",
  "run_id",
  "graph_id",
  "assistant_id",
  "graph_version",
  "checkpoint_id",
  "checkpoint_ns",
  "checkpoint_map",
]);

/**
 * The client's configurable values, without the server's keys and LangGraph's private keys.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function coerceConfigurable(configurable: unknown, loc: Loc): JsonObject {
  if (!isRecord(configurable)) throw InvalidRequestError.at(loc, "must be an object", "object_type");
  assertPlainData(configurable, loc);
  return clientConfigurable(configurable);
}

/** Configurable values that a client may set: not the server's keys, the caller's identity or LangGraph's private keys. */
export function clientConfigurable(configurable: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(configurable).filter(
      ([key]) =>
        !RESERVED_CONFIGURABLE.has(key) && !key.startsWith("__") && !key.startsWith("langgraph_auth"),
    ),
  );
}

// Whether the state key `messages` of a graph holds messages: many graphs do not declare it, and some hold other data.

const KEY = "messages";

/** What the key is known to hold. */
type Content = "messages" | "other" | "unknown";

/** Rules for `messages` in a run's input, and in all other writes to the state. */
interface MessageRules {
  input: MessageRule;
  write: MessageRule;
}

const RULES: Record<Content, MessageRules> = {
  messages: { input: "all", write: "all" },
  other: { input: "none", write: "none" },
  // Input is converted unless the key is known to hold something else (docs/specification.md#run-requests, 3).
  unknown: { input: "all", write: "recognised" },
};

const known = new WeakMap<ServedGraph, Promise<MessageRules>>();

/** The rules of a graph; cached. */
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

/** What the graph's zod or StateSchema declarations say about the key. */
async function declaredContent(graph: ServedGraph): Promise<Content> {
  const declared = await declaredSchemas(graph);
  for (const getter of ["getStateTypeSchema", "getInputTypeSchema"] as const) {
    const { schema } = declared(getter);
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

/** Whether the schema allows any value, like `z.any()`. */
const saysNothing = (schema: unknown): boolean =>
  !isRecord(schema) ||
  Object.keys(schema).every((key) => ["$schema", "default", "description", "title", UNKNOWN].includes(key));

/** For a reducer without types, the default value may show what the key holds. */
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
