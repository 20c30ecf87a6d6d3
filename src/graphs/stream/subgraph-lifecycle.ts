/** When the graphs and tasks inside of a run begin and end: told by where its events are from. */
import { isRecord, type JsonObject } from "../../models/common.js";
import { nodeOf } from "../../models/protocol.js";

type LifecycleSink = (namespace: readonly string[], data: JsonObject) => void;
export type InnerEnd = "completed" | "failed" | "interrupted";

const keyOf = (namespace: readonly string[]): string => namespace.join("|");

interface OpenPlace {
  namespace: readonly string[];
  graph_name: string;
  /** How it ended, where its end waits for the checkpoint of its step. */
  ended?: InnerEnd;
}

export class SubgraphLifecycle {
  readonly #sink: LifecycleSink;
  /** Those that have begun, ended ones included. */
  readonly #begun = new Set<string>();
  /** Of these, those whose end has not been sent, in the order in which they began. */
  readonly #open = new Map<string, OpenPlace>();
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
    this.stepEnds(namespace);
    const agent = isRecord(metadata) ? metadata.lc_agent_name : undefined;
    const key = keyOf(namespace);
    if (typeof agent === "string" && agent !== "" && !this.#agents.has(key)) this.#agents.set(key, agent);
    const call: unknown = isRecord(input) ? input.tool_call : Array.isArray(input) ? input[0] : undefined;
    if (isRecord(call) && typeof call.id === "string") this.#calls.set(String(id), call.id);
  }

  /**
   * A task has ended, and all graphs and tasks inside of it; a breakpoint or a question leaves them waiting. Its own end is
   * sent with the state of its step: clients that read the state at the end of a task must find what the task wrote.
   */
  taskEnds(namespace: readonly string[], waits: boolean): void {
    const key = keyOf(namespace);
    const how = waits ? "interrupted" : "completed";
    this.#endWhere((each) => each.startsWith(`${key}|`), how);
    const open = this.#open.get(key);
    if (open) open.ended ??= how;
  }

  /** The state of a graph was sent: its tasks have ended with it. */
  stepEnds(namespace: readonly string[]): void {
    const { length } = namespace;
    const prefix = length === 0 ? "" : `${keyOf(namespace)}|`;
    this.#endWhere(
      (key, { namespace: place, ended }) =>
        ended !== undefined && place.length === length + 1 && key.startsWith(prefix),
      "completed",
    );
  }

  /** The run has ended: nothing inside of it goes on. */
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

  /** What is inside ends before what it is in. */
  #endWhere(matches: (key: string, open: OpenPlace) => boolean, how: InnerEnd): void {
    if (this.#open.size === 0) return;
    for (const [key, open] of [...this.#open].filter((entry) => matches(...entry)).reverse()) {
      const { namespace, graph_name, ended: event = how } = open;
      this.#open.delete(key);
      this.#sink(namespace, { event, graph_name });
    }
  }
}
