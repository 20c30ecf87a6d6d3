/** Callback handlers for tools only. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { taskNamespace } from "../output-filter.js";

type ToolStart = Parameters<NonNullable<BaseCallbackHandler["handleToolStart"]>>;

/** Records the task of each tool call: newer releases of LangGraph do not include it in the stream of tool calls. */
export class ToolNamespaces extends BaseCallbackHandler {
  override name = "graph_serve_tools";
  override awaitHandlers = true;
  override ignoreLLM = true;
  override ignoreChain = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  /** By tool call id; undefined if a node's own code called the tool. */
  readonly #tasks = new Map<unknown, Set<string>>();

  override handleToolStart(...start: ToolStart): void {
    const [, , , , , metadata, , callId] = start;
    const tasks = this.#tasks.get(callId) ?? new Set();
    this.#tasks.set(callId, tasks.add(taskNamespace(metadata)));
  }

  /** Namespaces of the tasks that made calls with this id. Models may reuse an id. */
  of(callId: unknown): readonly string[] {
    return [...(this.#tasks.get(callId) ?? [])];
  }
}

/** Name of LangGraph's handler for the stream of tool calls. */
const OF_TOOLS = "StreamToolsHandler";

/** Whether a handler is known to handle only tool events, so that other events need not be sent to it. */
export function handlesToolsOnly(handler: BaseCallbackHandler): boolean {
  if (handler.name !== OF_TOOLS && !(handler instanceof ToolNamespaces)) return false;
  return methodsOf(handler).every((name) => name.startsWith("handleTool"));
}

function methodsOf(handler: object): string[] {
  const prototype = Object.getPrototypeOf(handler) as object | null;
  const names = Object.getOwnPropertyNames(handler).filter((name) => name.startsWith("handle"));
  return prototype ? [...names, ...methodsOf(prototype)] : names;
}
