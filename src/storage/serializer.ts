/** What savers store of values: nothing that cannot be read again, and of what is refused the name. */
import {
  ERROR,
  INTERRUPT,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import { errorMessage, errorName, GraphServeError } from "../support/errors.js";
import { because, type Fault, faultIn, MAX_DEPTH, UnserializableError } from "../support/unserializable.js";

/**
 * The serializer for a saver that keeps everything as text: it stores a value that is bytes as LangGraph stores bytes
 * inside a value. Otherwise MemorySaver parses such a write as JSON, and SqliteSaver reads it as UTF-8.
 */
export function textSerializer(inner: SerializerProtocol): SerializerProtocol {
  return {
    dumpsTyped: (value: unknown) =>
      inner.dumpsTyped(value instanceof Uint8Array ? bytesRecord(value) : value),
    loadsTyped: (type, data) => inner.loadsTyped(type, data) as Promise<unknown>,
  };
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
  const loadsTyped = async (type: string, data: Uint8Array | string): Promise<unknown> => {
    // What was left of functions before they were refused.
    if (type === "json" && data.length === 0) return undefined;
    return (await inner.loadsTyped(type, data)) as unknown;
  };
  return {
    loadsTyped,
    async dumpsTyped(value: unknown) {
      const [type, bytes] = await dump(inner, value);
      if (type !== "json") return [type, bytes];
      if (bytes.length === 0 || isLost(value, bytes)) throw refused(value);
      const { isDeep, isDoubtful, hasProto } = verdictOn(bytes);
      if (isDeep) throw refused(value, faultIn(value, { name: NAME }) ?? TOO_DEEP);
      const json = hasProto ? withoutProto(bytes) : bytes;
      if (isDoubtful) await assertReadable(value, () => loadsTyped(type, json));
      return [type, json];
    },
  };
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
const TOO_DEEP: Fault = { path: NAME, what: `is nested more than ${MAX_DEPTH} deep` };

async function dump(inner: SerializerProtocol, value: unknown): Promise<[string, Uint8Array]> {
  try {
    return await inner.dumpsTyped(value);
  } catch (error) {
    // Of the storage, for instance one that finds the value too large.
    if (error instanceof GraphServeError) throw error;
    const unknown = { path: NAME, what: `cannot be read: ${because(error)}` };
    throw refused(value, faultIn(value, { name: NAME }) ?? unknown, error);
  }
}

/** LangChain's reason without the object that it tells in full: what is in it may be hidden from clients. */
function whyUnreadable(error: unknown): string {
  const [reason = "", object = ""] = because(error).split(" -> ", 2);
  const [id] = /\[[^\]]*\]/.exec(object) ?? [];
  return id === undefined ? reason : `${reason} ${id}`;
}

const isLost = (value: unknown, bytes: Uint8Array): boolean =>
  bytes.length === LOST_BYTES.length && value !== LOST && LOST_BYTES.equals(bytes);

function refused(value: unknown, fault?: Fault, cause?: unknown): UnserializableError {
  const found = fault ?? faultIn(value, { name: NAME }) ?? { path: NAME, what: "cannot be turned into JSON" };
  return new UnserializableError("a value cannot be stored", found, cause);
}

// What can be told of a serialised value from its bytes alone, in one pass over them.

/** A checkpoint that is stored whole has the values of its channels a few levels down. */
const LEVELS_AROUND = 8;
const MOST_LEVELS = MAX_DEPTH + LEVELS_AROUND;

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

// Which value it was that a saver could not store.

type Entry = readonly [channel: string, value: unknown];

/** Stands for the metadata among the channels of a checkpoint. */
export const METADATA = "__metadata__";

/** LangGraph's own channels in words, with what their values go by. */
const CHANNELS: Record<string, readonly [subject: string, name: string]> = {
  [INTERRUPT]: ["what interrupt() asks", "interrupt"],
  [TASKS]: ["the input of a Send", "send"],
  __start__: ["the input", "input"],
  __input__: ["the input", "input"],
  __return__: ["what a task returned", "result"],
  __end__: ["what the graph returned", "result"],
  __previous__: ["what the graph saved", "previous"],
  [METADATA]: ["the metadata of the checkpoint", "metadata"],
};

const inWords = (channel: string): readonly [string, string] =>
  CHANNELS[channel] ?? [`state key ${JSON.stringify(channel)}`, channel];

/** @throws UnserializableError for a function or a symbol, of which nothing would be stored */
export function assertData(entries: Iterable<Entry>): void {
  for (const [channel, value] of entries) {
    if (typeof value !== "function" && typeof value !== "symbol") continue;
    const [subject, name] = inWords(channel);
    throw new UnserializableError(
      `${subject} cannot be stored`,
      faultIn(value, { name }) ?? { path: name, what: "is no data" },
    );
  }
}

/** The error that names the value which `serde` refuses; any other error as it is. */
export async function namedRefusal(
  error: unknown,
  serde: SerializerProtocol,
  entries: Iterable<Entry>,
): Promise<unknown> {
  if (!(error instanceof UnserializableError)) return error;
  for (const [channel, value] of entries) {
    const refusal = await refusalOf(serde, value);
    if (!refusal) continue;
    const [subject, name] = inWords(channel);
    const { path, what } = refusal.fault;
    // What is asked is the value of an interrupt, which stands alone or in a list of them.
    const inside = path.replace(channel === INTERRUPT ? /^value(\[\d+\])?(\.value)?/ : /^value/, "");
    return new UnserializableError(
      `${subject} cannot be stored`,
      { path: name + inside, what },
      refusal.cause,
    );
  }
  return error;
}

async function refusalOf(
  serde: SerializerProtocol,
  value: unknown,
): Promise<UnserializableError | undefined> {
  try {
    await serde.dumpsTyped(value);
    return undefined;
  } catch (error) {
    return error instanceof UnserializableError ? error : undefined;
  }
}

/** The writes, with what a task threw in bounded words: LangGraph takes its name and message as they are. */
export function wordedWrites(writes: PendingWrite[]): PendingWrite[] {
  if (writes.every(([channel]) => channel !== ERROR)) return writes;
  return writes.map(([channel, value]): PendingWrite => [channel, channel === ERROR ? worded(value) : value]);
}

function worded(thrown: unknown): unknown {
  if (typeof thrown !== "object" || thrown === null) return thrown;
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  return {
    message: message === undefined ? message : errorMessage({ message }),
    name: typeof name === "string" ? name.slice(0, 200) : errorName(thrown),
  };
}
