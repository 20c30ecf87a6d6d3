/** Derives from a stream's tasks which nodes run, which have run, and the edges taken. */
import { wayKey } from "../../src/view/diagram.js";

export type NodeState = "running" | "done" | "failed" | "waits";

interface Level {
  /** Nodes of the previous superstep. */
  before: string[];
  /** Finished nodes of this superstep. */
  ended: string[];
  /** Nodes of running tasks, by task id. */
  running: Map<string, string>;
}

const START = "__start__";
const END = "__end__";

export class RunProgress {
  /** States by node id in the drawing; nodes of a subgraph are named `child:inner`. */
  readonly nodes = new Map<string, NodeState>();
  /** Keys of the edges taken; see `wayKey`. */
  readonly ways = new Set<string>();
  readonly #levels = new Map<string, Level>();
  readonly #drawn: ReadonlySet<string>;

  /** @param drawn node ids of the drawing */
  constructor(drawn: ReadonlySet<string>) {
    this.#drawn = drawn;
  }

  begin(namespace: string, task: string, node: string): void {
    const level = this.#level(namespace);
    if (level.running.size === 0 && level.ended.length > 0) {
      level.before = level.ended;
      level.ended = [];
    }
    level.running.set(task, node);
    const id = inside(namespace, node);
    this.nodes.set(id, "running");
    // For a node that is a subgraph, only its inner nodes are drawn.
    if (this.#drawn.has(id)) for (const from of this.#origins(namespace)) this.ways.add(wayKey(from, id));
  }

  end(namespace: string, task: string, node: string, state: Exclude<NodeState, "running"> = "done"): void {
    const level = this.#level(namespace);
    level.running.delete(task);
    level.ended.push(node);
    this.nodes.set(inside(namespace, node), state);
  }

  /** A task of this node has ended; which one is unknown and makes no difference to the drawing. */
  endOne(namespace: string, node: string): void {
    const [task] = [...this.#level(namespace).running].find(([, name]) => name === node) ?? [];
    if (task !== undefined) this.end(namespace, task, node);
    else this.nodes.set(inside(namespace, node), "done");
  }

  /** End all tasks of the superstep. */
  endAll(namespace: string): void {
    for (const [task, node] of [...this.#level(namespace).running]) this.end(namespace, task, node);
  }

  /** The node was interrupted, or stopped at a breakpoint. */
  wait(namespace: string): void {
    for (const [task, node] of [...this.#level(namespace).running]) this.end(namespace, task, node, "waits");
  }

  finish(status: string): void {
    const running = [...this.nodes].flatMap(([id, state]) => (state === "running" ? [id] : []));
    for (const id of running) this.nodes.delete(id);
    // If several ran at once, the stream does not say which one failed.
    const [failed, ...others] = running.filter((id) => !running.some((each) => each.startsWith(`${id}:`)));
    if (status === "error" && failed !== undefined && others.length === 0) this.nodes.set(failed, "failed");
    if (status !== "success") return;
    for (const from of this.#last("")) this.ways.add(wayKey(from, END));
  }

  #level(namespace: string): Level {
    let level = this.#levels.get(namespace);
    if (!level) {
      level = { before: [], ended: [], running: new Map() };
      this.#levels.set(namespace, level);
    }
    return level;
  }

  /** Nodes from which the current superstep was reached. */
  #origins(namespace: string): string[] {
    const { before } = this.#level(namespace);
    if (before.length > 0) return before.flatMap((node) => this.#exits(namespace, node));
    if (namespace === "") return [START];
    return this.#origins(parentOf(namespace));
  }

  /** Drawn nodes at which a finished node was left: for a subgraph, its last nodes. */
  #exits(namespace: string, node: string): string[] {
    const id = inside(namespace, node);
    return this.#drawn.has(id) ? [id] : this.#last(id);
  }

  #last(namespace: string): string[] {
    return (this.#levels.get(namespace)?.ended ?? []).flatMap((node) => this.#exits(namespace, node));
  }
}

const inside = (namespace: string, node: string): string =>
  namespace === "" ? node : `${namespace}:${node}`;
const parentOf = (namespace: string): string => namespace.slice(0, Math.max(0, namespace.lastIndexOf(":")));

/** Converts the namespace of a frame, `child:UUID|leaf:UUID`, to that of drawings, `child:leaf`. */
export const drawnNamespace = (parts: readonly string[]): string =>
  parts.map((part) => part.split(":", 1)[0]).join(":");
