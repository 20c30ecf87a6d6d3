/** Distinguishes updates of nodes from those of tasks called inside a node: LangGraph streams both by name only. */
import { isRecord, type JsonObject } from "../../models/common.js";
import { INTERRUPT_KEY } from "../output-filter.js";

/** Receives an update; `isNode` is false if it is the result of a call inside a node. */
type UpdateSink = (namespace: readonly string[], updates: JsonObject, isNode: boolean) => void;

const PUSHED = "__pregel_push";

/**
 * Must receive every chunk of the modes `updates` and `tasks`, in order. The chunk after an update contains the writes of
 * its task, which has no channels for a call. A cached update from an earlier run has no such chunk; the cached update of
 * a call follows directly after the start of its task.
 */
export class NodeUpdates {
  readonly #sink: UpdateSink;
  #waiting: { namespace: readonly string[]; updates: JsonObject } | undefined;
  /** Name of the call that started with the previous chunk. */
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

  /** Drop the state of a failed attempt before a retry. */
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
