/** Converts LangGraph's stream chunks to the events of a run's stream, as JSON (docs/specification.md#streams). */
import type { BaseMessageChunk } from "@langchain/core/messages";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { StreamMode } from "../../models/run.js";
import type { SplitJson } from "../../models/json.js";
import { tryOr } from "../../support/errors/thrown.js";
import { visibleEvent } from "../event-filter.js";
import { checkpointPayload, debugPayload, taskPayload } from "./frame-payloads.js";
import { HeldOutput } from "../held-messages.js";
import { NodeUpdates } from "./node-updates.js";
import { filterAt, INTERRUPT_KEY, type OutputFilter, UNKEYED } from "../output-filter.js";
import { isMessage, messageTupleJson, metadataToWire, toJson, toWire, valuesToWire } from "../serialize.js";
import { ToolNamespaces } from "../callbacks/tool-handlers.js";

/** Modes that need the chunks of `tasks`: always, and while messages are held. */
const NEED_TASKS: readonly StreamMode[] = ["updates"];
const NEED_TASKS_TO_HOLD: readonly StreamMode[] = [...NEED_TASKS, "messages", "messages-tuple"];

/** Modes that a run captures for the events of its thread, in addition to the modes that its client requests. */
export const ALL_MODES: readonly StreamMode[] = [
  "values",
  "updates",
  "messages-tuple",
  "tools",
  "custom",
  "tasks",
];

const TUPLE_EVENT = "messages";
const MESSAGE_EVENTS = {
  metadata: "messages/metadata",
  partial: "messages/partial",
  complete: "messages/complete",
} as const;

/** Event names of the modes whose events are not named after the mode. */
export const EVENTS_OF: Partial<Record<StreamMode, readonly string[]>> = {
  "messages-tuple": [TUPLE_EVENT],
  messages: Object.values(MESSAGE_EVENTS),
};

/** Event of an internal frame with the checkpoint of the values that follow. Not sent to clients of a run's stream. */
export const CHECKPOINT_ID = "checkpoint-id";

/** `streamEvents` adds bare checkpoint ids to the stream, in addition to the requested modes. */
const isEnvelope = (mode: string, payload: unknown) =>
  mode === "checkpoints" && isRecord(payload) && !("values" in payload);

const isNothing = (shown: unknown): boolean =>
  shown === null || (isRecord(shown) && Object.keys(shown).length === 0);

/** Modes that are streamed for the root graph, and for subgraphs only if the client requests `subgraphs`. */
export const STATE_MODES: ReadonlySet<string> = new Set([
  "values",
  "updates",
  "tasks",
  "checkpoints",
  "debug",
]);

interface StreamFramesOptions {
  modes: readonly StreamMode[];
  /** Include the streams of subgraphs. */
  subgraphs?: boolean;
  /** Also emit the checkpoint of values; see `CHECKPOINT_ID`. */
  checkpointIds?: boolean;
  filter: OutputFilter;
  /** Hold messages and payloads of tool calls that may be written to a hidden key. */
  holdMessages?: boolean;
  /** Emit events of the `events` mode unfiltered. */
  unfilteredEvents?: boolean;
}

/** Converts the chunks of one run to events, and keeps the final values and interrupts. */
export class StreamFrames {
  /** Unfiltered values after the last superstep. */
  lastValues: unknown = undefined;
  /** Open interrupts, set when the graph stops; empty at a breakpoint. */
  interrupts: unknown[] | undefined;
  /** True once a mode event was emitted: the run must not be retried after that (docs/specification.md#streams, 7). */
  emitted = false;
  /**
   * The modes to request from LangGraph. Always includes `values`: its last chunk is the result of the run and contains
   * interrupts, whether or not the client requested the mode.
   */
  readonly frameworkModes: readonly string[];
  /** Add to the run's callbacks: a handler for information that is not in the chunks. */
  readonly toolPlaces: ToolNamespaces | undefined;

  readonly #options: StreamFramesOptions;
  readonly #modes: ReadonlySet<StreamMode>;
  readonly #sink: EventSink | undefined;
  readonly #updates: NodeUpdates | undefined;
  readonly #messages: MessageFrames | undefined;
  readonly #held: HeldOutput | undefined;

  /** @param sink receives the events; undefined to drop them */
  constructor(options: StreamFramesOptions, sink: EventSink | undefined) {
    this.#options = options;
    this.#modes = new Set(options.modes);
    this.#sink = sink;
    const framework = new Set<string>(["values"]);
    const needTasks = options.holdMessages ? NEED_TASKS_TO_HOLD : NEED_TASKS;
    for (const mode of options.modes) {
      if (needTasks.includes(mode)) framework.add("tasks");
      if (mode === "messages-tuple") framework.add("messages");
      else if (mode !== "events") framework.add(mode);
    }
    this.frameworkModes = [...framework];
    if (options.holdMessages) this.#held = new HeldOutput(options.filter);
    if (this.#modes.has("updates"))
      this.#updates = new NodeUpdates((...update) => this.#takeUpdates(...update));
    if (this.#modes.has("tools")) this.toolPlaces = new ToolNamespaces();
    if (this.#modes.has("messages"))
      this.#messages = new MessageFrames((event, namespace, data) => this.#emit(event, namespace, data));
  }

  /** Process one chunk. `namespace` is empty for the root graph, and for chunks without a namespace. */
  take(namespace: readonly string[], mode: string, payload: unknown): void {
    if (namespace.length > 0 && STATE_MODES.has(mode) && !this.#options.subgraphs) return;
    if (mode === "tasks") this.#held?.taskEnds(namespace, payload);
    this.#updates?.see(namespace, mode, payload);
    if (mode === "values") this.#takeValues(namespace, payload);
    else if (mode === "messages") this.#takeMessage(namespace, payload);
    else if (mode !== "updates") this.#takeOther(namespace, mode, payload);
  }

  /** Process one event of the `events` mode. `isRoot` is true for events of the root run. */
  takeEvent(event: unknown, isRoot: boolean): void {
    if (!this.#modes.has("events")) return;
    const { filter, unfilteredEvents } = this.#options;
    const shown = isRoot || unfilteredEvents ? event : visibleEvent(event, filter);
    const masked =
      isRecord(shown) && "metadata" in shown ? { ...shown, metadata: metadataToWire(shown.metadata) } : shown;
    this.#emit("events", ROOT, toJson(masked, "events"));
  }

  /** Reset before a retry: drop the state of the failed attempt. */
  restart(): void {
    this.interrupts = undefined;
    this.#updates?.reset();
    this.#held?.clear();
  }

  /** The result for a caller that waits for the run. @throws UnserializableError if it cannot be sent (`invalid_request`) */
  answer(convert: Convert = valuesToWire): JsonObject {
    return runAnswer(this.#options.filter.values(this.lastValues), this.interrupts, convert);
  }

  /** The result of a run that was stopped, with unreadable values replaced. Never throws. */
  answerSoFar(): JsonObject {
    return tryOr(() => this.answer(toWire)) ?? {};
  }

  #emit(event: string, namespace: readonly string[], data: string | SplitJson): void {
    this.emitted = true;
    const isOfSubgraph = this.#options.subgraphs && namespace.length > 0;
    this.#sink?.push(isOfSubgraph ? `${event}|${namespace.join("|")}` : event, data);
  }

  #takeValues(namespace: readonly string[], payload: unknown): void {
    const isRoot = namespace.length === 0;
    // LangGraph reports the interrupts of one superstep task by task.
    if (isRoot && isRecord(payload) && INTERRUPT_KEY in payload)
      this.interrupts = [...(this.interrupts ?? []), payload[INTERRUPT_KEY]].flat();
    else if (isRoot) {
      this.lastValues = payload;
      // The superstep has ended. Messages that are still held were not written to visible keys.
      this.#held?.clear();
    }
    if (!this.#modes.has("values") && !this.#messages) return;
    const { filter } = this.#options;
    const shown = (isRoot ? filter : filterAt(filter, namespace)).values(payload);
    if (isRoot) this.#messages?.values(shown);
    // Omit empty values of a subgraph: clients would apply them to the root graph's values.
    if (this.#modes.has("values") && (isRoot || !isNothing(shown)))
      this.#emit("values", namespace, toJson(shown, "values"));
  }

  #takeUpdates(namespace: readonly string[], updates: JsonObject, isNode: boolean): void {
    const shown = isNode
      ? filterAt(this.#options.filter, namespace).updates(updates)
      : withoutValues(updates);
    this.#emit("updates", namespace, toJson(shown, "updates"));
  }

  #takeMessage(namespace: readonly string[], payload: unknown): void {
    if (!Array.isArray(payload)) return;
    const [message, metadata] = payload as unknown[];
    if (!this.#held) return this.#sendMessage(namespace, message, metadata);
    this.#held.message(message, metadata, () => this.#sendMessage(namespace, message, metadata));
  }

  #sendMessage(namespace: readonly string[], message: unknown, metadata: unknown): void {
    if (this.#modes.has("messages-tuple"))
      this.#emit(TUPLE_EVENT, namespace, messageTupleJson(message, metadata));
    this.#messages?.chunk(namespace, message, metadata);
  }

  #takeOther(namespace: readonly string[], mode: string, payload: unknown): void {
    if (isEnvelope(mode, payload)) return this.#takeCheckpointId(namespace, payload);
    if (!this.#modes.has(mode as StreamMode)) return;
    const place = mode === "tools" ? this.#placeOfCall(namespace, payload) : namespace;
    this.#emit(mode, place, toJson(this.#shown(mode, payload, namespace), mode));
  }

  /** Namespace of the task that made the call: newer releases of LangGraph report only the task's graph. */
  #placeOfCall(graph: readonly string[], payload: unknown): readonly string[] {
    const [task, ...others] = this.#tasksOf(payload).filter((each) => each.startsWith(graph.join("|")));
    return task && others.length === 0 ? task.split("|") : graph;
  }

  #tasksOf(payload: unknown): readonly string[] {
    return isRecord(payload) ? (this.toolPlaces?.of(payload.toolCallId) ?? []) : [];
  }

  #takeCheckpointId(namespace: readonly string[], id: unknown): void {
    if (this.#options.checkpointIds) this.#emit(CHECKPOINT_ID, namespace, toJson(id, "checkpoints"));
  }

  #shown(mode: string, payload: unknown, namespace: readonly string[]): unknown {
    const { filter } = this.#options;
    switch (mode) {
      case "tasks":
        return taskPayload(payload, filterAt(filter, namespace));
      case "checkpoints":
        return checkpointPayload(payload, filterAt(filter, namespace));
      case "debug":
        return debugPayload(payload, filterAt(filter, namespace));
      case "tools":
        return this.#held ? this.#held.toolCall(payload, this.#tasksOf(payload)) : payload;
      default:
        return payload;
    }
  }
}

/** Converts a value for clients. */
type Convert = (value: unknown) => unknown;

/**
 * The result of a run: its final visible values and open interrupts. Always an object, because SDK clients look up an
 * error key in it.
 * @throws errors of `convert`
 */
export function runAnswer(
  visible: unknown,
  interrupts: unknown[] | undefined,
  convert: Convert = toWire,
): JsonObject {
  const values = convert(visible);
  const shown = isRecord(values) ? values : values == null ? {} : { [UNKEYED]: values };
  return interrupts ? { ...shown, [INTERRUPT_KEY]: convert(interrupts) } : shown;
}

/** The update without values, which only shows that the task has ended. */
const withoutValues = (updates: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(updates).map(([task, value]) => [task, isNothing(value) ? value : null]));

// The `messages` stream mode: accumulated messages, built from LangGraph's message chunks.

interface EventSink {
  /** Receives one event: its name, and its data as one line of JSON. */
  push(event: string, data: string | SplitJson): void;
}

const ROOT: readonly string[] = [];

type Chunk = BaseMessageChunk & { id?: string };

const isChunk = (message: unknown): message is Chunk =>
  isMessage(message) && typeof (message as { concat?: unknown }).concat === "function";

class MessageFrames {
  readonly #emit: (event: string, namespace: readonly string[], data: string) => void;
  /** Incomplete messages, by id. */
  readonly #growing = new Map<string, Chunk>();
  readonly #announced = new Set<string>();
  readonly #completed = new Set<string>();

  constructor(emit: (event: string, namespace: readonly string[], data: string) => void) {
    this.#emit = emit;
  }

  /** Process a chunk of a message, or a whole message that a node returned. */
  chunk(namespace: readonly string[], message: unknown, metadata: unknown): void {
    if (!isMessage(message) || typeof message.id !== "string") return;
    const { id } = message;
    if (!this.#announced.has(id)) {
      this.#announced.add(id);
      const announced = { [id]: { metadata: metadataToWire(metadata) } };
      this.#emit(MESSAGE_EVENTS.metadata, namespace, toJson(announced, "messages"));
    }
    if (isChunk(message)) this.#grow(namespace, id, message);
    else this.#complete(namespace, [message]);
  }

  #grow(namespace: readonly string[], id: string, chunk: Chunk): void {
    const before = this.#growing.get(id);
    const whole = before ? (before.concat(chunk) as Chunk) : chunk;
    this.#growing.set(id, whole);
    this.#emit(MESSAGE_EVENTS.partial, namespace, toJson([whole], "messages"));
  }

  /** Process the values after a superstep: their messages are complete. */
  values(values: unknown): void {
    const messages = isRecord(values) ? values.messages : values;
    if (Array.isArray(messages)) this.#complete(ROOT, messages);
  }

  #complete(namespace: readonly string[], messages: readonly unknown[]): void {
    const fresh = messages.filter((message) => {
      if (!isMessage(message) || typeof message.id !== "string" || this.#completed.has(message.id))
        return false;
      this.#completed.add(message.id);
      this.#growing.delete(message.id);
      return true;
    });
    if (fresh.length > 0) this.#emit(MESSAGE_EVENTS.complete, namespace, toJson(fresh, "messages"));
  }
}
