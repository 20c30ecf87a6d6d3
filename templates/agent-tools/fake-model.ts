import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage, type UsageMetadata } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { decide, type Decision } from "./fake-decisions.js";

/** Pause between two words, so that one can watch them arrive. */
const WORD_DELAY_MS = 15;
const MODEL = { model_name: "fake" };

/** Stands in for a model that calls tools: it decides by simple patterns, streams, and counts its tokens. */
export class FakeToolModel extends BaseChatModel {
  constructor() {
    super({});
  }

  override _llmType(): string {
    return "fake";
  }

  /** A real model is told of the tools here; this one knows them by heart. */
  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const decision = decide(messages);
    const message = new AIMessage({
      content: decision.text,
      tool_calls: decision.toolCalls,
      usage_metadata: countTokens(messages, decision),
      response_metadata: MODEL,
    });
    return { generations: [{ text: decision.text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const message of chunksOf(messages)) {
      await pause(WORD_DELAY_MS);
      options.signal?.throwIfAborted();
      const chunk = new ChatGenerationChunk({ text: message.text, message });
      yield chunk;
      await run?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

/** A word a chunk, then a tool call a chunk; the last one carries the tokens used. */
function chunksOf(messages: readonly BaseMessage[]): AIMessageChunk[] {
  const decision = decide(messages);
  const words = decision.text.split(/(?<= )/).map((word) => new AIMessageChunk(word));
  const calls = decision.toolCalls.map(({ id, name, args }, index) => {
    const call = { type: "tool_call_chunk" as const, id, name, args: JSON.stringify(args), index };
    return new AIMessageChunk({ content: "", tool_call_chunks: [call] });
  });
  const usage_metadata = countTokens(messages, decision);
  const end = new AIMessageChunk({ content: "", usage_metadata, response_metadata: MODEL });
  return [...words, ...calls, end];
}

/** A word or a tool call counts as one token: enough to see usage reported. */
function countTokens(messages: readonly BaseMessage[], { text, toolCalls }: Decision): UsageMetadata {
  const wordsIn = (some: string): number => some.split(/\s+/).filter(Boolean).length;
  const input_tokens = messages.reduce((sum, message) => sum + wordsIn(message.text), 0);
  const output_tokens = wordsIn(text) + toolCalls.length;
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
