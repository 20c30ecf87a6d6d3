/** Counts the tokens of a run (docs/specification.md#token-usage). */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager, CallbackManagerForChainRun } from "@langchain/core/callbacks/manager";
import type { LLMResult } from "@langchain/core/outputs";
import { isRecord } from "../models/common.js";
import { NO_TOKENS, type TokenCounts, type TokenUsage } from "../models/run.js";
import { dueTurn } from "../support/event-loop.js";
import { isMessage } from "./serialize.js";

function firstNumber(source: Record<string, unknown>, ...keys: string[]): number | undefined {
  for (const key of keys) {
    const value = source[key];
    if (typeof value === "number" && Number.isFinite(value)) return value;
  }
  return undefined;
}

/** One provider's usage record in any of the spellings in use; undefined when it holds no counts. */
function normalise(record: unknown): TokenCounts | undefined {
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
function messageUsage(message: Record<string, unknown>): TokenCounts | undefined {
  const metadata = isRecord(message.response_metadata) ? message.response_metadata : {};
  return (
    normalise(message.usage_metadata) ??
    normalise(metadata.usage_metadata) ??
    normalise(metadata.token_usage) ??
    normalise(metadata.tokenUsage) ??
    normalise(metadata.usage)
  );
}

function add(a: TokenCounts, b: TokenCounts | undefined): TokenCounts {
  if (!b) return a;
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
  };
}

/** Tokens that one call of a model reported. */
export function tokensOf({ generations, llmOutput }: LLMResult): TokenCounts {
  let counts = NO_TOKENS;
  for (const generation of generations.flat()) {
    if ("message" in generation && isMessage(generation.message))
      counts = add(counts, messageUsage(generation.message));
  }
  if (counts.total_tokens > 0) return counts;
  return add(counts, normalise(llmOutput?.tokenUsage) ?? normalise(llmOutput?.token_usage));
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
  #counts = NO_TOKENS;

  /** A model whose tokens are all there at once must not keep others out until the last. */
  override handleLLMNewToken(): Promise<void> | undefined {
    return dueTurn();
  }

  override handleLLMEnd(result: LLMResult): void {
    this.#counts = add(this.#counts, tokensOf(result));
  }

  /**
   * Tokens of the run. When no call reported any, the sum over all AI messages of `state`, the final values: then
   * cumulative over the thread (docs/specification.md#token-usage, 4 and 5).
   */
  total(state: unknown): TokenUsage {
    if (this.#counts.total_tokens > 0) return { ...this.#counts, source: "callbacks" };
    const counts = stateUsage(state);
    // Where there is nothing to sum up, that no model reported any is all there is to say.
    return { ...counts, source: counts.total_tokens > 0 ? "messages" : "callbacks" };
  }
}

function stateUsage(state: unknown): TokenCounts {
  let counts = NO_TOKENS;
  try {
    const lists = Array.isArray(state) ? [state] : Object.values(isRecord(state) ? state : {});
    for (const list of lists) {
      if (!Array.isArray(list)) continue;
      for (const item of list)
        if (isMessage(item) && item.type === "ai") counts = add(counts, messageUsage(item));
    }
  } catch {
    // The state is a graph's: it may throw when it is looked at.
    return NO_TOKENS;
  }
  return counts;
}

// Listening to the models of a run, at next to no cost for everything else in it.

/**
 * Callbacks with one handler, which hears of models alone. LangChain's own manager is copied several times for each
 * node, with all its tags and metadata, and announces every node: a third of the time of a graph whose nodes do little.
 * This one carries neither tags nor metadata, which the config holds anyway, and announces nothing. As soon as another
 * handler joins (of the graph, of a model, for tracing, for a stream) a manager of LangChain's takes over; there, runs
 * that nobody was told of go by the id of the one they are part of. Nodes wait for their turn of the event loop.
 */
export class ModelCallbacks extends CallbackManager {
  readonly #handler: BaseCallbackHandler;

  constructor(handler: BaseCallbackHandler, parentRunId?: string) {
    super(parentRunId);
    this.#handler = handler;
    super.addHandler(handler, true);
  }

  override copy(additional: BaseCallbackHandler[] = [], inherit?: boolean): CallbackManager {
    if (additional.length > 0 || !this.#isAlone) return super.copy(additional, inherit);
    return new ModelCallbacks(this.#handler, this.getParentRunId());
  }

  override addTags(tags: string[], inherit?: boolean): void {
    if (!this.#isAlone) super.addTags(tags, inherit);
  }

  override addMetadata(metadata: Record<string, unknown>, inherit?: boolean): void {
    if (!this.#isAlone) super.addMetadata(metadata, inherit);
  }

  override async handleChainStart(
    ...start: Parameters<CallbackManager["handleChainStart"]>
  ): Promise<CallbackManagerForChainRun> {
    const [, , runId = this.getParentRunId()] = start;
    if (!this.#isAlone || runId === undefined) return super.handleChainStart(...start);
    await dueTurn();
    return new QuietRun(this.#handler, runId);
  }

  get #isAlone(): boolean {
    return this.handlers.length === 1 && this.handlers[0] === this.#handler;
  }
}

/** A chain of a run that nobody is told of. */
class QuietRun extends CallbackManagerForChainRun {
  readonly #handler: BaseCallbackHandler;

  constructor(handler: BaseCallbackHandler, runId: string) {
    super(runId, [], [], [], [], {}, {});
    this.#handler = handler;
  }

  override getChild(): CallbackManager {
    return new ModelCallbacks(this.#handler, this.runId);
  }
}
