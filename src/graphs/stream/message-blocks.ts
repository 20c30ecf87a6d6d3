/** Converts the messages and chunks in a run's frames to events per content block. */
import { isRecord, type JsonObject } from "../../models/common.js";

/** Receives one event of a message. */
type BlockSink = (namespace: readonly string[], node: string | undefined, data: JsonObject) => void;

/** A content block that is still incomplete. */
interface OpenBlock {
  key: string;
  index: number;
  content: JsonObject & { type: string };
}

/** A message that is still incomplete. */
interface OpenMessage {
  id: string;
  namespace: readonly string[];
  node: string | undefined;
  count: number;
  block: OpenBlock | undefined;
  /** Finished blocks, kept because a later part may still belong to one of them. */
  closed: Map<string, OpenBlock>;
  usage: Record<string, unknown> | undefined;
  metadata: JsonObject;
}

const ROLES: Partial<Record<string, string>> = { human: "human", system: "system", developer: "system" };
/** Message types without events; tools have their own events. */
const UNSAID = new Set(["tool", "function", "remove"]);

export class MessageBlocks {
  readonly #sink: BlockSink;
  readonly #open = new Map<string, OpenMessage>();

  constructor(sink: BlockSink) {
    this.#sink = sink;
  }

  /** Process a chunk, or a whole message that a node returned. Messages without an id are only part of the values. */
  take(namespace: readonly string[], message: JsonObject, metadata: JsonObject): void {
    const { id, type } = message;
    if (typeof id !== "string" || UNSAID.has(String(type))) return;
    const open = this.#open.get(id) ?? this.#start(id, namespace, metadata, ROLES[String(type)]);
    for (const part of partsOf(message)) this.#takePart(open, part);
    if (isRecord(message.usage_metadata)) open.usage = summed(open.usage, message.usage_metadata);
    if (isRecord(message.response_metadata)) Object.assign(open.metadata, message.response_metadata);
    // Only chunks have tool_call_chunks: anything else is a whole message.
    if (!("tool_call_chunks" in message)) this.#finish(open);
  }

  /** Finish the messages of a task that has ended. */
  finishIn(namespace: readonly string[]): void {
    const place = namespace.join("|");
    for (const open of [...this.#open.values()]) if (open.namespace.join("|") === place) this.#finish(open);
  }

  /** Finish all messages at the end of the run; `fault` is the error of a failed run. */
  finishAll(fault?: string): void {
    for (const open of [...this.#open.values()]) {
      if (fault === undefined) this.#finish(open);
      else this.#break(open, fault);
    }
  }

  #start(
    id: string,
    namespace: readonly string[],
    { langgraph_node: node }: JsonObject,
    role: string | undefined,
  ): OpenMessage {
    const open: OpenMessage = {
      ...{ id, namespace, node: typeof node === "string" ? node : undefined },
      ...{ count: 0, block: undefined, closed: new Map<string, OpenBlock>(), usage: undefined, metadata: {} },
    };
    this.#open.set(id, open);
    this.#say(open, { event: "message-start", id, ...(role && { role }) });
    return open;
  }

  #takePart(open: OpenMessage, part: Part): void {
    const block = open.block?.key === part.key ? open.block : this.#turnTo(open, part);
    const delta = grown(block.content, part.content);
    if (delta) this.#say(open, { event: "content-block-delta", index: block.index, delta });
  }

  /** Switch to the block of this part, and finish the previous one. */
  #turnTo(open: OpenMessage, { key, content }: Part): OpenBlock {
    this.#finishBlock(open);
    const block = open.closed.get(key) ?? { key, index: open.count++, content: beginning(content) };
    if (!open.closed.delete(key))
      this.#say(open, { event: "content-block-start", index: block.index, content: { ...block.content } });
    return (open.block = block);
  }

  #finishBlock(open: OpenMessage): void {
    const { block } = open;
    if (!block) return;
    open.block = undefined;
    open.closed.set(block.key, block);
    this.#say(open, { event: "content-block-finish", index: block.index, content: finished(block.content) });
  }

  #finish(open: OpenMessage): void {
    this.#finishBlock(open);
    this.#open.delete(open.id);
    const { usage, metadata } = open;
    const reason = metadata.finish_reason ?? metadata.stop_reason;
    this.#say(open, {
      event: "message-finish",
      ...(typeof reason === "string" && { reason }),
      ...(usage && { usage }),
      ...(Object.keys(metadata).length > 0 && { responseMetadata: metadata }),
    });
  }

  #break(open: OpenMessage, message: string): void {
    this.#open.delete(open.id);
    this.#say(open, { event: "error", message });
  }

  /** Clients use `run_id` to separate messages that are streamed concurrently. */
  #say({ id, namespace, node }: OpenMessage, data: JsonObject): void {
    this.#sink(namespace, node, { ...data, run_id: id });
  }
}

// Splits a chunk into parts.

/** Part of a content block. Parts with the same key belong to one block. */
interface Part {
  key: string;
  content: JsonObject & { type: string };
}

/** Provider-specific blocks that repeat the tool calls of the chunk. */
const CALLS = new Set(["tool_use", "input_json_delta", "tool_call", "tool_call_chunk", "functionCall"]);

function partsOf(message: JsonObject): Part[] {
  const { content, tool_calls, invalid_tool_calls, tool_call_chunks, additional_kwargs } = message;
  const thought = isRecord(additional_kwargs) ? additional_kwargs.reasoning_content : undefined;
  const calls = [tool_call_chunks ?? [tool_calls ?? [], invalid_tool_calls ?? []]].flat(2).filter(isRecord);
  return [
    ...(isText(thought) ? [{ key: "reasoning", content: { type: "reasoning", reasoning: thought } }] : []),
    ...(isText(content) ? [textPart(content)] : []),
    ...(Array.isArray(content) ? content.flatMap(partOf) : []),
    ...calls.map(callPart),
  ];
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const textPart = (text: string, index: unknown = ""): Part => ({
  key: `text ${String(index)}`,
  content: { type: "text", text },
});

function partOf(block: unknown, place: number): Part[] {
  if (isText(block)) return [textPart(block)];
  if (!isRecord(block)) return [];
  const { type, index = "" } = block;
  const key = `${String(type)} ${String(index)}`;
  if (typeof type !== "string" || CALLS.has(type)) return [];
  if (type === "text") return isText(block.text) ? [textPart(block.text, index)] : [];
  if (type === "reasoning" || type === "thinking") {
    const reasoning = block.reasoning ?? block.thinking;
    return isText(reasoning) ? [{ key, content: { type: "reasoning", reasoning } }] : [];
  }
  return [{ key: index === "" ? `${key}${place}` : key, content: { ...block, type } }];
}

function callPart({ id, name, args, index }: JsonObject, place: number): Part {
  const text = typeof args === "string" ? args : args == null ? "" : JSON.stringify(args);
  const content = { type: "tool_call_chunk", id, name, args: text };
  return {
    key: `call ${[index, id, place].find((each) => each != null) as string}`,
    content: withoutNothing(content),
  };
}

const withoutNothing = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as T;

// The life cycle of a block.

/** Initial content of a block, before its first delta. */
function beginning({ type, ...content }: Part["content"]): Part["content"] {
  if (type === "text") return { type, text: "" };
  if (type === "reasoning") return { type, reasoning: "" };
  if (type === "tool_call_chunk") return { type, ...content, args: "" };
  return { type, ...content };
}

/** Append a part to a block and return the delta event; undefined if there is nothing to send. */
function grown(block: Part["content"], part: Part["content"]): JsonObject | undefined {
  if (part.type === "text") {
    block.text = `${String(block.text)}${String(part.text)}`;
    return { type: "text-delta", text: part.text };
  }
  if (part.type === "reasoning") {
    block.reasoning = `${String(block.reasoning)}${String(part.reasoning)}`;
    return { type: "reasoning-delta", reasoning: part.reasoning };
  }
  if (part.type !== "tool_call_chunk") return undefined;
  const { args = "", ...others } = part;
  Object.assign(block, others, { args: `${String(block.args)}${String(args)}` });
  // Clients replace the previous fields with these.
  return args === "" ? undefined : { type: "block-delta", fields: { ...block } };
}

function finished(block: Part["content"]): JsonObject {
  if (block.type !== "tool_call_chunk") return { ...block };
  const { id = null, name = null, args } = block;
  try {
    const parsed: unknown = JSON.parse(args === "" ? "{}" : String(args));
    if (isRecord(parsed)) return { type: "tool_call", id, name, args: parsed };
  } catch {
    // Return the arguments as received.
  }
  return { type: "invalid_tool_call", id, name, args, error: "the arguments are not a JSON object" };
}

/** Adds usage that arrives in several chunks. */
function summed(a: Record<string, unknown> | undefined, b: JsonObject): Record<string, unknown> {
  if (!a) return b;
  const sum: Record<string, unknown> = { ...a, ...b };
  for (const key of Object.keys(b)) {
    const [before, after] = [a[key], b[key]];
    if (typeof before === "number" && typeof after === "number") sum[key] = before + after;
  }
  return sum;
}
