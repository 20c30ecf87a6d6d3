import { SENDS } from "./channels.js";
import { isRecord, type JsonObject } from "./json.js";
import type { Run } from "./run.js";
import type { ThreadState } from "./state.js";
import type { Thread } from "./thread.js";

export const THREAD_FILE_FORMAT = "graph-serve/thread";
export const THREAD_FILE_VERSION = 1;

/** A thread exported to one file, as visible to clients, with all its checkpoints. */
export interface ThreadFile {
  format: typeof THREAD_FILE_FORMAT;
  version: typeof THREAD_FILE_VERSION;
  thread: Thread;
  /** Newest first. */
  runs: Run[];
  /** States of the root graph, oldest first. */
  states: ThreadState[];
  /** States of the subgraphs, grouped by namespace, oldest first. */
  subgraphs: ThreadState[];
  /** Stored checkpoints, grouped by namespace, oldest first; a server does not expose them. */
  checkpoints?: StoredCheckpoint[];
}

/**
 * A checkpoint with everything LangGraph needs to resume, in the JSON form of LangGraph's
 * serializer, without state that the graph's output schema hides.
 */
export interface StoredCheckpoint {
  checkpoint_ns: string;
  checkpoint_id: string;
  parent_checkpoint_id: string | null;
  /** Version of LangGraph's checkpoint format. */
  v: number;
  /** ISO 8601. */
  ts: string;
  metadata: JsonObject;
  channel_values: JsonObject;
  channel_versions: Record<string, string | number>;
  versions_seen: Record<string, Record<string, string | number>>;
  /** Task id, channel, value. */
  writes: [string, string, unknown][];
}

/** Maps the arguments of node calls; accepts one call or a list. */
export function mapSends(sends: unknown, map: (args: unknown, node: string) => unknown): unknown {
  if (Array.isArray(sends)) return sends.map((send) => mapSends(send, map));
  return isRecord(sends) && "args" in sends ? { ...sends, args: map(sends.args, String(sends.node)) } : sends;
}

/** Reason why content is not a valid thread file; undefined if it is valid. */
export function threadFileFault(content: unknown): string | undefined {
  if (!isRecord(content) || content.format !== THREAD_FILE_FORMAT) return "it is not an exported thread";
  if (content.version !== THREAD_FILE_VERSION)
    return `it has version ${String(content.version)}, supported is ${THREAD_FILE_VERSION}`;
  const { thread, runs, states, subgraphs = [], checkpoints = [] } = content;
  if (!isRecord(thread) || typeof thread.thread_id !== "string") return "its thread is missing";
  if (!Array.isArray(runs) || !runs.every((run) => isRecord(run) && typeof run.run_id === "string"))
    return "its runs cannot be read";
  if (!Array.isArray(states) || !states.every(isState)) return "its states cannot be read";
  if (!Array.isArray(subgraphs) || !subgraphs.every(isState)) return "its states of subgraphs cannot be read";
  if (!Array.isArray(checkpoints) || !checkpoints.every(isStored)) return "its checkpoints cannot be read";
  return sendFault(checkpoints as StoredCheckpoint[]);
}

/**
 * LangGraph looks up nodes in a plain object. A name inherited from Object would be found and fail
 * on every read.
 */
function sendFault(checkpoints: readonly StoredCheckpoint[]): string | undefined {
  for (const { checkpoint_id, channel_values, writes } of checkpoints) {
    const sent = writes.flatMap(([, channel, value]) => (channel === SENDS ? [value] : []));
    let fault: string | undefined;
    mapSends([channel_values[SENDS], ...sent], (args, node) => {
      if (node in Object.prototype)
        fault = `checkpoint ${checkpoint_id} calls a node "${node}", which is not a valid node name`;
      return args;
    });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isState(state: unknown): boolean {
  return (
    isRecord(state) &&
    isRecord(state.checkpoint) &&
    typeof state.checkpoint.checkpoint_id === "string" &&
    Array.isArray(state.next) &&
    Array.isArray(state.tasks) &&
    isRecord(state.metadata)
  );
}

function isStored(stored: unknown): boolean {
  if (!isRecord(stored)) return false;
  const { checkpoint_ns, checkpoint_id, v, ts, metadata, channel_values, writes } = stored;
  return (
    typeof checkpoint_ns === "string" &&
    typeof checkpoint_id === "string" &&
    typeof v === "number" &&
    typeof ts === "string" &&
    isRecord(metadata) &&
    isRecord(channel_values) &&
    isVersions(stored.channel_versions) &&
    isRecord(stored.versions_seen) &&
    Object.values(stored.versions_seen).every(isVersions) &&
    Array.isArray(writes) &&
    writes.every(isWrite)
  );
}

const isVersions = (versions: unknown): boolean =>
  isRecord(versions) &&
  Object.values(versions).every((version) => typeof version === "number" || typeof version === "string");

const isWrite = (write: unknown): boolean =>
  Array.isArray(write) && write.length === 3 && typeof write[0] === "string" && typeof write[1] === "string";
