/** The callbacks of a run: they listen to its models and tools at next to no cost for everything else in it. */
import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager, CallbackManagerForChainRun } from "@langchain/core/callbacks/manager";
import { dueTurn } from "../support/event-loop.js";
import { ToolPlaces } from "./tool-places.js";
import { isTaskTag, RunUsage, START, type Timed } from "./usage.js";

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
    if (!(first instanceof RunUsage) || !inherit || !hearsOfToolsAlone(handler))
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
    await dueTurn();
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

/** LangGraph's handler for the stream of tools' calls. */
const OF_TOOLS = "StreamToolsHandler";

/** Whether a handler is ours or LangGraph's, and nobody misses what else it could be told. */
function hearsOfToolsAlone(handler: BaseCallbackHandler): boolean {
  if (handler.name !== OF_TOOLS && !(handler instanceof ToolPlaces)) return false;
  return methodsOf(handler).every((name) => name.startsWith("handleTool"));
}

function methodsOf(handler: object): string[] {
  const prototype = Object.getPrototypeOf(handler) as object | null;
  const names = Object.getOwnPropertyNames(handler).filter((name) => name.startsWith("handle"));
  return prototype ? [...names, ...methodsOf(prototype)] : names;
}
