/** Converts messages of the user's copy of LangChain to and from plain data. */
import type * as Messages from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import type * as Outputs from "@langchain/core/outputs";
import type { ChatGeneration, ChatGenerationChunk } from "@langchain/core/outputs";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { StoredMessage } from "./recording.js";

const FIELDS = [
  "id",
  "name",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_chunks",
  "usage_metadata",
  "additional_kwargs",
  "response_metadata",
  "tool_call_id",
  "status",
  "artifact",
] as const;

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0);

/** Whether a value is a message of any copy of the library. */
export function isMessageObject(value: unknown): value is BaseMessage {
  return isRecord(value) && typeof value.getType === "function" && "content" in value;
}

const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

export function storeMessage(message: BaseMessage): StoredMessage {
  const fields = FIELDS.map((name) => [name, (message as unknown as JsonObject)[name]] as const);
  const kept = fields.filter(([name, value]) => !isEmpty(value) && !isOfTheChunks(name, message));
  return plain({ type: message.getType(), content: message.content, ...Object.fromEntries(kept) });
}

/** Tool calls of a chunk are derived from its `tool_call_chunks`, so they are not stored. */
const isOfTheChunks = (name: string, message: BaseMessage): boolean =>
  /^(invalid_)?tool_calls$/.test(name) && "tool_call_chunks" in message;

export function storeChunk({ message, generationInfo }: ChatGenerationChunk | ChatGeneration): StoredMessage {
  const { type: _type, ...stored } = storeMessage(message);
  return isEmpty(generationInfo) ? stored : { ...stored, generationInfo: plain(generationInfo) };
}

const textOf = (content: unknown): string => (typeof content === "string" ? content : "");

export class MessageMaker {
  readonly #messages: typeof Messages;
  readonly #outputs: typeof Outputs;

  constructor(messages: typeof Messages, outputs: typeof Outputs) {
    this.#messages = messages;
    this.#outputs = outputs;
  }

  chunk({ generationInfo, ...fields }: StoredMessage): ChatGenerationChunk {
    const message = new this.#messages.AIMessageChunk(fields);
    const info = generationInfo as JsonObject | undefined;
    return new this.#outputs.ChatGenerationChunk({
      text: textOf(fields.content),
      message,
      ...(info && { generationInfo: { ...info } }),
    });
  }

  generation({ generationInfo, ...fields }: StoredMessage): ChatGeneration {
    const message = new this.#messages.AIMessage(fields);
    const info = generationInfo as JsonObject | undefined;
    return { text: message.text, message, ...(info && { generationInfo: { ...info } }) };
  }

  /** A response that was not streamed, as a single chunk for callers that stream. */
  wholeChunk(stored: StoredMessage): ChatGenerationChunk {
    const calls = (Array.isArray(stored.tool_calls) ? stored.tool_calls : []) as JsonObject[];
    const { tool_calls: _calls, ...fields } = stored;
    const tool_call_chunks = calls.map(({ id, name, args }, index) => ({
      type: "tool_call_chunk",
      id,
      name,
      args: JSON.stringify(args),
      index,
    }));
    return this.chunk(calls.length > 0 ? { ...fields, tool_call_chunks } : fields);
  }

  message(stored: StoredMessage): BaseMessage {
    const { type, ...data } = stored;
    const [message] = this.#messages.mapStoredMessagesToChatMessages([
      { type: String(type), data: data as never },
    ]);
    return message as BaseMessage;
  }
}
