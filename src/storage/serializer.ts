import {
  type Checkpoint,
  maxChannelVersion,
  type SerializerProtocol,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import { GraphServeError } from "../support/errors.js";
import { because, type Fault, faultIn, MAX_DEPTH, UnserializableError } from "../support/unserializable.js";
import { verdictOn, withoutProto } from "./stored-json.js";

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

/** Before version 4 of the format, tasks to send were not a channel: they are writes of the checkpoint before. */
export function addSends(checkpoint: Checkpoint, sends: unknown[]): void {
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS] = sends;
  checkpoint.channel_versions[TASKS] =
    versions.length > 0 ? versions.reduce((a, b) => maxChannelVersion(a, b)) : 1;
}
