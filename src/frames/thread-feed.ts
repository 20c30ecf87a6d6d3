/**
 * The events of one thread, for clients of the newer protocol: a view of the logs of its runs, made while somebody looks.
 * What is told again, here or by another process, has the same ids and places.
 */
import {
  ProtocolEvents,
  type ProtocolRunEvent,
  type ProtocolRunInfo,
} from "../graphs/stream/protocol-events.js";
import type { JsonObject } from "../models/common.js";
import { type EventFilter, passes, type ProtocolFrame } from "../models/protocol.js";
import type { RunFrame } from "../models/run-stream.js";
import { msOfSequence, sequenceOfCheckpoint, sequenceOfEnd, sequenceOfStart } from "./event-sequence.js";
import type { FrameBudget } from "./frame-budget.js";
import { FrameLog, type LogReader } from "./run-log.js";

/** A run whose events come into the feed. */
export interface FedRun extends ProtocolRunInfo {
  created_at: string;
  /** When it ended, as its row has it; undefined until then. */
  endedAt: () => string | undefined;
}

/** A subgraph, or a task, as far as events have told of it. */
export interface TreeNode {
  namespace: readonly string[];
  status: string;
  graph_name: string;
  children?: TreeNode[];
}

/** Somebody who reads the events of a thread. */
export interface FeedReader extends LogReader<ProtocolFrame> {
  /** Events that are kept, whatever the reader asks for. */
  told(): readonly ProtocolFrame[];
}

const LAST = new Set(["completed", "failed", "interrupted"]);

export class ThreadFeed {
  readonly #log: FrameLog<ProtocolFrame>;
  /** Runs that have been fed, or are; none is fed twice. */
  readonly #runs = new Set<string>();
  /** The frames that feed it, of runs that go on. */
  readonly #sources = new Set<LogReader>();
  /** Settles when the run that feeds now has ended. */
  #turn: Promise<void> = Promise.resolve();
  #newestRun = "";
  #lastSeq = 0;
  #tree: { runId: string; nodes: Map<string, TreeNode> } | undefined;
  /** Ids of interrupts that nobody has answered. */
  readonly #open = new Set<string>();
  #readers = 0;
  readonly #onIdle: () => void;

  /**
   * @param onIdle called when the last reader has left
   * @param budget limits what it keeps; `letGo` is called while it has no readers, to free its memory
   */
  constructor(onIdle: () => void, budget?: FrameBudget, letGo?: () => void) {
    this.#onIdle = onIdle;
    this.#log = new FrameLog({ budget });
    this.#log.keep(letGo);
  }

  /** Place of the last event; 0 when none is known. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get readers(): number {
    return this.#readers;
  }

  /** When the newest run that it tells of was accepted; empty when it tells of none. */
  get newestRun(): string {
    return this.#newestRun;
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /**
   * Feed the frames of a run, from the first that is kept to its last. Runs follow each other in the order in which they
   * begin, whatever the order in which they were accepted.
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
      // Nothing is left for a run that is told whole; of one that cannot be told, what follows its frames goes.
      await batches.return?.();
    }
  }

  /** Everything that is kept and passes the filter, then what comes. The log's error for who is too slow is thrown. */
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
      told: () => this.#log.kept,
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

  /** End the streams of all readers, and take in no more: the thread is gone, or nobody reads it. */
  close(): void {
    this.#log.close();
    this.#log.keep(undefined);
    for (const frames of this.#sources) frames.leave();
  }

  /** What the last run, or the one named, consists of; undefined when it is not known. */
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

  /** Takes the frames of a run. */
  #feed(run: FedRun): (frame: RunFrame) => void {
    let frameId = 0;
    let at: number | undefined;
    let count = 0;
    // An answer that does not say what it is for is for all that is open.
    const facts = { ...run, answers: run.answers?.length === 0 ? [...this.#open] : run.answers };
    const events = new ProtocolEvents(facts, (event) => {
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

  /** Told again, an event is of the time at which it was told first: clients go by that. */
  #push(run: FedRun, event: ProtocolRunEvent, { name, at }: { name: string; at: number | undefined }): void {
    const { method, channel, namespace, node, data } = event;
    const place = placeOf(run, event);
    const seq = place !== undefined && place > this.#lastSeq ? place : this.#lastSeq + 1;
    this.#lastSeq = seq;
    this.#note(run, event);
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

  #note({ run_id }: FedRun, { method, namespace, data }: ProtocolRunEvent): void {
    const told = data as JsonObject;
    if (method === "input.requested") this.#open.add(String(told.interrupt_id));
    if (method === "input.answered") for (const id of told.interrupt_ids as string[]) this.#open.delete(id);
    if (method !== "lifecycle") return;
    if (this.#tree?.runId !== run_id) this.#tree = { runId: run_id, nodes: new Map() };
    const { event, graph_name } = told as { event: string; graph_name: string };
    this.#tree.nodes.set(namespace.join("|"), { namespace, status: event, graph_name });
  }
}

/** The place of what other processes can tell of too. */
function placeOf({ created_at, endedAt }: FedRun, event: ProtocolRunEvent) {
  const { method, namespace, data, checkpoint } = event;
  if (checkpoint && namespace.length === 0) {
    const place = sequenceOfCheckpoint(checkpoint);
    return place === undefined || method !== "values" ? place : place + 1;
  }
  if (method !== "lifecycle" || namespace.length > 0) return undefined;
  if ((data as { event: string }).event === "running") return sequenceOfStart(created_at);
  const at = isLast(event) ? endedAt() : undefined;
  return at === undefined ? undefined : sequenceOfEnd(at);
}

/** Whether it is the last event of its run. */
const isLast = ({ method, namespace, data }: ProtocolRunEvent): boolean =>
  method === "lifecycle" && namespace.length === 0 && LAST.has((data as { event: string }).event);

const isChild = (namespace: readonly string[], parent: readonly string[]): boolean =>
  namespace.length === parent.length + 1 && parent.every((segment, at) => namespace[at] === segment);
