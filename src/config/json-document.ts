/** Reads valid JSON, and positions in it, without the YAML parser, which is slow to load. */
import { codeFrame } from "../support/code-frame.js";
import type { ConfigDocument, SettingPath } from "./document.js";

/** The document; undefined if the text is not valid JSON. */
export function jsonDocument(file: string, text: string): ConfigDocument | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return { file, value, locate: (path) => locationAt(file, text, jsonOffset(text, path)) };
  } catch {
    return undefined;
  }
}

function locationAt(file: string, text: string, offset: number) {
  const before = text.slice(0, offset).split("\n");
  const line = before.length;
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { file, line, column, frame: codeFrame(text, line, column) };
}

/** Tokens of JSON that is known to be valid, each with the space before it. */
const TOKEN = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+)/gy;

interface Container {
  isObject: boolean;
  key: string | number;
}

/**
 * Offset of the key at `path`, or of the item, in `text`; if there is none, that of its nearest parent. Of keys that
 * are repeated, the first one counts.
 * @param text valid JSON
 */
function jsonOffset(text: string, path: SettingPath): number {
  const open: Container[] = [];
  let found = { depth: -1, offset: 0 };
  let isKeyNext = false;
  /** Keeps a position if it is on the path, and deeper than the one found so far. */
  const note = (offset: number) => {
    const isOnPath = open.every(({ key }, index) => String(key) === String(path[index]));
    if (open.length <= path.length && isOnPath && open.length > found.depth)
      found = { depth: open.length, offset };
  };
  for (const match of text.matchAll(TOKEN)) {
    const [whole, token = ""] = match;
    const offset = match.index + whole.length - token.length;
    const current = open.at(-1);
    if (token === "}" || token === "]") open.pop();
    else if (token === ":") isKeyNext = false;
    else if (token === ",") {
      isKeyNext = current?.isObject ?? false;
      if (current && !current.isObject) current.key = Number(current.key) + 1;
    } else if (isKeyNext && current) {
      current.key = JSON.parse(token) as string;
      note(offset);
    } else {
      if (!current?.isObject) note(offset);
      if (token === "{" || token === "[") {
        open.push({ isObject: token === "{", key: token === "{" ? "" : 0 });
        isKeyNext = token === "{";
      }
    }
  }
  return found.offset;
}
