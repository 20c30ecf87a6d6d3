import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage, type UsageMetadata } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

/** Pause between two words in milliseconds, so that streaming is visible. */
const WORD_DELAY_MS = 15;
const MODEL = { model_name: "fake" };

/** A fake chat model: the same question gets the same answer, streamed word by word with token usage. */
export class FakeModel extends BaseChatModel {
  constructor() {
    super({});
  }

  override _llmType(): string {
    return "fake";
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const text = answerTo(messages);
    const message = new AIMessage({
      content: text,
      usage_metadata: countTokens(messages, text),
      response_metadata: MODEL,
    });
    return { generations: [{ text, message }] };
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

/** One chunk per word of the answer; the last chunk has no text and contains the token usage. */
function chunksOf(messages: readonly BaseMessage[]): AIMessageChunk[] {
  const answer = answerTo(messages);
  const words = answer.split(/(?<= )/).map((word) => new AIMessageChunk(word));
  const usage_metadata = countTokens(messages, answer);
  return [...words, new AIMessageChunk({ content: "", usage_metadata, response_metadata: MODEL })];
}

/** Quotes the last message, and the message before it to show that the thread is remembered. */
function answerTo(messages: readonly BaseMessage[]): string {
  const said = messages.filter((message) => message.type === "human").map((message) => message.text);
  const last = said.at(-1);
  const before = said.at(-2);
  if (last === undefined) return "Hello! Send me a message and I will answer.";
  if (before === undefined)
    return `Hello! You said: "${last}". I am a stand-in for a real model; see model.ts.`;
  return `You said: "${last}". Before that you said: "${before}". I remember the whole thread.`;
}

/** Counts each word as one token. */
function countTokens(messages: readonly BaseMessage[], answer: string): UsageMetadata {
  const wordsIn = (text: string): number => text.split(/\s+/).filter(Boolean).length;
  const input_tokens = messages.reduce((sum, message) => sum + wordsIn(message.text), 0);
  const output_tokens = wordsIn(answer);
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
