/** What savers are made of, whatever they keep checkpoints in: places, numbers of writes, serializers. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
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
import type { RunHolder } from "../contract/storage.js";
import {
  reasonOf,
  type Unserializable,
  findUnserializable,
  MAX_SERIALIZABLE_DEPTH,
  UnserializableError,
} from "../../support/unserializable.js";

export interface NamespaceRef {
  thread_id: string;
  /** Empty for the root graph. */
  checkpoint_ns: string;
}

export interface CheckpointRef extends NamespaceRef {
  checkpoint_id: string | undefined;
}

/**
 * Where a config points, and the checkpoint that it names. Texts only: a database might read anything else that a client
 * put there as an operator.
 * @throws Error when it names no thread
 */
export function checkpointRef({ configurable = {} }: RunnableConfig): CheckpointRef {
  const { thread_id, checkpoint_ns, checkpoint_id } = configurable as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  const thread = text(thread_id);
  if (thread === undefined) throw new Error("configurable.thread_id is needed to reach a checkpoint");
  return { thread_id: thread, checkpoint_ns: text(checkpoint_ns) ?? "", checkpoint_id: text(checkpoint_id) };
}

/**
 * The checkpoint that a config names.
 * @throws Error when it names none
 */
export function requiredCheckpointRef(config: RunnableConfig): NamespaceRef & { checkpoint_id: string } {
  const { checkpoint_id, ...place } = checkpointRef(config);
  if (checkpoint_id === undefined) throw new Error("configurable.checkpoint_id is needed to store writes");
  return { ...place, checkpoint_id };
}

/** The config that names the checkpoint of this id. */
export const configOf = ({ thread_id, checkpoint_ns }: NamespaceRef, checkpoint_id: string) => ({
  configurable: { thread_id, checkpoint_ns, checkpoint_id },
});

/** The runs that this process writes for, by id. */
export type HeldRuns = Map<string, RunHolder>;

/** A run whose row has to say that it is this holder's. */
export interface HeldRun extends RunHolder {
  run_id: string;
}

/** The run that writes under this config, where it is one of those; what is written outside of runs is nobody's. */
export function heldRun(held: HeldRuns, { configurable }: RunnableConfig): HeldRun | undefined {
  const run_id: unknown = configurable?.run_id;
  const holder = typeof run_id === "string" ? held.get(run_id) : undefined;
  return holder && { run_id: run_id as string, ...holder };
}

type PendingWrites = NonNullable<CheckpointTuple["pendingWrites"]>;

interface TupleParts {
  id: string;
  /** Id of its parent; empty or null for none. */
  parent: string | null;
  checkpoint: Checkpoint;
  metadata: unknown;
  pendingWrites: PendingWrites;
}

/** A checkpoint as LangGraph has it. */
export const tupleOf = (place: NamespaceRef, { id, parent, ...parts }: TupleParts): CheckpointTuple => ({
  config: configOf(place, id),
  checkpoint: parts.checkpoint,
  metadata: parts.metadata as CheckpointMetadata | undefined,
  parentConfig: parent ? configOf(place, parent) : undefined,
  pendingWrites: parts.pendingWrites,
});

/** Which values are needed of the checkpoints that are read; a saver may give more. */
export interface NeededChannels {
  /** LangGraph's own channels, which tell what runs next. */
  own: boolean;
  /** What the tasks after a checkpoint wrote, besides what they asked or failed with. */
  results: boolean;
  /** Keys of the state. */
  keys: readonly string[];
}

/** What a reader of checkpoints asks beside their place. It travels in the config, past LangGraph. */
export interface Reading {
  channels?: NeededChannels;
  /** Called with each checkpoint before LangGraph makes a state of it. */
  onRead?: (checkpoint: Checkpoint) => void;
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

/** What LangGraph calls the task of writes that are nobody's: a command's, which are part of the state. */
const NO_TASK = "00000000-0000-0000-0000-000000000000";

export const isWriteNeeded = (taskId: string, channel: string, needed: NeededChannels | undefined): boolean =>
  !needed || needed.results || isSpecial(channel) || taskId === NO_TASK;

/** Whether writes to this channel have a number of their own, such as an interrupt or an error of the task. */
export const isSpecial = (channel: string): boolean => Object.hasOwn(WRITES_IDX_MAP, channel);

/** A write with its number, which is its key in its task; those of special channels are below 0. */
interface NumberedWrite {
  idx: number;
  channel: string;
  value: unknown;
}

interface NumberedWrites {
  /** One a number. */
  writes: NumberedWrite[];
  /**
   * Whether they take the place of what is stored under their numbers. Ordinary writes do not: what is there was made by
   * an earlier attempt of the same task, and stays.
   */
  replace: boolean;
}

/** The writes of one call, numbered. */
export function numbered(writes: readonly PendingWrite[]): NumberedWrites {
  const replace = writes.every(([channel]) => isSpecial(channel));
  const byNumber = new Map<number, NumberedWrite>();
  for (const [index, [channel, value]] of writes.entries()) {
    const idx = isSpecial(channel) ? (WRITES_IDX_MAP[channel] as number) : index;
    if (replace || !byNumber.has(idx)) byNumber.set(idx, { idx, channel, value });
  }
  return { writes: [...byNumber.values()], replace };
}

/** Before version 4 of the format, tasks to send were not a channel: they are writes of the checkpoint before. */
export function addSends(checkpoint: Checkpoint, sends: unknown[]): void {
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS] = sends;
  checkpoint.channel_versions[TASKS] =
    versions.length > 0 ? versions.reduce((a, b) => maxChannelVersion(a, b)) : 1;
}

// Serializers store nothing that cannot be read again.

/**
 * The serializer for a saver that keeps everything as text: it stores a value that is bytes as LangGraph stores bytes
 * inside a value. Otherwise MemorySaver parses such a write as JSON, and SqliteSaver reads it as UTF-8.
 */
export function textSerializer(inner: SerializerProtocol): SerializerProtocol {
  const serializer: SerializerProtocol = {
    dumpsTyped: (value: unknown) =>
      inner.dumpsTyped(value instanceof Uint8Array ? bytesRecord(value) : value),
    loadsTyped: (type, data) => inner.loadsTyped(type, data) as Promise<unknown>,
  };
  if (givesPlainJson(inner)) plainOnes.add(serializer);
  return serializer;
}

function bytesRecord(bytes: Uint8Array) {
  return { lc: 2, type: "constructor", id: ["Uint8Array"], method: "from", args: [Array.from(bytes)] };
}

/** What LangGraph's serializer gives for a value that it cannot serialise, in the value's place. */
const LOST = "[unable to serialize, circular reference is too complex to analyze]";
const LOST_BYTES = Buffer.from(JSON.stringify(LOST));

/**
 * The serializer that gives nothing which cannot be read again. LangGraph's own gives a text in the place of values that
 * JSON does not have, nothing at all for functions, and of objects that look like LangChain's what only some of them
 * are read back from. Values are looked at when something is wrong with what became of them, not before.
 * `dumpsTyped` throws an UnserializableError.
 */
export function strictSerializer(inner: SerializerProtocol): SerializerProtocol {
  const isPlainJson = givesPlainJson(inner);
  const loadsTyped = async (type: string, data: Uint8Array | string): Promise<unknown> => {
    // What was left of functions before they were refused.
    if (type === "json" && data.length === 0) return undefined;
    return (await inner.loadsTyped(type, data)) as unknown;
  };
  return {
    loadsTyped,
    async dumpsTyped(value: unknown) {
      const plain = isPlainJson ? plainJson(value) : undefined;
      if (plain !== undefined) return ["json", new TextEncoder().encode(plain)];
      let dumped: [type: string, bytes: Uint8Array];
      try {
        dumped = await inner.dumpsTyped(value);
      } catch (error) {
        throw refusedBy(error, value);
      }
      const [type, bytes] = dumped;
      if (type !== "json") return dumped;
      if (bytes.length === 0 || isLost(value, bytes)) throw refused(value);
      const { isDeep, isDoubtful, hasProto } = verdictOn(bytes);
      if (isDeep) throw refused(value, findUnserializable(value, { name: NAME }) ?? TOO_DEEP);
      const json = hasProto ? withoutProto(bytes) : bytes;
      if (isDoubtful) await assertReadable(value, () => loadsTyped(type, json));
      return [type, json];
    },
  };
}

/** LangGraph's own serializer, whose class it does not export. */
const LANGGRAPHS = new MemorySaver().serde;
const plainOnes = new WeakSet<SerializerProtocol>();

/** Whether it gives of plain data the JSON; another may encrypt. */
const givesPlainJson = (serializer: SerializerProtocol): boolean =>
  (serializer.constructor === LANGGRAPHS.constructor && serializer.dumpsTyped === LANGGRAPHS.dumpsTyped) ||
  plainOnes.has(serializer);

/** Keys that LangGraph's serializer, or the reading back of what it gave, has something to do with. */
const TELLING = new Set(["lc", "lg_name", "__proto__", "response_metadata", "tool_call_chunks"]);
/** A value of more may hold itself. */
const PLAIN_LEVELS = 40;
const PLAIN_PARTS = 100_000;

/** The JSON of what is nothing but JSON, as LangGraph's serializer gives it at four times the cost; else undefined. */
function plainJson(value: unknown): string | undefined {
  let parts = 0;
  const isPlain = (part: unknown, level: number): boolean => {
    if (part === null || typeof part === "string" || typeof part === "number") return true;
    if (typeof part !== "object") return typeof part === "boolean";
    if ("toJSON" in part || level > PLAIN_LEVELS || ++parts > PLAIN_PARTS) return false;
    if (Array.isArray(part)) {
      // One with holes has undefined there.
      for (let at = 0; at < part.length; at++) if (!isPlain(part[at], level + 1)) return false;
      return true;
    }
    if (![Object.prototype, null].includes(Object.getPrototypeOf(part) as object | null)) return false;
    return Object.entries(part).every(([key, item]) => !TELLING.has(key) && isPlain(item, level + 1));
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
    throw refused(value, { path: NAME, what: `would not be read back: ${whyUnreadable(error)}` }, error);
  }
}

/** What a value that stands for itself is called. */
const NAME = "value";
const TOO_DEEP: Unserializable = { path: NAME, what: `is nested more than ${MAX_SERIALIZABLE_DEPTH} deep` };

/** What to throw where a serializer failed. */
function refusedBy(error: unknown, value: unknown): Error {
  // Of the storage, for instance one that finds the value too large.
  if (error instanceof GraphServeError) return error;
  const unknown = { path: NAME, what: `cannot be read: ${reasonOf(error)}` };
  return refused(value, findUnserializable(value, { name: NAME }) ?? unknown, error);
}

/** LangChain's reason without the object that it tells in full: what is in it may be hidden from clients. */
function whyUnreadable(error: unknown): string {
  const [reason = "", object = ""] = reasonOf(error).split(" -> ", 2);
  const [id] = /\[[^\]]*\]/.exec(object) ?? [];
  return id === undefined ? reason : `${reason} ${id}`;
}

const isLost = (value: unknown, bytes: Uint8Array) => value !== LOST && LOST_BYTES.equals(bytes);

function refused(value: unknown, fault?: Unserializable, cause?: unknown): UnserializableError {
  const found = fault ??
    findUnserializable(value, { name: NAME }) ?? { path: NAME, what: "cannot be turned into JSON" };
  return new UnserializableError("a value cannot be stored", found, cause);
}

// What can be told of a serialised value from its bytes alone, in one pass over them.

/** A checkpoint that is stored whole has the values of its channels a few levels down. */
const LEVELS_AROUND = 8;
const MOST_LEVELS = MAX_SERIALIZABLE_DEPTH + LEVELS_AROUND;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const ONE = 0x31;
/** By byte: whether it goes a level down or up, where it stands outside of a text. */
const STEPS = new Int8Array(256);
for (const opening of "{[") STEPS[opening.charCodeAt(0)] = 1;
for (const closing of "}]") STEPS[closing.charCodeAt(0)] = -1;

const LC = Buffer.from("lc");
const PROTO = Buffer.from("__proto__");
/**
 * Keys at which the reading back of LangChain's objects may fail, and what follows where it surely does not: a message
 * of LangChain's own, not one of a class that only the project knows; fields that constructors take for granted.
 */
const MARKS: readonly (readonly [key: Buffer, surely: RegExp])[] = [
  [
    LC,
    /^1,"type":"constructor","id":\["langchain_core","messages","(AI|Human|System|Tool|Function|Chat|Remove)Message(Chunk)?"\],"kwargs":\{/,
  ],
  [Buffer.from("response_metadata"), /^\{/],
  [Buffer.from("tool_call_chunks"), /^\[[\]{]/],
];
/** More than the longest match of a mark. */
const LOOK_AHEAD = 120;
/** LangChain reads its objects back to 50 levels, and puts levels of its own around some. */
const LEVELS_OF_LC = 40;

interface Verdict {
  /** Nested deeper than values may be; nothing else is known then. */
  isDeep: boolean;
  /** Reading it back may fail. */
  isDoubtful: boolean;
  /** Has keys `__proto__`: reading it back would make prototypes of what they hold. */
  hasProto: boolean;
}

export function verdictOn(json: Uint8Array): Verdict {
  const verdict = { isDeep: false, isDoubtful: false, hasProto: false };
  let depth = 0;
  /** Depth of the outermost of LangChain's objects around. */
  let lcDepth = Infinity;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte !== QUOTE) {
      const step = STEPS[byte] as number;
      if (step === 0) continue;
      depth += step;
      if (depth > MOST_LEVELS) return { ...verdict, isDeep: true };
      if (depth < lcDepth) lcDepth = Infinity;
      else if (depth - lcDepth > LEVELS_OF_LC) verdict.isDoubtful = true;
      continue;
    }
    const end = endOfText(json, at + 1);
    if (json[end + 1] === COLON) {
      if (isKey(json, at + 1, end, PROTO)) verdict.hasProto = true;
      else if (isKey(json, at + 1, end, LC) && json[end + 2] === ONE && depth < lcDepth) lcDepth = depth;
      if (isDoubtful(json, at + 1, end)) verdict.isDoubtful = true;
    }
    at = end;
  }
  return verdict;
}

/** Where the text ends whose first character stands at `from`. */
function endOfText(json: Uint8Array, from: number): number {
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

/** Whether the key from `start` to `end` is a mark, and something else follows than what is surely read back. */
function isDoubtful(json: Uint8Array, start: number, end: number): boolean {
  const mark = MARKS.find(([key]) => isKey(json, start, end, key));
  if (!mark || (mark[0] === LC && json[end + 2] !== ONE)) return false;
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  return !mark[1].test(bytes.toString("latin1", end + 2, end + 2 + LOOK_AHEAD));
}

/** The JSON without the keys `__proto__` and what they hold. */
function withoutProto(json: Uint8Array): Uint8Array {
  const value: unknown = JSON.parse(new TextDecoder().decode(json), (key, inner: unknown) =>
    key === "__proto__" ? undefined : inner,
  );
  return new TextEncoder().encode(JSON.stringify(value));
}
