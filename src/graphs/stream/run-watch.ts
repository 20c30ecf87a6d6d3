/** Reports the activity of a run, node by node, through callbacks; does not affect the run's stream. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { LLMResult } from "@langchain/core/outputs";
import { isRecord } from "../../models/common.js";
import type { NodeActivity, RunActivity, ToolActivity } from "../../models/run-activity.js";
import type { Run } from "../../models/run.js";
import { tryOr, errorMessage, errorName } from "../../support/errors/thrown.js";
import { dueYield } from "../../support/event-loop.js";
import { nodePathOf, taskNamespace } from "../output-filter.js";
import { tokensOf } from "../callbacks/usage.js";

type Start<Name extends `handle${"Chain" | "Tool" | "LLM" | "ChatModel"}Start`> = Parameters<
  NonNullable<BaseCallbackHandler[Name]>
>;

/** A call in progress. */
interface Open {
  /** Namespace of the task. */
  task: string;
  since: number;
  tool?: Pick<ToolActivity, "name" | "input">;
}

/** LangGraph's tags for calls of nodes, and for its internal calls. */
const NODE = /^graph:step:/;
const HIDDEN = "langsmith:hidden";

export class RunWatch extends BaseCallbackHandler {
  override name = "graph_serve_watch";
  override awaitHandlers = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  readonly #run: Run;
  readonly #report: (activity: RunActivity) => void;
  /** By call id. */
  readonly #open = new Map<string, Open>();
  /** Tasks by the id of their model call. */
  readonly #models = new Map<string, string>();
  /** Tokens by task. */
  readonly #tokens = new Map<string, number>();

  /** @param report must return quickly; its errors are ignored */
  constructor(run: Run, report: (activity: RunActivity) => void) {
    super();
    this.#run = run;
    this.#report = (activity) => void tryOr(() => report(activity));
  }

  begin(stateless: boolean): void {
    this.#report({ kind: "begin", run: this.#run, stateless });
  }

  end(end: Omit<Extract<RunActivity, { kind: "end" }>, "kind">): void {
    this.#report({ kind: "end", ...end });
  }

  /** Yields, so that nodes that never wait do not block the event loop, as in a run without a watch. */
  override async handleChainStart(
    ...[, , id, , tags = [], metadata]: Start<"handleChainStart">
  ): Promise<void> {
    if (!tags.some((tag) => NODE.test(tag)) || tags.includes(HIDDEN)) return;
    await dueYield();
    this.#open.set(id, { task: taskNamespace(metadata), since: performance.now() });
  }

  override handleChainEnd(_: unknown, id: string): void {
    this.#endNode(id, "done");
  }

  override handleChainError(error: unknown, id: string): void {
    this.#endNode(id, isInterrupt(error) ? "waits" : "failed");
  }

  override handleToolStart(...[tool, input, id, , , metadata, name]: Start<"handleToolStart">): void {
    const named = name ?? tool.name ?? String(tool.id?.at(-1) ?? "tool");
    this.#open.set(id, {
      task: taskNamespace(metadata),
      since: performance.now(),
      tool: { name: named, input },
    });
  }

  override handleToolEnd(output: unknown, id: string): void {
    this.#endTool(id, "done", () => outputText(output));
  }

  override handleToolError(error: unknown, id: string): void {
    // A tool that stopped at an interrupt resumes when it is answered.
    if (isInterrupt(error)) this.#open.delete(id);
    else this.#endTool(id, "failed", () => `${errorName(error)}: ${errorMessage(error)}`);
  }

  override handleChatModelStart(...[, , id, , , , metadata]: Start<"handleChatModelStart">): void {
    this.#models.set(id, taskNamespace(metadata));
  }

  override handleLLMStart(...[, , id, , , , metadata]: Start<"handleLLMStart">): void {
    this.#models.set(id, taskNamespace(metadata));
  }

  override handleLLMEnd(result: LLMResult, id: string): void {
    const task = this.#models.get(id) ?? "";
    this.#models.delete(id);
    this.#tokens.set(task, (this.#tokens.get(task) ?? 0) + tokensOf(result).total_tokens);
  }

  override handleLLMError(_: unknown, id: string): void {
    this.#models.delete(id);
  }

  #endNode(id: string, state: NodeActivity["state"]): void {
    const open = this.#open.get(id);
    if (!open || open.tool) return;
    const tokens = this.#tokens.get(open.task) ?? 0;
    this.#tokens.delete(open.task);
    this.#report({ kind: "node", ...this.#close(id, open), state, tokens });
  }

  #endTool(id: string, state: ToolActivity["state"], output: () => string): void {
    const open = this.#open.get(id);
    if (!open?.tool) return;
    const text = tryOr(output) ?? "";
    this.#report({ kind: "tool", ...this.#close(id, open), ...open.tool, state, output: text });
  }

  #close(id: string, { task, since }: Open): Pick<NodeActivity, "run" | "path" | "ms"> {
    this.#open.delete(id);
    return { run: this.#run, path: nodePathOf(task), ms: performance.now() - since };
  }
}

/** Compared by name, because the error may come from another copy of LangGraph. */
const isInterrupt = (error: unknown): boolean =>
  ["GraphInterrupt", "NodeInterrupt"].includes(errorName(error));

/** Text of a tool's output, which is usually wrapped in a ToolMessage. */
function outputText(output: unknown): string {
  const content = isRecord(output) && "content" in output ? output.content : output;
  return typeof content === "string" ? content : (JSON.stringify(content) ?? String(content));
}
