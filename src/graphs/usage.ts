/** Counts the tokens of a run (docs/specification.md#token-usage), and notes when what runs in it begins and ends. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager, CallbackManagerForChainRun } from "@langchain/core/callbacks/manager";
import type { LLMResult } from "@langchain/core/outputs";
import { isRecord } from "../models/common.js";
import type { RunTask, RunTasks, TokenUsage } from "../models/run.js";
import { NO_TOKENS, type TokenCounts } from "../models/token-counts.js";
import { errorName } from "../support/errors.js";
import { dueYield } from "../support/event-loop.js";
import { taskNamespace } from "./output-filter.js";
import { isMessage } from "./serialize.js";
import { handlesToolsOnly } from "./tool-handlers.js";

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

// When what runs in a run begins and ends.

/** Of one run; those that come later are counted. */
const MOST_TASKS = 1000;

/** As it is kept while the run goes on: times as `Date.now()` gives them. */
interface Timed extends Omit<RunTask, "started_at" | "ended_at"> {
  from: number;
  to: number | undefined;
}

const timeOf = (at: number): string => new Date(at).toISOString();

export class RunTimes {
  readonly #tasks: Timed[] = [];
  #omitted = 0;

  /** Undefined when there are too many. */
  begin(kind: RunTask["kind"], name: string, metadata: unknown, call?: string): Timed | undefined {
    if (this.#tasks.length >= MOST_TASKS) return void (this.#omitted += 1);
    const step = isRecord(metadata) ? metadata.langgraph_step : undefined;
    const task: Timed = {
      kind,
      name,
      ...(call !== undefined && { tool_call_id: call }),
      namespace: taskNamespace(metadata),
      step: typeof step === "number" ? step : null,
      state: "running",
      usage: null,
      from: Date.now(),
      to: undefined,
    };
    this.#tasks.push(task);
    return task;
  }

  end(task: Timed | undefined, state: RunTask["state"], usage?: TokenCounts): void {
    if (!task || task.to !== undefined) return;
    task.to = Date.now();
    task.state = state;
    if (usage && usage.total_tokens > 0) task.usage = usage;
  }

  fail(task: Timed | undefined, error: unknown): void {
    this.end(task, isBubble(error) ? "waits" : "failed");
  }

  list(): RunTasks {
    const tasks = this.#tasks.map(({ from, to, state, usage, ...task }) => ({
      ...task,
      started_at: timeOf(from),
      ended_at: to === undefined ? null : timeOf(to),
      state,
      usage,
    }));
    return { tasks, omitted: this.#omitted };
  }
}

/** What a node throws to ask, or to go on in the graph around its own. By name: of any copy of LangGraph. */
const isBubble = (error: unknown): boolean =>
  ["GraphInterrupt", "NodeInterrupt", "ParentCommand"].includes(errorName(error));

/** LangGraph marks the callbacks of a task so; its own first one is no node. */
const isTaskTag = (tag: string | undefined): boolean => tag?.startsWith("graph:step:") === true;
const START = "__start__";

type Heard<Name extends keyof BaseCallbackHandler> = Parameters<
  Extract<BaseCallbackHandler[Name], (...told: never[]) => unknown>
>;

/** What is known of a run's calls. */
interface Known {
  readonly times: RunTimes;
  counts: TokenCounts;
  /** What has begun and not ended, by the id of the call. */
  readonly open: Map<string, Timed | undefined>;
}

/** Hears the end of every model call of one run, also of calls whose answers never reach the state. */
export class RunUsage extends BaseCallbackHandler {
  override name = "graph_serve_usage";
  override awaitHandlers = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  readonly #known: Known;
  readonly #others: readonly BaseCallbackHandler[];

  /** @param others handlers that hear of tools alone, as it does; they are told after it */
  constructor(
    known: Known = { times: new RunTimes(), counts: NO_TOKENS, open: new Map() },
    others = [] as readonly BaseCallbackHandler[],
  ) {
    super();
    this.#known = known;
    this.#others = others;
  }

  get times(): RunTimes {
    return this.#known.times;
  }

  /** The same, which tells this handler too what it hears of tools. */
  telling(other: BaseCallbackHandler): RunUsage {
    return new RunUsage(this.#known, [...this.#others, other]);
  }

  /** Heard where another handler hears of nodes: `ModelCallbacks` announces none. */
  override handleChainStart(...[, , id, , tags, metadata, , name]: Heard<"handleChainStart">): void {
    if (tags?.some(isTaskTag) && name !== START) this.#begin("node", id, name ?? "", metadata);
  }

  override handleChainEnd(_: unknown, id: string): void {
    this.#end(id, "done");
  }

  override handleChainError(error: unknown, id: string): void {
    this.#fail(error, id);
  }

  override async handleToolStart(...start: Heard<"handleToolStart">): Promise<void> {
    const [tool, , id, , , metadata, name, call] = start;
    this.#begin("tool", id, name ?? tool.name ?? String(tool.id?.at(-1) ?? "tool"), metadata, call);
    for (const other of this.#others) await other.handleToolStart?.(...start);
  }

  override async handleToolEvent(...event: Heard<"handleToolEvent">): Promise<void> {
    for (const other of this.#others) await other.handleToolEvent?.(...event);
  }

  override async handleToolEnd(...end: Heard<"handleToolEnd">): Promise<void> {
    this.#end(end[1], "done");
    for (const other of this.#others) await other.handleToolEnd?.(...end);
  }

  override async handleToolError(...error: Heard<"handleToolError">): Promise<void> {
    this.#fail(error[0], error[1]);
    for (const other of this.#others) await other.handleToolError?.(...error);
  }

  override handleChatModelStart(...[model, , id, , , , metadata, name]: Heard<"handleChatModelStart">): void {
    this.#begin("model", id, modelName(metadata) ?? name ?? String(model.id?.at(-1) ?? "model"), metadata);
  }

  override handleLLMStart(...[model, , id, , , , metadata, name]: Heard<"handleLLMStart">): void {
    this.#begin("model", id, modelName(metadata) ?? name ?? String(model.id?.at(-1) ?? "model"), metadata);
  }

  /** A model whose tokens are all there at once must not keep others out until the last. */
  override handleLLMNewToken(): Promise<void> | undefined {
    return dueYield();
  }

  override handleLLMEnd(result: LLMResult, id?: string): void {
    const tokens = tokensOf(result);
    this.#known.counts = add(this.#known.counts, tokens);
    if (id !== undefined) this.#end(id, "done", tokens);
  }

  override handleLLMError(error: unknown, id: string): void {
    this.#fail(error, id);
  }

  #begin(kind: RunTask["kind"], id: string, name: string, metadata: unknown, call?: string): void {
    this.#known.open.set(id, this.times.begin(kind, name, metadata, call));
  }

  #end(id: string, state: RunTask["state"], usage?: TokenCounts): void {
    this.times.end(this.#known.open.get(id), state, usage);
    this.#known.open.delete(id);
  }

  #fail(error: unknown, id: string): void {
    this.times.fail(this.#known.open.get(id), error);
    this.#known.open.delete(id);
  }

  /**
   * Tokens of the run. When no call reported any, the sum over all AI messages of `state`, the final values: then
   * cumulative over the thread (docs/specification.md#token-usage, 4 and 5).
   */
  total(state: unknown): TokenUsage {
    if (this.#known.counts.total_tokens > 0) return { ...this.#known.counts, source: "callbacks" };
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

/** The model's own name where its class says it. */
function modelName(metadata: unknown): string | undefined {
  const name = isRecord(metadata) ? metadata.ls_model_name : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}

/**
 * Callbacks with one handler, which hears of models and tools alone; when nodes begin and end is noted without it.
 * LangChain's own manager is copied several times for each node, with all its tags and metadata, and announces every
 * node: a third of the time of a graph whose nodes do little. This one carries neither tags nor metadata, which the
 * config holds anyway, and announces nothing. As soon as another handler joins (of the graph, of a model, for tracing,
 * for a stream) it does as LangChain's own does; there, runs that nobody was told of go by the id of the one they are
 * part of. Nodes wait for their turn of the event loop.
 */
export class ModelCallbacks extends CallbackManager {
  readonly #handler: RunUsage;
  /** Whether the next chain is a task of a graph. */
  readonly #isTask: boolean;
  #metadata: Record<string, unknown> | undefined;

  constructor(handler: RunUsage, parentRunId?: string, isTask = false) {
    super(parentRunId);
    this.#handler = handler;
    this.#isTask = isTask;
    super.addHandler(handler, true);
  }

  override copy(additional: BaseCallbackHandler[] = [], inherit?: boolean): CallbackManager {
    const copy = new ModelCallbacks(this.#handler, this.getParentRunId(), this.#isTask);
    if (additional.length === 0 && this.#isAlone) return copy;
    const { handlers, inheritableHandlers, tags, inheritableTags, metadata, inheritableMetadata } =
      super.copy(additional, inherit);
    const heard = { handlers, inheritableHandlers, tags, inheritableTags, metadata, inheritableMetadata };
    return Object.assign(copy, heard);
  }

  /** Of tools, one handler tells the others: LangChain takes as long for each that hears nothing of a token. */
  override addHandler(handler: BaseCallbackHandler, inherit = true): void {
    const [first] = this.handlers;
    if (!(first instanceof RunUsage) || !inherit || !handlesToolsOnly(handler))
      return super.addHandler(handler, inherit);
    const joined = first.telling(handler);
    const inPlace = (each: BaseCallbackHandler) => (each === first ? joined : each);
    this.handlers = this.handlers.map(inPlace);
    this.inheritableHandlers = this.inheritableHandlers.map(inPlace);
  }

  override addTags(tags: string[], inherit?: boolean): void {
    if (!this.#isAlone) super.addTags(tags, inherit);
  }

  override addMetadata(metadata: Record<string, unknown>, inherit?: boolean): void {
    if (!this.#isAlone) super.addMetadata(metadata, inherit);
    else this.#metadata ??= metadata;
  }

  override async handleChainStart(
    ...start: Parameters<CallbackManager["handleChainStart"]>
  ): Promise<CallbackManagerForChainRun> {
    const [, , runId = this.getParentRunId(), , , , name = ""] = start;
    if (!this.#isAlone || runId === undefined) return super.handleChainStart(...start);
    await dueYield();
    const task =
      this.#isTask && name !== START ? this.#handler.times.begin("node", name, this.#metadata) : undefined;
    return new QuietRun(this.#handler, runId, task);
  }

  override handleChatModelStart(...start: Parameters<CallbackManager["handleChatModelStart"]>) {
    this.#announce();
    return super.handleChatModelStart(...start);
  }

  override handleLLMStart(...start: Parameters<CallbackManager["handleLLMStart"]>) {
    this.#announce();
    return super.handleLLMStart(...start);
  }

  override handleToolStart(...start: Parameters<CallbackManager["handleToolStart"]>) {
    this.#announce();
    return super.handleToolStart(...start);
  }

  /** What the handler is told of has its metadata, which says where in the graph it is. */
  #announce(): void {
    if (this.#metadata && this.#isAlone) super.addMetadata(this.#metadata);
  }

  get #isAlone(): boolean {
    return this.handlers.length === 1 && this.handlers[0] === this.#handler;
  }
}

/** A chain of a run that nobody is told of. */
class QuietRun extends CallbackManagerForChainRun {
  readonly #handler: RunUsage;
  readonly #task: Timed | undefined;

  constructor(handler: RunUsage, runId: string, task: Timed | undefined) {
    super(runId, [], [], [], [], {}, {});
    this.#handler = handler;
    this.#task = task;
  }

  override getChild(tag?: string): CallbackManager {
    return new ModelCallbacks(this.#handler, this.runId, isTaskTag(tag));
  }

  override async handleChainEnd(): Promise<void> {
    this.#handler.times.end(this.#task, "done");
  }

  override async handleChainError(error: unknown): Promise<void> {
    this.#handler.times.fail(this.#task, error);
  }
}
