/** Serializers that store only values which can be read back. */
import { MemorySaver, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { GraphServeError } from "../../support/errors.js";
import {
  reasonOf,
  type Unserializable,
  findUnserializable,
  MAX_SERIALIZABLE_DEPTH,
  UnserializableError,
} from "../../support/unserializable.js";
import { verdictOn, withoutProto } from "./scan.js";

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
export function plainJson(value: unknown): string | undefined {
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
    for (const [key, item] of Object.entries(part))
      if (SPECIAL_KEYS.has(key) || !isPlain(item, level + 1)) return false;
    return true;
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
