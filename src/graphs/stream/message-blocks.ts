/** Messages and their chunks, as a run's frames have them -> the events of their content, block by block. */
import { isRecord, type JsonObject } from "../../models/common.js";

/** Takes one event of a message. */
type BlockSink = (namespace: readonly string[], node: string | undefined, data: JsonObject) => void;

/** One block of a message that is still growing. */
interface OpenBlock {
  key: string;
  index: number;
  content: JsonObject & { type: string };
}

/** A message that is still growing. */
interface OpenMessage {
  id: string;
  namespace: readonly string[];
  node: string | undefined;
  count: number;
  block: OpenBlock | undefined;
  /** Blocks that another one has followed; a part that comes late still finds its own. */
  closed: Map<string, OpenBlock>;
  usage: Record<string, unknown> | undefined;
  metadata: JsonObject;
}

const ROLES: Partial<Record<string, string>> = { human: "human", system: "system", developer: "system" };
/** Said of tools by events of their own. */
const UNSAID = new Set(["tool", "function", "remove"]);

export class MessageBlocks {
  readonly #sink: BlockSink;
  readonly #open = new Map<string, OpenMessage>();

  constructor(sink: BlockSink) {
    this.#sink = sink;
  }

  /** A chunk, or a whole message that a node gave back. What has no id comes with the values alone. */
  take(namespace: readonly string[], message: JsonObject, metadata: JsonObject): void {
    const { id, type } = message;
    if (typeof id !== "string" || UNSAID.has(String(type))) return;
    const open = this.#open.get(id) ?? this.#start(id, namespace, metadata, ROLES[String(type)]);
    for (const part of partsOf(message)) this.#takePart(open, part);
    if (isRecord(message.usage_metadata)) open.usage = summed(open.usage, message.usage_metadata);
    if (isRecord(message.response_metadata)) Object.assign(open.metadata, message.response_metadata);
    // Only chunks say which pieces of calls they bring.
    if (!("tool_call_chunks" in message)) this.#finish(open);
  }

  /** What grows in a task is whole: the task has ended. */
  finishIn(namespace: readonly string[]): void {
    const place = namespace.join("|");
    for (const open of [...this.#open.values()]) if (open.namespace.join("|") === place) this.#finish(open);
  }

  /** The run has ended; `fault` is why, where it failed. */
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

  /** Another block comes: that before it is finished. */
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

  /** Clients put messages that grow side by side together by `run_id`. */
  #say({ id, namespace, node }: OpenMessage, data: JsonObject): void {
    this.#sink(namespace, node, { ...data, run_id: id });
  }
}

// What a chunk brings, part by part.

/** Some of a block: what comes under one key is one block. */
interface Part {
  key: string;
  content: JsonObject & { type: string };
}

/** Blocks of providers that say of calls what the chunk itself says of them as well. */
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

// A block from its beginning to its end.

/** What a block is called with before anything of it has come. */
function beginning({ type, ...content }: Part["content"]): Part["content"] {
  if (type === "text") return { type, text: "" };
  if (type === "reasoning") return { type, reasoning: "" };
  if (type === "tool_call_chunk") return { type, ...content, args: "" };
  return { type, ...content };
}

/** Add what came to a block; undefined where that is nothing to tell. */
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
  // Fields take the place of those before.
  return args === "" ? undefined : { type: "block-delta", fields: { ...block } };
}

function finished(block: Part["content"]): JsonObject {
  if (block.type !== "tool_call_chunk") return { ...block };
  const { id = null, name = null, args } = block;
  try {
    const parsed: unknown = JSON.parse(args === "" ? "{}" : String(args));
    if (isRecord(parsed)) return { type: "tool_call", id, name, args: parsed };
  } catch {
    // Told as it came.
  }
  return { type: "invalid_tool_call", id, name, args, error: "the arguments are not a JSON object" };
}

/** Usage may come in several chunks. */
function summed(a: Record<string, unknown> | undefined, b: JsonObject): Record<string, unknown> {
  if (!a) return b;
  const sum: Record<string, unknown> = { ...a, ...b };
  for (const key of Object.keys(b)) {
    const [before, after] = [a[key], b[key]];
    if (typeof before === "number" && typeof after === "number") sum[key] = before + after;
  }
  return sum;
}
