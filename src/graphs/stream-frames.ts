/** LangGraph's stream chunks -> the events of a run's stream, as JSON text (stream modes of the spec). */
import { isRecord, type JsonObject } from "../models/common.js";
import type { StreamMode } from "../models/run.js";
import { MessageFrames, type EventSink } from "./message-frames.js";
import { INTERRUPT_KEY, type OutputFilter } from "./output-filter.js";
import { messageTupleJson, toJson } from "./serialize.js";
import { checkpointOf } from "./snapshot.js";

/**
 * The modes to ask LangGraph for. `values` is always among them: its last chunk is the run's answer and tells an
 * interrupt, whether or not the client wants to see it.
 */
export function frameworkModes(modes: readonly StreamMode[]): string[] {
  const framework = new Set<string>(["values"]);
  for (const mode of modes) {
    if (mode === "messages-tuple") framework.add("messages");
    else if (mode !== "events") framework.add(mode);
  }
  return [...framework];
}

type Payload = JsonObject;

/** A task as the `tasks`, `checkpoints` and `debug` modes show it: input, result and state pass the filter. */
function filterTask(task: unknown, filter: OutputFilter): unknown {
  if (!isRecord(task)) return null;
  const shown = { ...task };
  if ("input" in shown) shown.input = filter.values(shown.input);
  if ("result" in shown && shown.result != null) shown.result = filter.values(shown.result);
  if (isRecord(shown.state) && "values" in shown.state) shown.state = filterCheckpoint(shown.state, filter);
  return shown;
}

function filterCheckpoint(checkpoint: Payload, filter: OutputFilter): Payload {
  const shown = { ...checkpoint };
  if ("values" in shown) shown.values = filter.values(shown.values);
  if (Array.isArray(shown.tasks)) shown.tasks = shown.tasks.map((task) => filterTask(task, filter));
  return shown;
}

/** A config as clients may see it: the checkpoint it names; the rest is the server's own. */
const publicConfig = (config: unknown) => {
  const checkpoint = checkpointOf(isRecord(config) ? config : undefined);
  return checkpoint && { configurable: checkpoint };
};

function checkpointPayload(payload: unknown, filter: OutputFilter): unknown {
  if (!isRecord(payload)) return null;
  const { config, parentConfig, ...rest } = filterCheckpoint(payload, filter);
  return {
    ...rest,
    config: publicConfig(config),
    parent_config: publicConfig(parentConfig),
    checkpoint: checkpointOf(isRecord(config) ? config : undefined),
    parent_checkpoint: checkpointOf(isRecord(parentConfig) ? parentConfig : undefined),
  };
}

function debugPayload(event: unknown, filter: OutputFilter): unknown {
  if (!isRecord(event)) return null;
  const { type, payload } = event;
  return {
    ...event,
    payload: type === "checkpoint" ? checkpointPayload(payload, filter) : filterTask(payload, filter),
  };
}

/** Through `streamEvents`, LangGraph adds bare checkpoint ids of its own to the stream: nobody asked for those. */
const isEnvelope = (mode: string, payload: unknown) =>
  mode === "checkpoints" && isRecord(payload) && !("values" in payload);

const hasInterrupt = (payload: unknown): payload is JsonObject =>
  isRecord(payload) && INTERRUPT_KEY in payload;

/** Turns the chunks of one run into events and keeps what the run's end needs to know. */
export class StreamFrames {
  /** Unfiltered values after the last superstep. */
  lastValues: unknown = undefined;
  /** What the graph waits for, once it stopped; empty at a breakpoint. */
  interrupts: unknown[] | undefined;
  /** True once a mode event went out: from then on nothing may be tried again (spec, Stream modes 7). */
  emitted = false;

  readonly #modes: ReadonlySet<StreamMode>;
  readonly #filter: OutputFilter;
  readonly #sink: EventSink;
  readonly #messages: MessageFrames | undefined;

  constructor(modes: readonly StreamMode[], filter: OutputFilter, sink: EventSink) {
    this.#modes = new Set(modes);
    this.#filter = filter;
    this.#sink = sink;
    if (this.#modes.has("messages"))
      this.#messages = new MessageFrames((event, data) => this.#emit(event, data));
  }

  /** Take one chunk: `namespace` is empty for the root graph. */
  take(namespace: readonly string[], mode: string, payload: unknown): void {
    const suffix = namespace.length > 0 ? `|${namespace.join("|")}` : "";
    if (mode === "values") return this.#takeValues(suffix, payload);
    if (mode === "messages") return this.#takeMessage(suffix, payload);
    if (!this.#modes.has(mode as StreamMode) || isEnvelope(mode, payload)) return;
    this.#emit(mode + suffix, toJson(this.#shown(mode, payload)));
  }

  /** Take one event of the `events` mode. */
  takeEvent(event: unknown): void {
    if (this.#modes.has("events")) this.#emit("events", toJson(event));
  }

  #emit(event: string, data: string): void {
    this.emitted = true;
    this.#sink(event, data);
  }

  #shown(mode: string, payload: unknown): unknown {
    switch (mode) {
      case "updates":
        return this.#filter.updates(payload);
      case "tasks":
        return filterTask(payload, this.#filter);
      case "checkpoints":
        return checkpointPayload(payload, this.#filter);
      case "debug":
        return debugPayload(payload, this.#filter);
      default:
        return payload;
    }
  }

  #takeValues(suffix: string, payload: unknown): void {
    if (suffix === "") {
      if (hasInterrupt(payload)) this.interrupts = [payload[INTERRUPT_KEY]].flat();
      else this.lastValues = payload;
    }
    const shown = this.#modes.has("values") || this.#messages ? this.#filter.values(payload) : undefined;
    if (suffix === "") this.#messages?.values(shown);
    if (this.#modes.has("values")) this.#emit(`values${suffix}`, toJson(shown));
  }

  #takeMessage(suffix: string, payload: unknown): void {
    if (!Array.isArray(payload)) return;
    const [message, metadata] = payload as unknown[];
    if (this.#modes.has("messages-tuple"))
      this.#emit(`messages${suffix}`, messageTupleJson(message, metadata));
    this.#messages?.chunk(suffix, message, metadata);
  }
}
