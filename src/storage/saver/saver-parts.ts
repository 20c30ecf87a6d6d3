/** Building blocks shared by all savers: checkpoint references, write numbers, serializers. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  maxChannelVersion,
  MemorySaver,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { isStateChannel } from "../../models/channels.js";
import { GraphServeError } from "../../support/errors.js";
import type { RunHolder } from "../contract/runs.js";
import {
  reasonOf,
  type Unserializable,
  findUnserializable,
  MAX_SERIALIZABLE_DEPTH,
  UnserializableError,
} from "../../support/unserializable.js";

/** Metadata key that only the server writes; hidden from clients. */
export const ORIGIN_KEY = "graph_serve";

export interface NamespaceRef {
  thread_id: string;
  /** Empty for the root graph. */
  checkpoint_ns: string;
}

export interface CheckpointRef extends NamespaceRef {
  checkpoint_id: string | undefined;
}

/**
 * The thread, namespace and checkpoint that a config names. Values that are not strings are ignored: a database might
 * interpret an object from a client as an operator.
 * @throws Error if the config has no thread id
 */
export function checkpointRef({ configurable = {} }: RunnableConfig): CheckpointRef {
  const { thread_id, checkpoint_ns, checkpoint_id } = configurable as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  const thread = text(thread_id);
  if (thread === undefined) throw new Error("configurable.thread_id is needed to reach a checkpoint");
  return { thread_id: thread, checkpoint_ns: text(checkpoint_ns) ?? "", checkpoint_id: text(checkpoint_id) };
}

/**
 * Like `checkpointRef`, but requires a checkpoint id.
 * @throws Error if the config has no thread id or no checkpoint id
 */
export function requiredCheckpointRef(config: RunnableConfig): NamespaceRef & { checkpoint_id: string } {
  const { checkpoint_id, ...place } = checkpointRef(config);
  if (checkpoint_id === undefined) throw new Error("configurable.checkpoint_id is needed to store writes");
  return { ...place, checkpoint_id };
}

export const configOf = ({ thread_id, checkpoint_ns }: NamespaceRef, checkpoint_id: string) => ({
  configurable: { thread_id, checkpoint_ns, checkpoint_id },
});

/** Lease owners of the runs that this process executes, by run id. */
export type HeldRuns = Map<string, RunHolder>;

/** A run whose row must name this lease owner and attempt for a write to be accepted. */
export interface HeldRun extends RunHolder {
  run_id: string;
}

/** The run that writes under this config; undefined if it is not in `held`, or for a write outside of runs. */
export function heldRun(held: HeldRuns, { configurable }: RunnableConfig): HeldRun | undefined {
  const run_id: unknown = configurable?.run_id;
  const holder = typeof run_id === "string" ? held.get(run_id) : undefined;
  return holder && { run_id: run_id as string, ...holder };
}

type PendingWrites = NonNullable<CheckpointTuple["pendingWrites"]>;

interface TupleParts {
  id: string;
  /** Id of the parent checkpoint; empty or null if there is none. */
  parent: string | null;
  checkpoint: Checkpoint;
  metadata: unknown;
  pendingWrites: PendingWrites;
}

/**
 * Versions of the values to store with a checkpoint. LangGraph names no new versions for a fork, whose parent is that of the
 * forked checkpoint and lacks the values of its last step.
 */
export const storedVersions = (
  { channel_versions }: Checkpoint,
  { source }: CheckpointMetadata,
  newVersions: ChannelVersions,
): ChannelVersions => (source === "fork" ? channel_versions : newVersions);

/** Assembles a LangGraph CheckpointTuple. */
export const tupleOf = (place: NamespaceRef, { id, parent, ...parts }: TupleParts): CheckpointTuple => ({
  config: configOf(place, id),
  checkpoint: parts.checkpoint,
  metadata: parts.metadata as CheckpointMetadata | undefined,
  parentConfig: parent ? configOf(place, parent) : undefined,
  pendingWrites: parts.pendingWrites,
});

/** Which values a reader of checkpoints needs; a saver may return more. */
export interface NeededChannels {
  /** LangGraph's own channels, which determine the next tasks. */
  own: boolean;
  /** Writes of the tasks after a checkpoint. Interrupts and errors are always included. */
  results: boolean;
  /** State keys. */
  keys: readonly string[];
}

export const NO_CHANNELS: NeededChannels = { own: false, results: false, keys: [] };
export const ONLY_RESULTS: NeededChannels = { ...NO_CHANNELS, results: true };

/** Read options, passed to the saver through LangGraph inside the config. */
export interface Reading {
  channels?: NeededChannels;
  /** Called with each checkpoint as it is stored, before LangGraph builds a state from it. */
  onRead?: (tuple: CheckpointTuple) => void;
}

const READING = "__graph_serve_reading";

export const withReading = (configurable: Record<string, unknown>, reading: Reading) => ({
  ...configurable,
  [READING]: reading,
});

export const readingOf = ({ configurable }: RunnableConfig): Reading =>
  (configurable?.[READING] as Reading | undefined) ?? {};

export function isNeeded(channel: string, needed: NeededChannels | undefined): boolean {
  if (!needed) return true;
  return needed.keys.includes(channel) || (needed.own && !isStateChannel(channel));
}

/** LangGraph's task id for writes without a task: those of a command, which are part of the state. */
const NO_TASK = "00000000-0000-0000-0000-000000000000";

export const isWriteNeeded = (taskId: string, channel: string, needed: NeededChannels | undefined): boolean =>
  !needed || needed.results || isSpecial(channel) || taskId === NO_TASK;

/** Whether writes to this channel have a fixed number, such as an interrupt or an error of the task. */
export const isSpecial = (channel: string): boolean => Object.hasOwn(WRITES_IDX_MAP, channel);

/** A write with its number, which is unique within its task; numbers of special channels are negative. */
interface NumberedWrite {
  idx: number;
  channel: string;
  value: unknown;
}

interface NumberedWrites {
  /** At most one write per number. */
  writes: NumberedWrite[];
  /**
   * Whether they replace stored writes with the same numbers. Ordinary writes do not: a stored one comes from an earlier
   * attempt of the same task and is kept.
   */
  replace: boolean;
}

/** Number the writes of one `putWrites` call. */
export function numbered(writes: readonly PendingWrite[]): NumberedWrites {
  const replace = writes.every(([channel]) => isSpecial(channel));
  const byNumber = new Map<number, NumberedWrite>();
  for (const [index, [channel, value]] of writes.entries()) {
    const idx = isSpecial(channel) ? (WRITES_IDX_MAP[channel] as number) : index;
    if (replace || !byNumber.has(idx)) byNumber.set(idx, { idx, channel, value });
  }
  return { writes: [...byNumber.values()], replace };
}

/** Before version 4 of the format, `Send` tasks were not a channel but writes of the parent checkpoint. */
export function addSends(checkpoint: Checkpoint, sends: unknown[]): void {
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS] = sends;
  checkpoint.channel_versions[TASKS] =
    versions.length > 0 ? versions.reduce((a, b) => maxChannelVersion(a, b)) : 1;
}

// Serializers: only values that can be read back are stored.

/**
 * The serializer for a saver that stores everything as text. A value that is a Uint8Array is stored the way LangGraph
 * stores bytes inside a value. Otherwise MemorySaver would parse it as JSON, and SqliteSaver would read it as UTF-8.
 */
export function textSerializer(inner: SerializerProtocol): SerializerProtocol {
  const serializer: SerializerProtocol = {
    dumpsTyped: (value: unknown) =>
      inner.dumpsTyped(value instanceof Uint8Array ? bytesRecord(value) : value),
    loadsTyped: (type, data) => inner.loadsTyped(type, data) as Promise<unknown>,
  };
  if (givesPlainJson(inner)) plainSerializers.add(serializer);
  return serializer;
}

function bytesRecord(bytes: Uint8Array) {
  return { lc: 2, type: "constructor", id: ["Uint8Array"], method: "from", args: [Array.from(bytes)] };
}

/** The string that LangGraph's serializer stores instead of a value that it cannot serialize. */
const LOST = "[unable to serialize, circular reference is too complex to analyze]";
const LOST_BYTES = Buffer.from(JSON.stringify(LOST));

/**
 * A serializer that rejects values which cannot be read back. LangGraph's own serializer stores a placeholder string for
 * values that JSON cannot represent, nothing for functions, and for objects that look like LangChain's a form that
 * may fail to load. A value is only inspected if its serialized form looks wrong, which keeps the normal case fast.
 * `dumpsTyped` throws an UnserializableError.
 */
export function strictSerializer(inner: SerializerProtocol): SerializerProtocol {
  const isPlainJson = givesPlainJson(inner);
  const loadsTyped = async (type: string, data: Uint8Array | string): Promise<unknown> => {
    // Earlier releases stored functions as empty data.
    if (type === "json" && data.length === 0) return undefined;
    return (await inner.loadsTyped(type, data)) as unknown;
  };
  const serializer: SerializerProtocol = {
    loadsTyped,
    async dumpsTyped(value: unknown) {
      const plain = isPlainJson ? plainJson(value) : undefined;
      if (plain !== undefined) return ["json", new TextEncoder().encode(plain)];
      let dumped: [type: string, bytes: Uint8Array];
      try {
        dumped = await inner.dumpsTyped(value);
      } catch (error) {
        throw rejectionOf(error, value);
      }
      const [type, bytes] = dumped;
      if (type !== "json") return dumped;
      if (bytes.length === 0 || isLost(value, bytes)) throw rejected(value);
      const { isDeep, isDoubtful, hasProto } = verdictOn(bytes);
      if (isDeep) throw rejected(value, findUnserializable(value, { name: NAME }) ?? TOO_DEEP);
      const json = hasProto ? withoutProto(bytes) : bytes;
      if (isDoubtful) await assertReadable(value, () => loadsTyped(type, json));
      return [type, json];
    },
  };
  if (isPlainJson) plainSerializers.add(serializer);
  return serializer;
}

/** What `dumpsTyped` returns for plain data, as text and without a promise; undefined for other values. */
export const plainText = (serializer: SerializerProtocol, value: unknown): string | undefined =>
  givesPlainJson(serializer) ? plainJson(value) : undefined;

/** LangGraph's own serializer. Its class is not exported. */
const LANGGRAPH_SERDE = new MemorySaver().serde;
const plainSerializers = new WeakSet<SerializerProtocol>();

/** Whether the serializer turns plain data into plain JSON; a custom one may encrypt, for example. */
const givesPlainJson = (serializer: SerializerProtocol): boolean =>
  (serializer.constructor === LANGGRAPH_SERDE.constructor &&
    serializer.dumpsTyped === LANGGRAPH_SERDE.dumpsTyped) ||
  plainSerializers.has(serializer);

/** Keys that LangGraph's serializer or its deserializer treats specially. */
const SPECIAL_KEYS = new Set(["lc", "lg_name", "__proto__", "response_metadata", "tool_call_chunks"]);
/** Limits of the plain check: a value beyond them may be circular. */
const PLAIN_LEVELS = 40;
const PLAIN_PARTS = 100_000;

/** The JSON of plain data, undefined for other values. LangGraph's serializer returns the same at four times the cost. */
function plainJson(value: unknown): string | undefined {
  let parts = 0;
  const isPlain = (part: unknown, level: number): boolean => {
    if (part === null || typeof part === "string" || typeof part === "number") return true;
    if (typeof part !== "object") return typeof part === "boolean";
    if ("toJSON" in part || level > PLAIN_LEVELS || ++parts > PLAIN_PARTS) return false;
    if (Array.isArray(part)) {
      // Not `every`, which skips the holes of a sparse array.
      for (let at = 0; at < part.length; at++) if (!isPlain(part[at], level + 1)) return false;
      return true;
    }
    if (![Object.prototype, null].includes(Object.getPrototypeOf(part) as object | null)) return false;
    return Object.entries(part).every(([key, item]) => !SPECIAL_KEYS.has(key) && isPlain(item, level + 1));
  };
  try {
    return isPlain(value, 1) ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}

async function assertReadable(value: unknown, read: () => Promise<unknown>): Promise<void> {
  try {
    await read();
  } catch (error) {
    throw rejected(value, { path: NAME, what: `would not be read back: ${whyUnreadable(error)}` }, error);
  }
}

/** Root of the path in errors about a value without a name. */
const NAME = "value";
const TOO_DEEP: Unserializable = { path: NAME, what: `is nested more than ${MAX_SERIALIZABLE_DEPTH} deep` };

/** The error to throw when a serializer failed. */
function rejectionOf(error: unknown, value: unknown): Error {
  // An error of the storage, such as one for a value that is too large.
  if (error instanceof GraphServeError) return error;
  const unknown = { path: NAME, what: `cannot be read: ${reasonOf(error)}` };
  return rejected(value, findUnserializable(value, { name: NAME }) ?? unknown, error);
}

/** LangChain's reason without the dump of the object, which may contain values hidden from clients. */
function whyUnreadable(error: unknown): string {
  const [reason = "", object = ""] = reasonOf(error).split(" -> ", 2);
  const [id] = /\[[^\]]*\]/.exec(object) ?? [];
  return id === undefined ? reason : `${reason} ${id}`;
}

const isLost = (value: unknown, bytes: Uint8Array) => value !== LOST && LOST_BYTES.equals(bytes);

function rejected(value: unknown, fault?: Unserializable, cause?: unknown): UnserializableError {
  const found = fault ??
    findUnserializable(value, { name: NAME }) ?? { path: NAME, what: "cannot be turned into JSON" };
  return new UnserializableError("a value cannot be stored", found, cause);
}

// Checks on the bytes of a serialized value, in a single pass.

/** Extra levels: in a checkpoint that is stored as one value, channel values are nested a few levels down. */
const LEVELS_AROUND = 8;
const MAX_LEVELS = MAX_SERIALIZABLE_DEPTH + LEVELS_AROUND;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const ONE = 0x31;
/** Depth change by byte, for bytes outside of strings. */
const STEPS = new Int8Array(256);
for (const opening of "{[") STEPS[opening.charCodeAt(0)] = 1;
for (const closing of "}]") STEPS[closing.charCodeAt(0)] = -1;

const LC = Buffer.from("lc");
const PROTO = Buffer.from("__proto__");
/**
 * Keys at which loading LangChain objects may fail, with a pattern for what can safely follow: a message class of
 * LangChain itself rather than of the project, or a field of the type that constructors expect.
 */
const MARKS: readonly (readonly [key: Buffer, surely: RegExp])[] = [
  [
    LC,
    /^1,"type":"constructor","id":\["langchain_core","messages","(AI|Human|System|Tool|Function|Chat|Remove)Message(Chunk)?"\],"kwargs":\{/,
  ],
  [Buffer.from("response_metadata"), /^\{/],
  [Buffer.from("tool_call_chunks"), /^\[[\]{]/],
];
/** Bytes to match after a key; longer than the longest match of a mark. */
const LOOK_AHEAD = 120;
/** LangChain loads objects up to 50 levels deep, and adds levels around some of them. */
const LEVELS_OF_LC = 40;

interface Verdict {
  /** Nested too deeply. The other fields are then incomplete. */
  isDeep: boolean;
  /** Loading it may fail. */
  isDoubtful: boolean;
  /** Has `__proto__` keys: loading it would set prototypes. */
  hasProto: boolean;
}

export function verdictOn(json: Uint8Array): Verdict {
  const verdict = { isDeep: false, isDoubtful: false, hasProto: false };
  let depth = 0;
  /** Depth of the outermost enclosing LangChain object. */
  let lcDepth = Infinity;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte !== QUOTE) {
      const step = STEPS[byte] as number;
      if (step === 0) continue;
      depth += step;
      if (depth > MAX_LEVELS) return { ...verdict, isDeep: true };
      if (depth < lcDepth) lcDepth = Infinity;
      else if (depth - lcDepth > LEVELS_OF_LC) verdict.isDoubtful = true;
      continue;
    }
    const end = endOfString(json, at + 1);
    if (json[end + 1] === COLON) {
      if (isKey(json, at + 1, end, PROTO)) verdict.hasProto = true;
      else if (isKey(json, at + 1, end, LC) && json[end + 2] === ONE && depth < lcDepth) lcDepth = depth;
      if (isDoubtful(json, at + 1, end)) verdict.isDoubtful = true;
    }
    at = end;
  }
  return verdict;
}

/** Index of the closing quote of the string that starts at `from`. */
function endOfString(json: Uint8Array, from: number): number {
  for (let at = from; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return json.length;
}

function isKey(json: Uint8Array, start: number, end: number, key: Buffer): boolean {
  if (end - start !== key.length) return false;
  for (let at = 0; at < key.length; at++) if (json[start + at] !== key[at]) return false;
  return true;
}

/** Whether the key from `start` to `end` is a mark that is not followed by a safe value. */
function isDoubtful(json: Uint8Array, start: number, end: number): boolean {
  const mark = MARKS.find(([key]) => isKey(json, start, end, key));
  if (!mark || (mark[0] === LC && json[end + 2] !== ONE)) return false;
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  return !mark[1].test(bytes.toString("latin1", end + 2, end + 2 + LOOK_AHEAD));
}

/** The JSON without `__proto__` keys and their values. */
function withoutProto(json: Uint8Array): Uint8Array {
  const value: unknown = JSON.parse(new TextDecoder().decode(json), (key, inner: unknown) =>
    key === "__proto__" ? undefined : inner,
  );
  return new TextEncoder().encode(JSON.stringify(value));
}
