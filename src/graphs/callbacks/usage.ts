/** Counts the tokens of a run (docs/specification.md#token-usage), and records its nodes, tools and model calls. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { LLMResult } from "@langchain/core/outputs";
import { isRecord } from "../../models/common.js";
import type { RunTask, TokenUsage } from "../../models/run.js";
import { NO_TOKENS, type TokenCounts, UNITS_PER_USD } from "../../models/token-counts.js";
import { afterWrites, dueYield } from "../../support/event-loop.js";
import { type CalledModel, ModelCalls, nodeOf, type PriceOf } from "../../models/model-calls.js";
import type { CallGuard } from "../budgets/call-guard.js";
import { taskNamespace } from "../output-filter.js";
import { isMessage } from "../serialize.js";
import { type Timed, RunTimes } from "./task-times.js";

function firstNumber(source: Record<string, unknown>, ...keys: string[]): number | undefined {
  for (const key of keys) {
    const value = source[key];
    if (typeof value === "number" && Number.isFinite(value)) return value;
  }
  return undefined;
}

/** Normalizes a provider's usage record; undefined if it has no counts. */
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

/** Token usage of a message, in any form that providers report it. */
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

/** Tokens reported by one model call. */
export function tokensOf({ generations, llmOutput }: LLMResult): TokenCounts {
  let counts = NO_TOKENS;
  for (const generation of generations.flat()) {
    if ("message" in generation && isMessage(generation.message))
      counts = add(counts, messageUsage(generation.message));
  }
  if (counts.total_tokens > 0) return counts;
  return add(counts, normalise(llmOutput?.tokenUsage) ?? normalise(llmOutput?.token_usage));
}

const countIn = (record: unknown, name: string): number => {
  const value = isRecord(record) ? record[name] : undefined;
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
};

/** The parts of the tokens, as LangChain's messages report them. */
function detailsOf({ generations }: LLMResult) {
  const details = { cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
  for (const generation of generations.flat()) {
    if (!("message" in generation) || !isMessage(generation.message)) continue;
    const { usage_metadata: usage } = generation.message;
    if (!isRecord(usage)) continue;
    details.cache_read_tokens += countIn(usage.input_token_details, "cache_read");
    details.cache_write_tokens += countIn(usage.input_token_details, "cache_creation");
    details.reasoning_tokens += countIn(usage.output_token_details, "reasoning");
  }
  return details;
}

/** Prefix of LangGraph's tag for the callbacks of a task. Tasks include `__start__`, which is not a node. */
export const TASK_TAG = "graph:step:";
export const START = "__start__";

type HandlerArgs<Name extends keyof BaseCallbackHandler> = Parameters<
  Extract<BaseCallbackHandler[Name], (...args: never[]) => unknown>
>;

/** Recorded calls of a run. */
interface Known {
  readonly times: RunTimes;
  counts: TokenCounts;
  /** Calls in progress, by call id. */
  readonly open: Map<string, Timed | undefined>;
  readonly calls: ModelCalls;
  readonly priceOf: PriceOf | undefined;
  /** Models that are called, by call id. */
  readonly called: Map<string, CalledModel>;
  guard?: CallGuard;
  /** Whether the run has had a token. */
  hasToken?: boolean;
}

/** Counts the tokens of all model calls of one run, including calls whose results never reach the state. */
export class RunUsage extends BaseCallbackHandler {
  override name = "graph_serve_usage";
  override awaitHandlers = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  readonly times: RunTimes;
  readonly calls: ModelCalls;
  readonly #known: Known;
  readonly #others: readonly BaseCallbackHandler[];

  /** @param others handlers of tool events only; called after this one */
  constructor(known?: Known | PriceOf, others = [] as readonly BaseCallbackHandler[]) {
    super();
    this.#known =
      typeof known === "object"
        ? known
        : {
            times: new RunTimes(),
            counts: NO_TOKENS,
            open: new Map(),
            calls: new ModelCalls(),
            priceOf: known,
            called: new Map(),
          };
    this.times = this.#known.times;
    this.calls = this.#known.calls;
    this.#others = others;
    this.raiseError = this.#known.guard !== undefined;
  }

  /** Lets `guard` stop model calls; called before the first one. */
  guardCalls(guard: CallGuard): void {
    this.#known.guard = guard;
    this.raiseError = true;
  }

  /** A copy that also forwards tool events to `other`. */
  withToolHandler(other: BaseCallbackHandler): RunUsage {
    return new RunUsage(this.#known, [...this.#others, other]);
  }

  /** Called only if another handler receives node events: `ModelCallbacks` alone does not emit them. */
  override handleChainStart(...[, , id, , tags, metadata, , name]: HandlerArgs<"handleChainStart">): void {
    if (tags?.some((tag) => tag.startsWith(TASK_TAG)) && name !== START)
      this.#begin("node", id, name ?? "", metadata);
  }

  override handleChainEnd(_: unknown, id: string): void {
    this.#end(id, "done");
  }

  override handleChainError(error: unknown, id: string): void {
    this.#fail(error, id);
  }

  override async handleToolStart(...start: HandlerArgs<"handleToolStart">): Promise<void> {
    const [tool, , id, , , metadata, name, call] = start;
    this.#begin("tool", id, name ?? tool.name ?? String(tool.id?.at(-1) ?? "tool"), metadata, call);
    for (const other of this.#others) await other.handleToolStart?.(...start);
  }

  override async handleToolEvent(...event: HandlerArgs<"handleToolEvent">): Promise<void> {
    for (const other of this.#others) await other.handleToolEvent?.(...event);
  }

  override async handleToolEnd(...end: HandlerArgs<"handleToolEnd">): Promise<void> {
    this.#end(end[1], "done");
    for (const other of this.#others) await other.handleToolEnd?.(...end);
  }

  override async handleToolError(...error: HandlerArgs<"handleToolError">): Promise<void> {
    this.#fail(error[0], error[1]);
    for (const other of this.#others) await other.handleToolError?.(...error);
  }

  override handleChatModelStart(
    ...[model, , id, , , , metadata, name]: HandlerArgs<"handleChatModelStart">
  ): Promise<void> | undefined {
    return this.#startCall(id, name ?? String(model.id?.at(-1) ?? "model"), metadata);
  }

  override handleLLMStart(
    ...[model, , id, , , , metadata, name]: HandlerArgs<"handleLLMStart">
  ): Promise<void> | undefined {
    return this.#startCall(id, name ?? String(model.id?.at(-1) ?? "model"), metadata);
  }

  /**
   * Yield between tokens, so that a model with all tokens available does not block the event loop. The first token leaves
   * before the model continues.
   */
  override handleLLMNewToken(): Promise<void> | undefined {
    if (this.#known.hasToken) return dueYield();
    this.#known.hasToken = true;
    return afterWrites();
  }

  override handleLLMEnd(result: LLMResult, id?: string): void {
    const tokens = tokensOf(result);
    this.#known.counts = add(this.#known.counts, tokens);
    if (id === undefined) return;
    const called = this.#known.called.get(id);
    this.#known.called.delete(id);
    const details = detailsOf(result);
    const cost = called && this.calls.add(called, { ...tokens, ...details }, this.#known.priceOf);
    const usage = { ...tokens, ...(cost !== undefined && { cost_usd: cost / UNITS_PER_USD }) };
    this.#end(id, "done", {
      ...(called?.provider != null && { provider: called.provider }),
      ...(tokens.total_tokens > 0 && { usage }),
      ...Object.fromEntries(Object.entries(details).filter(([, count]) => count > 0)),
    });
  }

  override handleLLMError(error: unknown, id: string): void {
    this.#known.called.delete(id);
    this.#fail(error, id);
  }

  #startCall(id: string, name: string, metadata: unknown): Promise<void> | undefined {
    const start = () => {
      const model = textIn(metadata, "ls_model_name") ?? name;
      const provider = textIn(metadata, "ls_provider") ?? null;
      this.#known.called.set(id, { node: nodeOf(taskNamespace(metadata)), provider, model });
      this.#begin("model", id, model, metadata);
    };
    const checked = this.#known.guard?.byHandler();
    return checked ? checked.then(start) : void start();
  }

  #begin(kind: RunTask["kind"], id: string, name: string, metadata: unknown, call?: string): void {
    this.#known.open.set(id, this.times.begin(kind, name, metadata, call));
  }

  #end(id: string, state: RunTask["state"], details?: Partial<RunTask>): void {
    this.times.end(this.#known.open.get(id), state, details);
    this.#known.open.delete(id);
  }

  #fail(error: unknown, id: string): void {
    this.times.fail(this.#known.open.get(id), error);
    this.#known.open.delete(id);
  }

  /**
   * Tokens of the run. If no call reported any, the sum over all AI messages in the final values `state`, which is
   * cumulative over the thread (docs/specification.md#token-usage, 4 and 5).
   */
  total(state: unknown): TokenUsage {
    const { counts, calls } = this.#known;
    if (counts.total_tokens > 0) {
      const { cost } = calls;
      const usd = cost !== undefined && { cost_usd: cost / UNITS_PER_USD };
      return { ...counts, source: "callbacks", ...usd };
    }
    const inState = stateUsage(state);
    // If the messages have no usage either, zero tokens were reported by callbacks.
    return { ...inState, source: inState.total_tokens > 0 ? "messages" : "callbacks" };
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
    // The graph's own objects may throw when their properties are read.
    return NO_TOKENS;
  }
  return counts;
}

/** The name of the model or its provider, if its class reports them. */
function textIn(metadata: unknown, key: "ls_model_name" | "ls_provider"): string | undefined {
  const text = isRecord(metadata) ? metadata[key] : undefined;
  return typeof text === "string" && text !== "" ? text : undefined;
}
