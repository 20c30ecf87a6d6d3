/** View of a run built from its frames: growing messages, tool calls, nodes and the outcome. */
import { isRecord, type JsonObject } from "../../src/models/json.js";
import type { RunTasks } from "../../src/models/run.js";
import { isMessageLike } from "../../src/view/text.js";
import type { Frame, MessageLike } from "./frame.js";
import { grown } from "./growing.js";
import { drawnNamespace, type NodeState, RunProgress } from "./run-progress.js";

interface ToolState {
  state: "running" | "done" | "failed";
  /** What went wrong. */
  error?: string;
  /** Duration; undefined if the stream does not report it. */
  ms?: number;
}

/** A call of a tool: what goes in, and what is known of what came of it. */
export interface Call {
  id: string;
  name: string;
  args: unknown;
  state: ToolState | undefined;
  /** The message that answers it. */
  result: MessageLike | undefined;
}

/** A message as it is shown; the answers of tools stand with their calls. */
export interface Entry {
  id: string;
  message: MessageLike;
  calls: readonly Call[];
  /** Whether a model is still writing it. */
  isGrowing: boolean;
  /** The node that emitted it, if the message is not in the state. */
  within: string | undefined;
}

export interface RunEnd {
  status: string;
  tokens: number | undefined;
  error: string | undefined;
}

/** What can be seen of a run; what has not changed since the last picture is the same object. */
export interface Picture {
  entries: readonly Entry[];
  nodes: ReadonlyMap<string, NodeState>;
  ways: ReadonlySet<string>;
  /** The state of the graph, as far as the stream reported it. */
  values: unknown;
  /** What nodes wrote to the stream themselves, the last of it. */
  custom: readonly unknown[];
  /** The frames, the last of them. */
  frames: readonly Frame[];
  end: RunEnd | undefined;
  /** Counts checkpoints: more of them mean new steps. */
  checkpoints: number;
}

const MOST_FRAMES = 2000;
const MOST_CUSTOM = 200;
/** How many frames more than the ring holds may gather before it is cut. */
const SLACK = 500;

/** The state key with the conversation: `messages`, or the first key that holds messages. */
function conversationOf(values: unknown): MessageLike[] {
  if (!isRecord(values)) return [];
  const isConversation = (list: unknown): list is MessageLike[] =>
    Array.isArray(list) && list.length > 0 && list.every(isMessageLike);
  if (isConversation(values.messages)) return values.messages;
  return Object.values(values).find(isConversation) ?? [];
}

/** Takes frames and gives pictures. */
export class RunView {
  readonly #progress: RunProgress;
  readonly #growing = new Map<string, { message: MessageLike; within: string; after: string | undefined }>();
  #tools = new Map<string, ToolState>();
  #entries = new Map<string, Entry>();
  /** Messages that came again, by the object that they first were. */
  readonly #first = new WeakMap<MessageLike, MessageLike>();
  readonly #last = new Map<string, MessageLike>();
  #values: unknown;
  #custom: unknown[] = [];
  #frames: Frame[] = [];
  #end: RunEnd | undefined;
  #checkpoints = 0;

  /**
   * @param values of the thread as the run begins
   * @param drawn ids of the nodes of the graph's drawing
   * @param before what was shown of the thread: calls of earlier runs keep their times
   */
  constructor(values: unknown, drawn: ReadonlySet<string>, before?: RunView) {
    this.#values = values;
    this.#progress = new RunProgress(drawn);
    if (before) this.#tools = new Map(before.#tools);
  }

  take(frame: Frame): void {
    this.#frames.push(frame);
    if (this.#frames.length > MOST_FRAMES + SLACK) this.#frames = this.#frames.slice(-MOST_FRAMES);
    const [mode = "", ...namespace] = frame.event.split("|");
    const { data } = frame;
    switch (mode) {
      case "values":
        return this.#takeValues(namespace, data);
      case "messages":
        return this.#takeMessage(namespace, data);
      case "messages/partial":
      case "messages/complete":
        return this.#takeWhole(namespace, data);
      case "tasks":
        return this.#takeTask(namespace, data);
      case "checkpoints":
        return this.#takeCheckpoint(namespace, data);
      case "debug":
        return this.#takeDebug(namespace, data);
      case "updates":
        return this.#takeUpdates(namespace, data);
      case "tools":
        return this.#takeTool(data);
      case "custom":
        this.#custom = [...this.#custom.slice(1 - MOST_CUSTOM), data];
        return;
      case "end":
      case "error":
        return this.#finish(data);
    }
  }

  /** The state that the run left; with `forget`, what models said beside it counts no more. */
  settle(values: unknown, forget: boolean): void {
    this.#values = values;
    if (forget) this.#growing.clear();
  }

  picture(): Picture {
    return {
      entries: this.#picturedEntries(),
      nodes: new Map(this.#progress.nodes),
      ways: new Set(this.#progress.ways),
      values: this.#values,
      custom: this.#custom,
      frames: this.#frames.slice(-MOST_FRAMES),
      end: this.#end,
      checkpoints: this.#checkpoints,
    };
  }

  #takeValues(namespace: readonly string[], values: unknown): void {
    if (namespace.length > 0 || !isRecord(values)) return;
    const { __interrupt__: _asked, ...shown } = values;
    if (Object.keys(shown).length === 0) return;
    this.#values = shown;
    this.#checkpoints += 1;
  }

  #takeMessage(namespace: readonly string[], data: unknown): void {
    const [message, metadata] = Array.isArray(data) ? (data as unknown[]) : [];
    if (!isMessageLike(message) || typeof message.id !== "string") return;
    const node =
      isRecord(metadata) && typeof metadata.langgraph_node === "string" ? metadata.langgraph_node : "";
    const isChunk = "tool_call_chunks" in message;
    this.#grow(message.id, (before) => (isChunk ? grown(before, message) : message), namespace, node);
  }

  #takeWhole(namespace: readonly string[], data: unknown): void {
    for (const message of Array.isArray(data) ? (data as unknown[]) : [])
      if (isMessageLike(message) && typeof message.id === "string")
        this.#grow(message.id, () => message, namespace, "");
  }

  #grow(
    id: string,
    next: (before: MessageLike | undefined) => MessageLike,
    namespace: readonly string[],
    node: string,
  ): void {
    const before = this.#growing.get(id);
    const within = before?.within ?? (drawnNamespace(namespace) || node);
    const after = before ? before.after : this.#lastId();
    this.#growing.set(id, { message: next(before?.message), within, after });
  }

  #lastId(): string | undefined {
    const id = conversationOf(this.#values).at(-1)?.id;
    return typeof id === "string" ? id : undefined;
  }

  #takeDebug(namespace: readonly string[], data: unknown): void {
    const { type, payload } = isRecord(data) ? data : {};
    if (type === "task" || type === "task_result") this.#takeTask(namespace, payload);
    else if (type === "checkpoint") this.#takeState(namespace, payload);
  }

  /** A superstep has ended, and the tasks of the next one begin. */
  #takeCheckpoint(namespace: readonly string[], checkpoint: unknown): void {
    this.#takeState(namespace, checkpoint);
    const place = drawnNamespace(namespace);
    this.#progress.endAll(place);
    const tasks = isRecord(checkpoint) && Array.isArray(checkpoint.tasks) ? checkpoint.tasks : [];
    for (const { id, name } of tasks.filter(isRecord)) {
      // LangGraph's own first one says nothing to a reader.
      if (name === "__start__") continue;
      this.#progress.begin(place, String(id), String(name));
    }
  }

  #takeState(namespace: readonly string[], checkpoint: unknown): void {
    if (!isRecord(checkpoint)) return;
    this.#takeValues(namespace, checkpoint.values);
    if (namespace.length > 0) this.#checkpoints += 1;
  }

  #takeTask(namespace: readonly string[], task: unknown): void {
    if (!isRecord(task)) return;
    const [id, node, place] = [String(task.id), String(task.name), drawnNamespace(namespace)];
    if ("input" in task) {
      this.#progress.begin(place, id, node);
      return;
    }
    this.#progress.end(place, id, node, endOf(task));
  }

  #takeUpdates(namespace: readonly string[], updates: unknown): void {
    if (!isRecord(updates)) return;
    const place = drawnNamespace(namespace);
    for (const [node, update] of Object.entries(updates)) {
      if (!node.startsWith("__")) this.#progress.endOne(place, node);
      // Nothing is asked at a breakpoint.
      else if (node === "__interrupt__" && Array.isArray(update) && update.length > 0)
        this.#progress.wait(place);
    }
  }

  /** Calls with an answer of which it is not known how long they took. */
  untimedCalls(): Set<string> {
    const calls = [...this.#entries.values()].flatMap((entry) => entry.calls);
    return new Set(
      calls.filter(({ result, state }) => result && state?.ms === undefined).map(({ id }) => id),
    );
  }

  /** How long calls took, once that is known. */
  takeTimes({ tasks }: RunTasks): void {
    for (const { tool_call_id: call, state, started_at, ended_at } of tasks) {
      if (call === undefined || ended_at === null) continue;
      const tool = this.#tools.get(call) ?? { state: state === "failed" ? "failed" : "done" };
      // A call that interrupted is repeated by the run that brings the answer.
      if (tool.state === "running") continue;
      this.#tools.set(call, { ...tool, ms: Date.parse(ended_at) - Date.parse(started_at) });
    }
  }

  #takeTool(data: unknown): void {
    if (!isRecord(data) || typeof data.toolCallId !== "string") return;
    const { event, toolCallId: call, error } = data;
    if (event === "on_tool_start") this.#tools.set(call, { state: "running" });
    else if (event === "on_tool_end") this.#tools.set(call, { state: "done" });
    else if (event === "on_tool_error") this.#tools.set(call, { state: "failed", error: errorText(error) });
  }

  #finish(data: unknown): void {
    const { status, usage, message } = isRecord(data) ? data : {};
    const total = isRecord(usage) ? usage.total_tokens : undefined;
    const error = typeof message === "string" ? message : undefined;
    this.#end = {
      status: typeof status === "string" ? status : "error",
      tokens: typeof total === "number" ? total : undefined,
      error,
    };
    this.#progress.finish(this.#end.status);
    for (const [call, tool] of this.#tools)
      if (tool.state === "running") this.#tools.set(call, { state: "failed", error: this.#end.status });
  }

  /** The conversation, with model output outside of it inserted after the messages that existed when it began. */
  #picturedEntries(): Entry[] {
    const messages = conversationOf(this.#values);
    const ids = new Set(messages.map(({ id }) => id));
    const others = [...this.#growing].filter(([id]) => !ids.has(id));
    const isOver = this.#end !== undefined;
    const raw = messages.map((message, index): Omit<Entry, "calls"> => {
      const id = typeof message.id === "string" ? message.id : `at ${index}`;
      return { id, message, isGrowing: false, within: undefined };
    });
    for (const [id, { message, within, after }] of others) {
      const place = raw.findLastIndex((entry) => entry.id === after) + 1;
      const at = place === 0 || after === undefined ? raw.length : endOfOthers(raw, place, ids);
      raw.splice(at, 0, { id, message, isGrowing: !isOver, within: isOver ? within : undefined });
    }
    const { answers, answering } = answersOf(raw);
    const entries = raw
      .filter(({ message }) => !answering.has(message))
      .map((entry) => this.#entry({ ...entry, calls: this.#calls(entry.message, answers) }));
    this.#entries = new Map(entries.map((entry) => [entry.id, entry]));
    return entries;
  }

  #calls(message: MessageLike, answers: Answers): Call[] {
    return callsOf(message).map(({ id, name, args }) => {
      const key = String(id);
      const result = answers.get(message)?.get(key);
      return {
        id: key,
        name: String(name),
        args,
        state: this.#tools.get(key),
        result: result && this.#known(result),
      };
    });
  }

  /** The same entry as in the last picture where nothing is new. */
  #entry(entry: Entry): Entry {
    const before = this.#entries.get(entry.id);
    const message = this.#known(entry.message, before?.message);
    if (
      before?.message === message &&
      before.isGrowing === entry.isGrowing &&
      before.within === entry.within &&
      sameCalls(before.calls, entry.calls)
    )
      return before;
    return { ...entry, message };
  }

  /** Each frame brings a state with new objects; a message that has not changed is the one that was there before. */
  #known(message: MessageLike, before = this.#last.get(String(message.id))): MessageLike {
    const known = this.#first.get(message);
    if (known) return known;
    const isSame = before !== undefined && before.id === message.id && sameJson(before, message);
    const first = isSame ? before : message;
    this.#first.set(message, first);
    this.#last.set(String(message.id), first);
    return first;
  }
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const sameCalls = (one: readonly Call[], other: readonly Call[]): boolean =>
  one.length === other.length &&
  one.every((call, index) => {
    const { id, state, result, args } = other[index] as Call;
    return call.id === id && call.state === state && call.result === result && sameJson(call.args, args);
  });

/** Behind those that began at the same place before. */
function endOfOthers(entries: readonly { id: string }[], from: number, ids: ReadonlySet<unknown>): number {
  const next = entries.findIndex(({ id }, index) => index >= from && (ids.has(id) || id.startsWith("at ")));
  return next < 0 ? entries.length : next;
}

/** By the messages that call, and the ids of their calls. */
type Answers = ReadonlyMap<MessageLike, ReadonlyMap<string, MessageLike>>;

const callsOf = ({ tool_calls }: MessageLike): JsonObject[] =>
  Array.isArray(tool_calls) ? tool_calls.filter(isRecord) : [];

/** Answers of tools with the last message before them that calls what they answer. */
function answersOf(entries: readonly { message: MessageLike }[]) {
  const callers = new Map<string, MessageLike>();
  const answers = new Map<MessageLike, Map<string, MessageLike>>();
  const answering = new Set<MessageLike>();
  for (const { message } of entries) {
    for (const { id } of callsOf(message)) callers.set(String(id), message);
    const call = String(message.tool_call_id);
    const caller = message.type === "tool" ? callers.get(call) : undefined;
    if (!caller) continue;
    answers.set(caller, new Map([...(answers.get(caller) ?? []), [call, message]]));
    answering.add(message);
  }
  return { answers, answering };
}

function endOf({ error, interrupts }: JsonObject): Exclude<NodeState, "running"> {
  if (error != null) return "failed";
  return Array.isArray(interrupts) && interrupts.length > 0 ? "waits" : "done";
}

function errorText(error: unknown): string {
  if (typeof error === "string") return error;
  if (isRecord(error) && typeof error.message === "string") return error.message;
  return JSON.stringify(error) ?? "";
}
