/** Callbacks of a run without the cost of LangChain's manager. Benchmark: `npm run bench -- --only P2`. */
import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager, CallbackManagerForChainRun } from "@langchain/core/callbacks/manager";
import { dueYield } from "../../support/event-loop.js";
import { handlesToolsOnly } from "./tool-handlers.js";
import type { Timed } from "./task-times.js";
import { RunUsage, START, TASK_TAG } from "./usage.js";

/**
 * A callback manager for a single RunUsage handler, which receives only model and tool events; node times are recorded
 * without events. LangChain's manager is copied several times per node, with all tags and metadata, and emits events
 * for every node: a third of the run time of a graph with small nodes. This manager skips tags and metadata, which
 * the config holds anyway, and emits no node events. When another handler is added (of the graph, of a model, for
 * tracing, for a stream), it behaves like LangChain's manager; runs without events then have the id of their parent.
 * Nodes yield to the event loop. Measured by `npm run bench -- --only P2`, and by the promises of `--counts`.
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
    const state = { handlers, inheritableHandlers, tags, inheritableTags, metadata, inheritableMetadata };
    return Object.assign(copy, state);
  }

  /** Tool-only handlers are called through the first handler: each one in the list costs LangChain time per token. */
  override addHandler(handler: BaseCallbackHandler, inherit = true): void {
    const [first] = this.handlers;
    if (!(first instanceof RunUsage) || !inherit || !handlesToolsOnly(handler))
      return super.addHandler(handler, inherit);
    const joined = first.withToolHandler(handler);
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
    this.#restoreMetadata();
    return super.handleChatModelStart(...start);
  }

  override handleLLMStart(...start: Parameters<CallbackManager["handleLLMStart"]>) {
    this.#restoreMetadata();
    return super.handleLLMStart(...start);
  }

  override handleToolStart(...start: Parameters<CallbackManager["handleToolStart"]>) {
    this.#restoreMetadata();
    return super.handleToolStart(...start);
  }

  /** Events need the metadata, which contains the position in the graph. */
  #restoreMetadata(): void {
    if (this.#metadata && this.#isAlone) super.addMetadata(this.#metadata);
  }

  get #isAlone(): boolean {
    return this.handlers.length === 1 && this.handlers[0] === this.#handler;
  }
}

/** A chain run that emits no events. */
class QuietRun extends CallbackManagerForChainRun {
  readonly #handler: RunUsage;
  readonly #task: Timed | undefined;

  constructor(handler: RunUsage, runId: string, task: Timed | undefined) {
    super(runId, [], [], [], [], {}, {});
    this.#handler = handler;
    this.#task = task;
  }

  override getChild(tag?: string): CallbackManager {
    return new ModelCallbacks(this.#handler, this.runId, tag?.startsWith(TASK_TAG));
  }

  override async handleChainEnd(): Promise<void> {
    this.#handler.times.end(this.#task, "done");
  }

  override async handleChainError(error: unknown): Promise<void> {
    this.#handler.times.fail(this.#task, error);
  }
}
