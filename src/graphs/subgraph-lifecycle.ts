/** When the graphs and tasks inside of a run begin and end: told by where its events are from. */
import { isRecord, type JsonObject } from "../models/common.js";
import { nodeOf } from "../models/protocol.js";

type LifecycleSink = (namespace: readonly string[], data: JsonObject) => void;
export type InnerEnd = "completed" | "failed" | "interrupted";

const keyOf = (namespace: readonly string[]): string => namespace.join("|");

export class SubgraphLifecycle {
  readonly #sink: LifecycleSink;
  /** Those that have begun, with the names of their graphs, and whether they have ended. */
  readonly #begun = new Map<
    string,
    { namespace: readonly string[]; graph_name: string; hasEnded: boolean }
  >();
  /** Names of agents, by the namespace in which they work. */
  readonly #agents = new Map<string, string>();
  /** Ids of tool calls, by the id of the task that makes them. */
  readonly #calls = new Map<string, string>();

  /** Where the last event came from: tokens come from one place, many in a row. */
  #last: readonly string[] | undefined;

  constructor(sink: LifecycleSink) {
    this.#sink = sink;
  }

  /** An event comes from here: all on the way have begun. */
  enter(namespace: readonly string[]): void {
    if (namespace === this.#last) return;
    this.#last = namespace;
    for (let length = 1; length <= namespace.length; length += 1) this.#begin(namespace.slice(0, length));
  }

  /** Hear a task that begins; tasks of an agent are marked with its name. */
  taskBegins(namespace: readonly string[], { id, input, metadata }: JsonObject): void {
    const agent = isRecord(metadata) ? metadata.lc_agent_name : undefined;
    const key = keyOf(namespace);
    if (typeof agent === "string" && agent !== "" && !this.#agents.has(key)) this.#agents.set(key, agent);
    const call: unknown = isRecord(input) ? input.tool_call : Array.isArray(input) ? input[0] : undefined;
    if (isRecord(call) && typeof call.id === "string") this.#calls.set(String(id), call.id);
  }

  /** A task has ended; a breakpoint or a question inside of it leaves its graph waiting. */
  taskEnds(namespace: readonly string[], waits: boolean): void {
    this.#end(keyOf(namespace), waits ? "interrupted" : "completed");
  }

  /** The run has ended: nothing inside of it goes on. */
  endAll(how: InnerEnd): void {
    for (const key of [...this.#begun.keys()].reverse()) this.#end(key, how);
  }

  #begin(namespace: readonly string[]): void {
    const key = keyOf(namespace);
    if (this.#begun.has(key)) return;
    const [node = "", task = ""] = (namespace.at(-1) ?? "").split(":", 2);
    const agent = this.#agents.get(key);
    const graph_name = agent ?? nodeOf(node);
    this.#begun.set(key, { namespace, graph_name, hasEnded: false });
    const tool_call_id = agent === undefined ? undefined : this.#calls.get(task);
    const cause = tool_call_id !== undefined && { cause: { type: "toolCall", tool_call_id } };
    this.#sink(namespace, { event: "started", graph_name, ...cause });
  }

  #end(key: string, event: InnerEnd): void {
    const begun = this.#begun.get(key);
    if (!begun || begun.hasEnded) return;
    begun.hasEnded = true;
    this.#sink(begun.namespace, { event, graph_name: begun.graph_name });
  }
}
