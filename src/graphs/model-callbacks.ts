/** Listening to the models of a run, at next to no cost for everything else in it. */
import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager, CallbackManagerForChainRun } from "@langchain/core/callbacks/manager";
import { dueTurn } from "../event-loop.js";

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
