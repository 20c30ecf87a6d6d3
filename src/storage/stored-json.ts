/** What can be told of a serialised value from its bytes alone, in one pass over them. */
import { MAX_DEPTH } from "../support/unserializable.js";

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
export function withoutProto(json: Uint8Array): Uint8Array {
  const value: unknown = JSON.parse(new TextDecoder().decode(json), (key, inner: unknown) =>
    key === "__proto__" ? undefined : inner,
  );
  return new TextEncoder().encode(JSON.stringify(value));
}
