/** Checks the budgets of a run before each model call. */
import type { CallbackManager } from "@langchain/core/callbacks/manager";

/**
 * The check is made by the managers of callbacks. Where LangChain merges two managers into a new one, such as for
 * `tools.invoke(calls, config)` in a node, only handlers are left, so the handler makes it.
 */
export class CallGuard {
  readonly #check: () => Promise<void>;
  /** Number of calls that a manager has checked, and whose handlers are called next. */
  #checked = 0;

  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  async byManager(): Promise<void> {
    await this.#check();
    this.#checked += 1;
  }

  /** Undefined if a manager has checked the call. */
  byHandler(): Promise<void> | undefined {
    if (this.#checked === 0) return this.#check();
    this.#checked -= 1;
    return undefined;
  }
}

/**
 * Checks each model call below this manager, also where LangChain creates managers of its own. Unlike a handler that
 * throws, it can stop the call without a line on the console.
 */
export function guardModelCalls<Manager extends CallbackManager>(
  manager: Manager,
  guard: CallGuard,
): Manager {
  const startChat = manager.handleChatModelStart.bind(manager);
  const startModel = manager.handleLLMStart.bind(manager);
  const startChain = manager.handleChainStart.bind(manager);
  const startTool = manager.handleToolStart.bind(manager);
  const copy = manager.copy.bind(manager);
  const below = <Parent extends { getChild(tag?: string): CallbackManager }>(parent: Parent): Parent => {
    const getChild = parent.getChild.bind(parent);
    return Object.assign(parent, {
      getChild: (tag?: string) => guardModelCalls(getChild(tag), guard),
    });
  };
  return Object.assign(manager, {
    handleChatModelStart: async (...start: Parameters<CallbackManager["handleChatModelStart"]>) => {
      await guard.byManager();
      return startChat(...start);
    },
    handleLLMStart: async (...start: Parameters<CallbackManager["handleLLMStart"]>) => {
      await guard.byManager();
      return startModel(...start);
    },
    handleChainStart: async (...start: Parameters<CallbackManager["handleChainStart"]>) =>
      below(await startChain(...start)),
    handleToolStart: async (...start: Parameters<CallbackManager["handleToolStart"]>) =>
      below(await startTool(...start)),
    copy: (...options: Parameters<CallbackManager["copy"]>) => guardModelCalls(copy(...options), guard),
  });
}
