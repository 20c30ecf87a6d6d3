/** Counts the tokens of a run (spec, Token usage). */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { LLMResult } from "@langchain/core/outputs";
import { dueTurn } from "../event-loop.js";
import { isRecord } from "../models/common.js";
import type { TokenUsage } from "../models/run.js";
import { isMessage } from "./serialize.js";

type Counts = Pick<TokenUsage, "input_tokens" | "output_tokens" | "total_tokens">;

const NONE: Counts = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

function firstNumber(source: Record<string, unknown>, ...keys: string[]): number | undefined {
  for (const key of keys) {
    const value = source[key];
    if (typeof value === "number" && Number.isFinite(value)) return value;
  }
  return undefined;
}

/** One provider's usage record in any of the spellings in use; undefined when it holds no counts. */
function normalise(record: unknown): Counts | undefined {
  if (!isRecord(record)) return undefined;
  const input = firstNumber(
    record,
    "input_tokens",
    "prompt_tokens",
    "promptTokens",
    "inputTokens",
    "prompt_token_count",
  );
  const output = firstNumber(
    record,
    "output_tokens",
    "completion_tokens",
    "completionTokens",
    "outputTokens",
    "candidates_token_count",
  );
  const total = firstNumber(record, "total_tokens", "totalTokens", "total_token_count");
  const sum = total ?? (input ?? 0) + (output ?? 0);
  return sum > 0 ? { input_tokens: input ?? 0, output_tokens: output ?? 0, total_tokens: sum } : undefined;
}

/** Usage that a message carries, whichever way its provider reports it. */
function messageUsage(message: Record<string, unknown>): Counts | undefined {
  const metadata = isRecord(message.response_metadata) ? message.response_metadata : {};
  return (
    normalise(message.usage_metadata) ??
    normalise(metadata.usage_metadata) ??
    normalise(metadata.token_usage) ??
    normalise(metadata.tokenUsage) ??
    normalise(metadata.usage)
  );
}

function add(a: Counts, b: Counts | undefined): Counts {
  if (!b) return a;
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
  };
}

/** Hears the end of every model call of one run, also of calls whose answers never reach the state. */
export class RunUsage extends BaseCallbackHandler {
  override name = "graph_serve_usage";
  override awaitHandlers = true;
  // Only models are of interest: for every other event the handler would cost each node of each graph.
  override ignoreChain = true;
  override ignoreAgent = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  #counts = NONE;

  /** A model whose tokens are all there at once must not keep others out until the last. */
  override handleLLMNewToken(): Promise<void> | undefined {
    return dueTurn();
  }

  override handleLLMEnd(result: LLMResult): void {
    let counts = NONE;
    for (const generation of result.generations.flat()) {
      if ("message" in generation && isMessage(generation.message))
        counts = add(counts, messageUsage(generation.message));
    }
    if (counts.total_tokens === 0) {
      counts = add(
        counts,
        normalise(result.llmOutput?.tokenUsage) ?? normalise(result.llmOutput?.token_usage),
      );
    }
    this.#counts = add(this.#counts, counts);
  }

  /**
   * Tokens of the run. When no call reported any, the sum over all AI messages of `state`, the final values: then
   * cumulative over the thread (spec, Token usage 4 and 5).
   */
  total(state: unknown): TokenUsage {
    return this.#counts.total_tokens > 0 ? this.#counts : stateUsage(state);
  }
}

function stateUsage(state: unknown): TokenUsage {
  let counts = NONE;
  const lists = Array.isArray(state) ? [state] : Object.values(isRecord(state) ? state : {});
  for (const list of lists) {
    if (!Array.isArray(list)) continue;
    for (const item of list)
      if (isMessage(item) && item.type === "ai") counts = add(counts, messageUsage(item));
  }
  return counts;
}
