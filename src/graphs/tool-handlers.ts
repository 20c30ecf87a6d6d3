/** Handlers of callbacks that hear of tools alone. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { taskNamespace } from "./output-filter.js";

type ToolStart = Parameters<NonNullable<BaseCallbackHandler["handleToolStart"]>>;

/** Where in a graph tools are called: in newer releases, LangGraph's stream of their calls does not name the task. */
export class ToolNamespaces extends BaseCallbackHandler {
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
    this.#tasks.set(callId, tasks.add(taskNamespace(metadata)));
  }

  /** Namespaces of the tasks that made calls with this id; models may give one id to several. */
  of(callId: unknown): readonly string[] {
    return [...(this.#tasks.get(callId) ?? [])];
  }
}

/** LangGraph's handler for the stream of tools' calls. */
const OF_TOOLS = "StreamToolsHandler";

/** Whether a handler is ours or LangGraph's, and nobody misses what else it could be told. */
export function handlesToolsOnly(handler: BaseCallbackHandler): boolean {
  if (handler.name !== OF_TOOLS && !(handler instanceof ToolNamespaces)) return false;
  return methodsOf(handler).every((name) => name.startsWith("handleTool"));
}

function methodsOf(handler: object): string[] {
  const prototype = Object.getPrototypeOf(handler) as object | null;
  const names = Object.getOwnPropertyNames(handler).filter((name) => name.startsWith("handle"));
  return prototype ? [...names, ...methodsOf(prototype)] : names;
}
