/**
 * Checks on the bytes of a serialized value, in a single pass. Every stored message passes through it; its benchmark is the
 * run of one node over messages: `npm run bench -- --only P1`.
 */
import { MAX_SERIALIZABLE_DEPTH } from "../../support/unserializable.js";

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
export function withoutProto(json: Uint8Array): Uint8Array {
  const value: unknown = JSON.parse(new TextDecoder().decode(json), (key, inner: unknown) =>
    key === "__proto__" ? undefined : inner,
  );
  return new TextEncoder().encode(JSON.stringify(value));
}
