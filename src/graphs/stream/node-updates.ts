/** Tells the updates of nodes from those of tasks that a node's function calls: LangGraph streams both by name alone. */
import { isRecord, type JsonObject } from "../../models/common.js";
import { INTERRUPT_KEY } from "../output-filter.js";

/** Takes an update; `isNode` is false when it holds what a call inside of a node gave back. */
type UpdateSink = (namespace: readonly string[], updates: JsonObject, isNode: boolean) => void;

const PUSHED = "__pregel_push";

/**
 * Sees every chunk of the modes `updates` and `tasks`, in their order. What the task of an update wrote comes in the
 * chunk after it, and names no channel for a call. An update that is taken from an earlier run comes alone; that of a
 * call then comes right after its task has begun.
 */
export class NodeUpdates {
  readonly #sink: UpdateSink;
  #waiting: { namespace: readonly string[]; updates: JsonObject } | undefined;
  /** Name of the call that has just begun. */
  #called: string | undefined;

  constructor(sink: UpdateSink) {
    this.#sink = sink;
  }

  see(namespace: readonly string[], mode: string, payload: unknown): void {
    if (mode === "debug") return;
    if (this.#waiting) this.#settle(namespace, mode, payload);
    const called = this.#called;
    this.#called = undefined;
    if (mode === "tasks") this.#called = calledBy(payload);
    if (mode !== "updates" || !isRecord(payload)) return;
    if (INTERRUPT_KEY in payload) this.#sink(namespace, payload, true);
    else if (isCached(payload)) this.#sink(namespace, payload, called === undefined || !(called in payload));
    else this.#waiting = { namespace, updates: payload };
  }

  /** Forget what a run that is tried again has left. */
  reset(): void {
    this.#waiting = undefined;
    this.#called = undefined;
  }

  #settle(namespace: readonly string[], mode: string, payload: unknown): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    const isSame = mode === "tasks" && namespace.join("|") === waiting.namespace.join("|");
    this.#sink(waiting.namespace, waiting.updates, isSame && wroteChannels(payload, waiting.updates));
  }
}

function wroteChannels(task: unknown, updates: JsonObject): boolean {
  if (!isRecord(task) || !isRecord(task.result)) return false;
  return String(task.name) in updates && Object.keys(task.result).length > 0;
}

const isCached = ({ __metadata__: origin }: JsonObject): boolean =>
  isRecord(origin) && origin.cached === true;

const calledBy = (task: unknown): string | undefined =>
  isRecord(task) && !("result" in task) && Array.isArray(task.triggers) && task.triggers.includes(PUSHED)
    ? String(task.name)
    : undefined;
