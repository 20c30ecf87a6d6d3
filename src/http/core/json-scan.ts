/** Checks the limits of JSON text before it is parsed. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** Depth change per byte: +1 opens an object or a list, -1 closes one. */
const STEPS = new Int8Array(256);
for (const opening of "{[") STEPS[opening.charCodeAt(0)] = 1;
for (const closing of "}]") STEPS[closing.charCodeAt(0)] = -1;

interface JsonLimits {
  /** Nesting of objects and lists. */
  depth: number;
  /** Objects, lists, and their contents. */
  values: number;
}

/**
 * The limit that the text exceeds, if any. One pass over the bytes, because a small body can contain millions of values:
 * a parser would create them all first. Measured by `npm run bench -- --only json`.
 */
export function exceededLimit(bytes: Buffer, limits: JsonLimits): keyof JsonLimits | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === COMMA) values += 1;
    else {
      const step = STEPS[byte] as number;
      if (step === 0) continue;
      depth += step;
      if (step > 0) values += 1;
      if (depth > limits.depth) return "depth";
    }
    if (values > limits.values) return "values";
  }
  return undefined;
}

/** Strings that are longer are searched by native code, which takes a third of the time. */
const LONG_STRING = 32;

function endOfString(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (at - from > LONG_STRING) return endOfLongString(bytes, at);
    if (byte === BACKSLASH) at++;
  }
  return bytes.length;
}

function endOfLongString(bytes: Buffer, from: number): number {
  for (let at = from; ;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let first = quote;
    while (first > from && bytes[first - 1] === BACKSLASH) first--;
    // An odd number of backslashes escapes the quote.
    if ((quote - first) % 2 === 0) return quote;
    at = quote + 1;
  }
}
