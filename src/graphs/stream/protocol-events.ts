/**
 * Converts the frames of a run to the events of its thread (docs/http/events.md). Frames have already passed
 * the output filter.
 */
import { isRecord, type JsonObject } from "../../models/common.js";
import type { RunFrame } from "../../models/run-stream.js";
import { MessageBlocks } from "./message-blocks.js";
import { INTERRUPT_KEY, taskNamespace } from "../output-filter.js";
import { MESSAGE_TYPES } from "../serialize.js";
import { type InnerEnd, SubgraphLifecycle } from "./subgraph-lifecycle.js";
import { CHECKPOINT_ID } from "./stream-frames.js";

/** One event, without its sequence number in the thread. */
export interface ProtocolRunEvent {
  method: string;
  channel: string;
  namespace: readonly string[];
  node?: string;
  data: unknown;
  /** Identifies the event in the run, independent of the process that sends it. Other events are identified by position. */
  key?: string;
  /** The checkpoint that the event belongs to. */
  checkpoint?: { id: string; step: number };
}

export interface ProtocolRunInfo {
  run_id: string;
  /** Name of the graph. */
  graph_id: string;
  /** Ids of the interrupts that the run answers. */
  answers?: readonly string[];
}

/** Receives the events. */
type RunEventSink = (event: ProtocolRunEvent) => void;

/** Key of an update with metadata about its origin. */
const ORIGIN_KEY = "__metadata__";

export class ProtocolEvents {
  readonly #run: ProtocolRunInfo;
  readonly #sink: RunEventSink;
  readonly #messages: MessageBlocks;
  readonly #inner: SubgraphLifecycle;
  /** Checkpoint of the next values, by namespace. */
  readonly #checkpoints = new Map<string, JsonObject>();
  #metadata = metadataOf(undefined);
  /** The last checkpoint sent, and how often, by namespace. */
  readonly #sentCheckpoints = new Map<string, { id: string; times: number }>();
  /** Ids of the interrupts already sent. */
  readonly #sentInterrupts = new Set<string>();
  /** True once the run stopped at an interrupt or a breakpoint. */
  #waits = false;

  constructor(run: ProtocolRunInfo, sink: RunEventSink) {
    this.#run = run;
    this.#sink = sink;
    this.#messages = new MessageBlocks((namespace, node, data) =>
      this.#emit("messages", namespace, data, node === undefined ? {} : { node }),
    );
    this.#inner = new SubgraphLifecycle((namespace, data) =>
      sink({ method: "lifecycle", channel: "lifecycle", namespace, data }),
    );
  }

  take({ event, data }: RunFrame): void {
    const [mode = "", ...namespace] = event.split("|");
    if (mode === "messages") this.message(namespace, this.#messageOf(data));
    else READERS[mode]?.call(this, namespace, JSON.parse(data));
  }

  /** Metadata is the same for all chunks of a message and longer than a chunk, so it is parsed only once. */
  #messageOf(pair: string): unknown {
    const { text } = this.#metadata;
    if (text !== undefined && pair.endsWith(text)) return JSON.parse(pair.slice(1, -text.length));
    const [message, metadata] = [JSON.parse(pair) as unknown].flat();
    this.#metadata = metadataOf(metadata);
    return message;
  }

  begin(): void {
    this.#root({ event: "running" });
    const { answers } = this.#run;
    if (answers?.length)
      this.#sink({
        ...{ method: "input.answered", channel: "input", namespace: [], key: "answered" },
        data: { interrupt_ids: answers },
      });
  }

  values(namespace: readonly string[], values: unknown): void {
    const { [INTERRUPT_KEY]: interrupts, ...rest } = isRecord(values)
      ? values
      : { [INTERRUPT_KEY]: undefined };
    if (interrupts !== undefined) this.#ask(namespace, interrupts);
    if (values == null || (isRecord(values) && Object.keys(rest).length === 0)) return;
    this.#emitState(namespace, isRecord(values) ? slimState(rest) : values);
    this.#inner.stepEnds(namespace);
  }

  updates(namespace: readonly string[], updates: unknown): void {
    if (!isRecord(updates)) return;
    for (const [node, delta] of Object.entries(updates)) {
      if (node === INTERRUPT_KEY) this.#ask(namespace, delta);
      else if (node !== ORIGIN_KEY)
        this.#emit("updates", namespace, isRecord(delta) ? slimState(delta) : delta, { node });
    }
  }

  checkpointId(namespace: readonly string[], checkpoint: unknown): void {
    if (isRecord(checkpoint)) this.#checkpoints.set(namespace.join("|"), checkpoint);
  }

  /** The metadata always names the message's task. The frame names the graph or the task, depending on the release. */
  message(namespace: readonly string[], message: unknown): void {
    if (!isRecord(message)) return;
    const { task, value } = this.#metadata;
    const place = task.length > 0 ? task : namespace;
    this.#inner.enter(place);
    this.#messages.take(place, message, value);
  }

  tool(namespace: readonly string[], call: unknown): void {
    if (isRecord(call)) this.#emit("tools", namespace, toolEvent(call));
  }

  custom(namespace: readonly string[], payload: unknown): void {
    const isNamed = isRecord(payload) && typeof payload.name === "string";
    const channel = isNamed ? `custom:${String(payload.name)}` : "custom";
    this.#emit("custom", namespace, isNamed ? payload : { payload }, { channel });
  }

  task(namespace: readonly string[], task: unknown): void {
    if (!isRecord(task)) return;
    const place = [...namespace, `${String(task.name)}:${String(task.id)}`];
    const hasEnded = "result" in task;
    if (hasEnded) this.#messages.finishIn(place);
    else this.#inner.taskBegins(namespace, task);
    this.#emit("tasks", namespace, task);
    if (!hasEnded) return;
    this.#inner.taskEnds(place, Array.isArray(task.interrupts) && task.interrupts.length > 0);
  }

  /** End a run that did not fail. A run that was stopped also ends as interrupted. */
  end(status: unknown): void {
    this.#end(this.#waits || status === "interrupted" ? "interrupted" : "completed");
  }

  fail({ message, reason, interrupt_ids, pending_ids }: JsonObject): void {
    const error = typeof message === "string" ? message : "the run failed";
    this.#end("failed", { error, ...(reason !== undefined && { reason, interrupt_ids, pending_ids }) });
  }

  #end(event: InnerEnd, data: JsonObject = {}): void {
    this.#messages.finishAll(event === "failed" ? String(data.error) : undefined);
    this.#inner.endAll(event);
    this.#root({ event, ...data });
  }

  #root(data: JsonObject & { event: string }): void {
    const { run_id, graph_id } = this.#run;
    const { event, ...others } = data;
    this.#sink({
      ...{ method: "lifecycle", channel: "lifecycle", namespace: [] },
      data: { event, graph_name: graph_id, ...others },
      key: `synth:${run_id}:${event}`,
    });
  }

  #emitState(namespace: readonly string[], data: unknown): void {
    const place = namespace.join("|");
    const found = this.#checkpoints.get(place);
    this.#checkpoints.delete(place);
    const id = String(found?.id);
    const checkpoint = found && { id, step: Number(found.step) };
    const nth = found ? this.#countSent(place, id) : 1;
    const key = `${place}:${id}${nth > 1 ? `:${nth}` : ""}`;
    const named = (what: string) => checkpoint && { key: `${what}:${key}`, checkpoint };
    if (found) this.#emit("checkpoints", namespace, found, named("checkpoint"));
    this.#emit("values", namespace, data, named("values"));
  }

  /** A run that stops within a superstep sends its checkpoint again, with the writes since then. */
  #countSent(place: string, id: string): number {
    const sent = this.#sentCheckpoints.get(place);
    const times = sent?.id === id ? sent.times + 1 : 1;
    this.#sentCheckpoints.set(place, { id, times });
    return times;
  }

  #ask(namespace: readonly string[], interrupts: unknown): void {
    this.#waits = true;
    for (const interrupt of [interrupts].flat().filter(isRecord)) {
      const { id: interrupt_id, value = null } = interrupt;
      if (typeof interrupt_id !== "string" || this.#sentInterrupts.has(interrupt_id)) continue;
      this.#sentInterrupts.add(interrupt_id);
      this.#inner.enter(namespace);
      this.#sink({
        ...{ method: "input.requested", channel: "input", namespace, key: `input:${interrupt_id}` },
        // Python clients read `value`.
        data: { interrupt_id, payload: value, value },
      });
    }
  }

  #emit(
    method: string,
    namespace: readonly string[],
    data: unknown,
    more: Partial<ProtocolRunEvent> = {},
  ): void {
    this.#inner.enter(namespace);
    this.#sink({ method, channel: method, namespace, data, ...more });
  }
}

/** Metadata of a streamed message: as the suffix of its frame, parsed, and the namespace of its task. */
function metadataOf(metadata: unknown): {
  text: string | undefined;
  value: JsonObject;
  task: readonly string[];
} {
  const text = metadata === undefined ? undefined : `,${JSON.stringify(metadata)}]`;
  const task = taskNamespace(metadata);
  return { text, value: isRecord(metadata) ? metadata : {}, task: task === "" ? [] : task.split("|") };
}

/** Readers by frame type. Frames of other types are only for older clients. */
const READERS: Partial<
  Record<string, (this: ProtocolEvents, namespace: readonly string[], data: unknown) => void>
> = {
  metadata() {
    this.begin();
  },
  values(namespace, data) {
    this.values(namespace, data);
  },
  updates(namespace, data) {
    this.updates(namespace, data);
  },
  [CHECKPOINT_ID](namespace, data) {
    this.checkpointId(namespace, data);
  },
  tools(namespace, data) {
    this.tool(namespace, data);
  },
  custom(namespace, data) {
    this.custom(namespace, data);
  },
  tasks(namespace, data) {
    this.task(namespace, data);
  },
  end(_, data) {
    this.end(isRecord(data) ? data.status : undefined);
  },
  error(_, data) {
    this.fail(isRecord(data) ? data : {});
  },
};

// Payloads.

/** Message fields that are omitted if they are empty. */
const OFTEN_EMPTY = ["additional_kwargs", "response_metadata", "tool_calls", "invalid_tool_calls"];

/** The state with empty fields removed from its messages. */
function slimState(state: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(state).map(([key, value]) => [key, Array.isArray(value) ? value.map(slim) : slim(value)]),
  );
}

function slim(value: unknown): unknown {
  if (!isRecord(value) || !("additional_kwargs" in value) || !MESSAGE_TYPES.has(String(value.type)))
    return value;
  const { tool_call_chunks: _, ...message } = value;
  for (const field of OFTEN_EMPTY) if (isEmpty(message[field])) delete message[field];
  return message;
}

const isEmpty = (value: unknown): boolean =>
  value == null || (typeof value === "object" && Object.keys(value).length === 0);

function toolEvent({ event, toolCallId, name, input, output, data, error }: JsonObject): JsonObject {
  const tool_call_id = typeof toolCallId === "string" ? toolCallId : "";
  switch (event) {
    case "on_tool_start":
      return { event: "tool-started", tool_call_id, tool_name: name, input };
    case "on_tool_event":
      return { event: "tool-output-delta", tool_call_id, delta: textOf(data) };
    case "on_tool_end":
      return { event: "tool-finished", tool_call_id, output };
    default:
      return { event: "tool-error", tool_call_id, message: faultOf(error) };
  }
}

const textOf = (data: unknown): string => (typeof data === "string" ? data : JSON.stringify(data ?? ""));

const faultOf = (error: unknown): string =>
  typeof error === "string"
    ? error
    : isRecord(error)
      ? String(error.message ?? error.error)
      : "the tool failed";
