/** Where in a graph tools are called: in newer releases, LangGraph's stream of their calls does not name the task. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { taskOf } from "./output-filter.js";

type ToolStart = Parameters<NonNullable<BaseCallbackHandler["handleToolStart"]>>;

export class ToolPlaces extends BaseCallbackHandler {
  override name = "graph_serve_tools";
  override awaitHandlers = true;
  override ignoreLLM = true;
  override ignoreChain = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  /** By the call's id; nodes that call a tool themselves give none. */
  readonly #tasks = new Map<unknown, Set<string>>();

  override handleToolStart(...start: ToolStart): void {
    const [, , , , , metadata, , callId] = start;
    const tasks = this.#tasks.get(callId) ?? new Set();
    this.#tasks.set(callId, tasks.add(taskOf(metadata)));
  }

  /** Namespaces of the tasks that made calls with this id; models may give one id to several. */
  of(callId: unknown): readonly string[] {
    return [...(this.#tasks.get(callId) ?? [])];
  }
}
