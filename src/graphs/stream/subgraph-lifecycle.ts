/** Lifecycle events of the subgraphs and tasks of a run, derived from the namespaces of its other events. */
import { isRecord, type JsonObject } from "../../models/common.js";
import { nodeOf } from "../../models/protocol.js";

type LifecycleSink = (namespace: readonly string[], data: JsonObject) => void;
export type InnerEnd = "completed" | "failed" | "interrupted";

const keyOf = (namespace: readonly string[]): string => namespace.join("|");

interface OpenPlace {
  namespace: readonly string[];
  graph_name: string;
  /** Its outcome, if it has ended but the state of its superstep is not sent yet. */
  ended?: InnerEnd;
}

export class SubgraphLifecycle {
  readonly #sink: LifecycleSink;
  /** All namespaces that have started, including ended ones. */
  readonly #begun = new Set<string>();
  /** Namespaces whose end has not been sent, in start order. */
  readonly #open = new Map<string, OpenPlace>();
  /** Names of agents, by namespace. */
  readonly #agents = new Map<string, string>();
  /** Ids of tool calls, by the id of the task that executes them. */
  readonly #calls = new Map<string, string>();

  /** Namespace of the last event: many consecutive tokens come from one namespace. */
  #last: readonly string[] | undefined;

  constructor(sink: LifecycleSink) {
    this.#sink = sink;
  }

  /** Start all namespaces on the way to this one, from which an event arrived. */
  enter(namespace: readonly string[]): void {
    if (namespace === this.#last) return;
    this.#last = namespace;
    for (let length = 1; length <= namespace.length; length += 1) this.#begin(namespace.slice(0, length));
  }

  /** Process the start of a task. The metadata of an agent's tasks contains the agent's name. */
  taskBegins(namespace: readonly string[], { id, input, metadata }: JsonObject): void {
    this.stepEnds(namespace);
    const agent = isRecord(metadata) ? metadata.lc_agent_name : undefined;
    const key = keyOf(namespace);
    if (typeof agent === "string" && agent !== "" && !this.#agents.has(key)) this.#agents.set(key, agent);
    const call: unknown = isRecord(input) ? input.tool_call : Array.isArray(input) ? input[0] : undefined;
    if (isRecord(call) && typeof call.id === "string") this.#calls.set(String(id), call.id);
  }

  /**
   * End a task with everything inside it; `waits` is true if it stopped at an interrupt. The end of the task itself is sent
   * after the state of its superstep, so that clients that read the state at the end of a task find its writes.
   */
  taskEnds(namespace: readonly string[], waits: boolean): void {
    const key = keyOf(namespace);
    const how = waits ? "interrupted" : "completed";
    this.#endWhere((each) => each.startsWith(`${key}|`), how);
    const open = this.#open.get(key);
    if (open) open.ended ??= how;
  }

  /** The state of a graph's superstep was sent: send the ends of its tasks. */
  stepEnds(namespace: readonly string[]): void {
    const { length } = namespace;
    const prefix = length === 0 ? "" : `${keyOf(namespace)}|`;
    this.#endWhere(
      (key, { namespace: place, ended }) =>
        ended !== undefined && place.length === length + 1 && key.startsWith(prefix),
      "completed",
    );
  }

  /** End everything that is still open, at the end of the run. */
  endAll(how: InnerEnd): void {
    this.#endWhere(() => true, how);
  }

  #begin(namespace: readonly string[]): void {
    const key = keyOf(namespace);
    if (this.#begun.has(key)) return;
    const [node = "", task = ""] = (namespace.at(-1) ?? "").split(":", 2);
    const agent = this.#agents.get(key);
    const graph_name = agent ?? nodeOf(node);
    this.#begun.add(key);
    this.#open.set(key, { namespace, graph_name });
    const tool_call_id = agent === undefined ? undefined : this.#calls.get(task);
    const cause = tool_call_id !== undefined && { cause: { type: "toolCall", tool_call_id } };
    this.#sink(namespace, { event: "started", graph_name, ...cause });
  }

  /** Ends in reverse start order, so that inner namespaces end before outer ones. */
  #endWhere(matches: (key: string, open: OpenPlace) => boolean, how: InnerEnd): void {
    if (this.#open.size === 0) return;
    for (const [key, open] of [...this.#open].filter((entry) => matches(...entry)).reverse()) {
      const { namespace, graph_name, ended: event = how } = open;
      this.#open.delete(key);
      this.#sink(namespace, { event, graph_name });
    }
  }
}
