/** Merges the chunks of messages that are still being streamed. */
import { isRecord } from "../../src/models/json.js";
import type { MessageLike } from "./frame.js";

type Block = Record<string, unknown>;

/** Block fields that are concatenated. */
const TEXTS = ["text", "thinking", "reasoning", "input", "args"];

/** The message extended by a chunk. */
export function grown(before: MessageLike | undefined, chunk: MessageLike): MessageLike {
  if (!before) return { ...chunk, type: kindOf(chunk.type), ...calls([], chunk) };
  return {
    ...before,
    content: joined(before.content, chunk.content),
    additional_kwargs: kwargs(before.additional_kwargs, chunk.additional_kwargs),
    ...(isRecord(chunk.usage_metadata) && { usage_metadata: chunk.usage_metadata }),
    ...calls(list(before.tool_call_chunks), chunk),
  };
}

/** A streamed `ai` message has the type `AIMessageChunk`. */
const kindOf = (type: string): string => (/^ai/i.test(type) ? "ai" : type);

const list = (value: unknown): Block[] => (Array.isArray(value) ? value.filter(isRecord) : []);

function joined(before: unknown, more: unknown): unknown {
  if (typeof before === "string" && typeof more === "string") return before + more;
  if (more == null || more === "") return before;
  if (before == null || before === "") return more;
  return blocksOf(more).reduce(withBlock, blocksOf(before));
}

const blocksOf = (content: unknown): Block[] =>
  Array.isArray(content)
    ? content.map((block: unknown) => (isRecord(block) ? block : { type: "text", text: String(block) }))
    : [{ type: "text", text: String(content) }];

/** A chunk extends the block with its index or, without one, the last block of its type. */
function withBlock(blocks: Block[], block: Block): Block[] {
  const at =
    block.index === undefined
      ? blocks.length - 1
      : blocks.findIndex(({ index, type }) => index === block.index && type === block.type);
  const before = blocks[at];
  if (!before || before.type !== block.type || !TEXTS.some((name) => name in block))
    return [...blocks, block];
  return blocks.with(at, mergedTexts(before, block));
}

function mergedTexts(before: Block, more: Block): Block {
  const texts = TEXTS.filter((name) => typeof more[name] === "string");
  const merged = texts.map((name) => [name, `${textOf(before[name])}${textOf(more[name])}`]);
  return { ...before, ...more, ...(Object.fromEntries(merged) as Block) };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Some providers stream reasoning in `additional_kwargs`. */
function kwargs(before: unknown, more: unknown): Block {
  const [old, fresh] = [isRecord(before) ? before : {}, isRecord(more) ? more : {}];
  const reasoning = `${textOf(old.reasoning_content)}${textOf(fresh.reasoning_content)}`;
  return { ...old, ...fresh, ...(reasoning !== "" && { reasoning_content: reasoning }) };
}

/** Tool calls with the arguments received so far: parsed once they are valid JSON, text until then. */
function calls(before: Block[], chunk: MessageLike): Block {
  const chunks = list(chunk.tool_call_chunks).reduce(withCall, before);
  if (chunks.length === 0) return { tool_calls: list(chunk.tool_calls) };
  const tool_calls = chunks.map(({ id, name, args }) => ({ id, name, args: parsedArgs(textOf(args)) }));
  return { tool_call_chunks: chunks, tool_calls };
}

function withCall(chunks: Block[], chunk: Block): Block[] {
  const at = chunks.findIndex(({ index, id }) =>
    chunk.index === undefined ? id === chunk.id : index === chunk.index,
  );
  const before = chunks[at];
  if (!before) return [...chunks, chunk];
  const known = Object.fromEntries(Object.entries(chunk).filter(([, value]) => value != null));
  return chunks.with(at, { ...before, ...known, args: `${textOf(before.args)}${textOf(chunk.args)}` });
}

function parsedArgs(text: string): unknown {
  try {
    return text === "" ? {} : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}
