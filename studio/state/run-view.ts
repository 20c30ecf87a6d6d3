/** View of a run built from its frames: growing messages, tool calls, nodes and the outcome. */
import { isMessageLike, isRecord, type JsonObject } from "../../src/models/json.js";
import type { RunTasks } from "../../src/models/run.js";
import type { Frame, MessageLike } from "./frame.js";
import { grown } from "./growing.js";
import { drawnNamespace, type NodeState, RunProgress } from "./run-progress.js";

interface ToolState {
  state: "running" | "done" | "failed";
  error?: string;
  /** Duration; undefined if the stream does not report it. */
  ms?: number;
}

/** A tool call with its progress and result. */
export interface Call {
  id: string;
  name: string;
  args: unknown;
  state: ToolState | undefined;
  /** The tool message with the result. */
  result: MessageLike | undefined;
}

/** A displayed message. Tool messages are attached to their calls. */
export interface Entry {
  id: string;
  message: MessageLike;
  calls: readonly Call[];
  /** True while a model is still writing it. */
  isGrowing: boolean;
  /** True if the run ended while a model was writing it. */
  isCutOff: boolean;
  /** The node that emitted it, if the message is not in the state. */
  within: string | undefined;
}

export interface RunEnd {
  status: string;
  tokens: number | undefined;
  error: string | undefined;
}

/** Snapshot of a run. Unchanged parts keep their object identity. */
export interface Picture {
  entries: readonly Entry[];
  nodes: ReadonlyMap<string, NodeState>;
  ways: ReadonlySet<string>;
  /** The state of the graph, as far as the stream reported it. */
  values: unknown;
  /** Latest custom events of nodes. */
  custom: readonly unknown[];
  /** Latest frames. */
  frames: readonly Frame[];
  end: RunEnd | undefined;
  /** Counts checkpoints: an increase means new steps. */
  checkpoints: number;
}

const MOST_FRAMES = 2000;
const MOST_CUSTOM = 200;
/** Frames above `MOST_FRAMES` that may accumulate before the list is trimmed. */
const SLACK = 500;

/** The state key with the conversation: `messages`, or the first key that holds messages. */
function conversationOf(values: unknown): MessageLike[] {
  if (!isRecord(values)) return [];
  const isConversation = (list: unknown): list is MessageLike[] =>
    Array.isArray(list) && list.length > 0 && list.every(isMessageLike);
  if (isConversation(values.messages)) return values.messages;
  return Object.values(values).find(isConversation) ?? [];
}

/** Accumulates frames and creates snapshots. */
export class RunView {
  readonly #progress: RunProgress;
  readonly #growing = new Map<string, { message: MessageLike; within: string; after: string | undefined }>();
  #tools = new Map<string, ToolState>();
  #entries = new Map<string, Entry>();
  /** Maps repeated messages to the object that was received first. */
  readonly #first = new WeakMap<MessageLike, MessageLike>();
  readonly #last = new Map<string, MessageLike>();
  #values: unknown;
  #custom: unknown[] = [];
  #frames: Frame[] = [];
  #end: RunEnd | undefined;
  /** Ids of the messages that models were writing when the run ended. */
  #cutOff: ReadonlySet<string> = new Set();
  /** The same of earlier runs of the thread. */
  readonly #cutOffBefore: ReadonlySet<string> = new Set();
  #checkpoints = 0;

  /**
   * @param values values of the thread before the run
   * @param drawn node ids of the graph's drawing
   * @param before previous view of the thread, which supplies the durations of earlier tool calls, and the
   *   messages that earlier runs left unfinished
   */
  constructor(values: unknown, drawn: ReadonlySet<string>, before?: RunView) {
    this.#values = values;
    this.#progress = new RunProgress(drawn);
    if (!before) return;
    this.#tools = new Map(before.#tools);
    this.#cutOffBefore = new Set([...before.#cutOffBefore, ...before.#cutOff]);
    for (const id of this.#cutOffBefore) {
      const message = before.#growing.get(id);
      if (message) this.#growing.set(id, message);
    }
  }

  take(frame: Frame): void {
    this.#frames.push(frame);
    if (this.#frames.length > MOST_FRAMES + SLACK) this.#frames = this.#frames.slice(-MOST_FRAMES);
    const [mode = "", ...namespace] = frame.event.split("|");
    const { data } = frame;
    switch (mode) {
      case "metadata":
        return this.#takeAttempt(data);
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

  /** Set the final state after a run; `forget` also removes model output that is not in the state. */
  settle(values: unknown, forget: boolean): void {
    this.#values = values;
    if (!forget) return;
    for (const id of this.#growing.keys()) if (!this.#cutOffBefore.has(id)) this.#growing.delete(id);
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

  /** A process that resumes the run of another one retries the tasks that had not ended: models write again. */
  #takeAttempt(metadata: unknown): void {
    if (!isRecord(metadata) || typeof metadata.attempt !== "number" || metadata.attempt < 2) return;
    for (const [id, { within }] of this.#growing)
      if (this.#isRunning(within) && !this.#cutOffBefore.has(id)) this.#growing.delete(id);
    for (const [call, { state }] of this.#tools) if (state === "running") this.#tools.delete(call);
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

  /** Ends the superstep and begins the tasks of the next one. */
  #takeCheckpoint(namespace: readonly string[], checkpoint: unknown): void {
    this.#takeState(namespace, checkpoint);
    const place = drawnNamespace(namespace);
    this.#progress.endAll(place);
    const tasks = isRecord(checkpoint) && Array.isArray(checkpoint.tasks) ? checkpoint.tasks : [];
    for (const { id, name } of tasks.filter(isRecord)) {
      // Skip LangGraph's internal first node.
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
      // An empty list means a breakpoint, not a question.
      else if (node === "__interrupt__" && Array.isArray(update) && update.length > 0)
        this.#progress.wait(place);
    }
  }

  /** Finished tool calls without a known duration. */
  untimedCalls(): Set<string> {
    const calls = [...this.#entries.values()].flatMap((entry) => entry.calls);
    return new Set(
      calls.filter(({ result, state }) => result && state?.ms === undefined).map(({ id }) => id),
    );
  }

  /** Set the durations of tool calls. */
  takeTimes({ tasks }: RunTasks): void {
    for (const { tool_call_id: call, state, started_at, ended_at } of tasks) {
      if (call === undefined || ended_at === null) continue;
      const tool = this.#tools.get(call) ?? { state: state === "failed" ? "failed" : "done" };
      // A call that interrupted is repeated by the run that resumes it.
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
    if (this.#end.status !== "success") this.#cutOff = this.#unfinished();
    this.#progress.finish(this.#end.status);
    for (const [call, tool] of this.#tools)
      if (tool.state === "running") this.#tools.set(call, { state: "failed", error: this.#end.status });
  }

  /** The last message of each node that is still running. */
  #unfinished(): Set<string> {
    const last = new Map<string, string>();
    for (const [id, { within }] of this.#growing) if (this.#isRunning(within)) last.set(within, id);
    return new Set(last.values());
  }

  #isRunning(node: string): boolean {
    return this.#progress.nodes.get(node) === "running";
  }

  /**
   * The conversation, with model output outside of it inserted after the messages that existed when it began.
   */
  #picturedEntries(): Entry[] {
    const messages = conversationOf(this.#values);
    const ids = new Set(messages.map(({ id }) => id));
    const others = [...this.#growing].filter(([id]) => !ids.has(id));
    const isOver = this.#end !== undefined;
    const raw = messages.map((message, index): Omit<Entry, "calls"> => {
      const id = typeof message.id === "string" ? message.id : `at ${index}`;
      return { id, message, isGrowing: false, isCutOff: false, within: undefined };
    });
    for (const [id, { message, within, after }] of others) {
      const place = raw.findLastIndex((entry) => entry.id === after) + 1;
      const at = place === 0 || after === undefined ? raw.length : endOfOthers(raw, place, ids);
      const isCutOff = this.#cutOff.has(id) || this.#cutOffBefore.has(id);
      const isGrowing = !isOver && !isCutOff;
      const isAside = isOver && !isCutOff;
      raw.splice(at, 0, { id, message, isGrowing, isCutOff, within: isAside ? within : undefined });
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

  /** Returns the previous entry if it is unchanged. */
  #entry(entry: Entry): Entry {
    const before = this.#entries.get(entry.id);
    const message = this.#known(entry.message, before?.message);
    if (
      before?.message === message &&
      before.isGrowing === entry.isGrowing &&
      before.isCutOff === entry.isCutOff &&
      before.within === entry.within &&
      sameCalls(before.calls, entry.calls)
    )
      return before;
    return { ...entry, message };
  }

  /** Each frame contains new objects: returns the previous object of an unchanged message. */
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

/** Index after the entries that were inserted earlier at the same position. */
function endOfOthers(entries: readonly { id: string }[], from: number, ids: ReadonlySet<unknown>): number {
  const next = entries.findIndex(({ id }, index) => index >= from && (ids.has(id) || id.startsWith("at ")));
  return next < 0 ? entries.length : next;
}

/** Tool messages, by the calling message and call id. */
type Answers = ReadonlyMap<MessageLike, ReadonlyMap<string, MessageLike>>;

const callsOf = ({ tool_calls }: MessageLike): JsonObject[] =>
  Array.isArray(tool_calls) ? tool_calls.filter(isRecord) : [];

/** Assigns tool messages to the last preceding message with a matching call. */
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
