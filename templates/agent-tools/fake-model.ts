import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage, type UsageMetadata } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { decide, type Decision } from "./fake-decisions.js";

/** Pause between two words in milliseconds, so that streaming is visible. */
const WORD_DELAY_MS = 15;
const MODEL = { model_name: "fake" };

/** A fake model that calls tools: it decides by simple patterns, streams its answer and reports token usage. */
export class FakeToolModel extends BaseChatModel {
  constructor() {
    super({});
  }

  override _llmType(): string {
    return "fake";
  }

  /** Does nothing: unlike a real model, this model already knows the tools. */
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

/** One chunk per word, then one chunk per tool call; the last chunk contains the token usage. */
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

/** Counts each word and each tool call as one token. */
function countTokens(messages: readonly BaseMessage[], { text, toolCalls }: Decision): UsageMetadata {
  const wordsIn = (some: string): number => some.split(/\s+/).filter(Boolean).length;
  const input_tokens = messages.reduce((sum, message) => sum + wordsIn(message.text), 0);
  const output_tokens = wordsIn(text) + toolCalls.length;
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
