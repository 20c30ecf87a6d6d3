/**
 * The events of one thread for clients of the event protocol, derived from the logs of its runs while there are readers.
 * An event that is derived again, by this or another process, has the same id and sequence number.
 */
import {
  ProtocolEvents,
  type ProtocolRunEvent,
  type ProtocolRunInfo,
} from "../graphs/stream/protocol-events.js";
import type { JsonObject } from "../models/common.js";
import { type EventFilter, passes, type ProtocolFrame } from "../models/protocol.js";
import type { RunFrame } from "../models/run-stream.js";
import type { FrameBudget } from "./frame-budget.js";
import { FrameLog, type LogReader } from "./run-log.js";
import { msOfSequence, sequenceOfStart, sequenceOfEnd, sequenceOfCheckpoint } from "./event-sequence.js";

/** A run that feeds events. */
export interface FedRun extends ProtocolRunInfo {
  created_at: string;
  /** End time from its row; undefined until the run has ended. */
  endedAt: () => string | undefined;
}

/** State of a subgraph or task, as far as its events are known. */
export interface TreeNode {
  namespace: readonly string[];
  status: string;
  graph_name: string;
  children?: TreeNode[];
}

export interface FeedReader extends LogReader<ProtocolFrame> {
  /** All retained events, without the reader's filter. */
  retained(): readonly ProtocolFrame[];
}

const FINAL_EVENTS = new Set(["completed", "failed", "interrupted"]);

export class ThreadFeed {
  readonly #log: FrameLog<ProtocolFrame>;
  /** Ids of runs that feed or have fed events; each run is fed once. */
  readonly #runs = new Set<string>();
  /** Frames of the runs that feed events now. */
  readonly #sources = new Set<LogReader>();
  /** Settles when the current run has been fed completely. */
  #turn: Promise<void> = Promise.resolve();
  #newestRun = "";
  #lastSeq = 0;
  #tree: { runId: string; nodes: Map<string, TreeNode> } | undefined;
  /** Ids of unanswered interrupts. */
  readonly #openInterrupts = new Set<string>();
  #readers = 0;
  readonly #onIdle: () => void;

  /**
   * @param onIdle called when the last reader has left
   * @param budget memory limit of the retained events
   * @param onEvict called to free the memory of a feed without readers
   */
  constructor(onIdle: () => void, budget?: FrameBudget, onEvict?: () => void) {
    this.#onIdle = onIdle;
    this.#log = new FrameLog({ budget });
    this.#log.keep(onEvict);
  }

  /** Sequence number of the last event; 0 if there is no event. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get readers(): number {
    return this.#readers;
  }

  /** Creation time of the newest fed run; empty if there is none. */
  get newestRun(): string {
    return this.#newestRun;
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /**
   * Feeds the frames of a run, from the first retained one to the last. Runs are fed one after the other, in the order in
   * which they start rather than the order in which they were accepted.
   */
  async follow(run: FedRun, frames: LogReader): Promise<void> {
    if (this.#runs.has(run.run_id)) return frames.leave();
    this.#runs.add(run.run_id);
    if (run.created_at > this.#newestRun) this.#newestRun = run.created_at;
    this.#sources.add(frames);
    const batches = frames[Symbol.asyncIterator]();
    let next = await batches.next();
    const before = this.#turn;
    let end = () => {};
    this.#turn = new Promise((resolve) => (end = resolve));
    await before;
    try {
      const fed = this.#feed(run);
      for (; !next.done; next = await batches.next()) for (const frame of next.value) fed(frame);
    } finally {
      end();
      this.#sources.delete(frames);
      // After an error, the remaining frames are not read.
      await batches.return?.();
    }
  }

  /** Reads all retained and new events that pass the filter. Throws FramesLostError if the reader is too slow. */
  read(filter: EventFilter): FeedReader {
    const reader = this.#log.read(this.#log.first - 1);
    this.#readers += 1;
    let isHere = true;
    const leave = () => {
      if (!isHere) return;
      isHere = false;
      reader.leave();
      this.#readers -= 1;
      if (this.#readers === 0) this.#onIdle();
    };
    return {
      retained: () => this.#log.kept,
      leave,
      async *[Symbol.asyncIterator]() {
        try {
          for await (const batch of reader) {
            const shown = batch.filter((frame) => passes(filter, frame));
            if (shown.length > 0) yield shown;
          }
        } finally {
          leave();
        }
      },
    };
  }

  /** Ends all readers and stops feeding: the thread was deleted, or has no readers. */
  close(): void {
    this.#log.close();
    this.#log.keep(undefined);
    for (const frames of this.#sources) frames.leave();
  }

  /** The subgraphs and tasks of the last run; undefined if unknown, or if `runId` is another run. */
  tree(runId?: string): TreeNode | undefined {
    if (!this.#tree || (runId !== undefined && runId !== this.#tree.runId)) return undefined;
    const { nodes } = this.#tree;
    const nested = (node: TreeNode): TreeNode => {
      const children = [...nodes.values()].filter(({ namespace }) => isChild(namespace, node.namespace));
      return { ...node, ...(children.length > 0 && { children: children.map(nested) }) };
    };
    const root = nodes.get("");
    return root && nested(root);
  }

  /** Returns a function that converts each frame of a run to events. */
  #feed(run: FedRun): (frame: RunFrame) => void {
    let frameId = 0;
    let at: number | undefined;
    let count = 0;
    // An answer without interrupt ids applies to all open interrupts.
    const info = { ...run, answers: run.answers?.length === 0 ? [...this.#openInterrupts] : run.answers };
    const events = new ProtocolEvents(info, (event) => {
      this.#push(run, event, { name: event.key ?? `${frameId}.${count++}`, at });
    });
    let isFirst = true;
    return (frame) => {
      ({ id: frameId, at } = frame);
      count = 0;
      if (isFirst && frame.id > 0) events.begin();
      isFirst = false;
      events.take(frame);
    };
  }

  /** A replayed event keeps its original timestamp, because clients order by it. */
  #push(run: FedRun, event: ProtocolRunEvent, { name, at }: { name: string; at: number | undefined }): void {
    const { method, channel, namespace, node, data } = event;
    const sequence = sequenceOf(run, event);
    const seq = sequence !== undefined && sequence > this.#lastSeq ? sequence : this.#lastSeq + 1;
    this.#lastSeq = seq;
    this.#trackState(run, event);
    const id = name.startsWith("synth:") ? name : `${run.run_id}:${name}`;
    const params = {
      namespace,
      timestamp: at ?? msOfSequence(seq),
      ...(node !== undefined && { node }),
      data,
    };
    const envelope = { type: "event", event_id: id, seq, method, params };
    const endsRun = isLast(event);
    this.#log.append({ id, event: method, data: JSON.stringify(envelope), seq, channel, namespace, endsRun });
  }

  #trackState({ run_id }: FedRun, { method, namespace, data }: ProtocolRunEvent): void {
    const payload = data as JsonObject;
    if (method === "input.requested") this.#openInterrupts.add(String(payload.interrupt_id));
    if (method === "input.answered")
      for (const id of payload.interrupt_ids as string[]) this.#openInterrupts.delete(id);
    if (method !== "lifecycle") return;
    if (this.#tree?.runId !== run_id) this.#tree = { runId: run_id, nodes: new Map() };
    const { event, graph_name } = payload as { event: string; graph_name: string };
    this.#tree.nodes.set(namespace.join("|"), { namespace, status: event, graph_name });
  }
}

/** Sequence number of an event that other processes can derive too; undefined for other events. */
function sequenceOf({ created_at, endedAt }: FedRun, event: ProtocolRunEvent) {
  const { method, namespace, data, checkpoint } = event;
  if (checkpoint && namespace.length === 0) {
    const sequence = sequenceOfCheckpoint(checkpoint);
    return sequence === undefined || method !== "values" ? sequence : sequence + 1;
  }
  if (method !== "lifecycle" || namespace.length > 0) return undefined;
  if ((data as { event: string }).event === "running") return sequenceOfStart(created_at);
  const at = isLast(event) ? endedAt() : undefined;
  return at === undefined ? undefined : sequenceOfEnd(at);
}

/** Whether this is the last event of its run. */
const isLast = ({ method, namespace, data }: ProtocolRunEvent): boolean =>
  method === "lifecycle" && namespace.length === 0 && FINAL_EVENTS.has((data as { event: string }).event);

const isChild = (namespace: readonly string[], parent: readonly string[]): boolean =>
  namespace.length === parent.length + 1 && parent.every((segment, at) => namespace[at] === segment);
