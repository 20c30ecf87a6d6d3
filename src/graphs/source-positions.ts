/** Maps positions in compiled code, such as stack frames, back to the source file. */
import { readFileSync, statSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { tryOr } from "../support/errors/thrown.js";
import { createLoader, isAsLoaded, isTypeScript } from "./module-loader.js";

export interface SourcePosition {
  file: string;
  line: number;
  column: number;
}

/** Maximum file size. Larger files are bundles, whose source maps take too long to read. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAP_COMMENT = /^\s*\/\/[#@] sourceMappingURL=(\S+)/gm;

/**
 * The position in the original source; `position` itself if it is not in compiled code or has no source map. Never
 * throws.
 */
export async function sourcePosition(position: SourcePosition): Promise<SourcePosition> {
  // Node has already mapped the stack.
  if ((process as { sourceMapsEnabled?: boolean }).sourceMapsEnabled) return position;
  try {
    const code = await compiledText(position.file);
    const map = code === undefined ? undefined : mapOf(code, position.file);
    return (map && original(map, position)) ?? position;
  } catch {
    return position;
  }
}

/** The code that Node executes for the file. For TypeScript, the loader's output with its inline source map. */
async function compiledText(file: string): Promise<string | undefined> {
  const text = sourceText(file);
  if (text === "" || !isTypeScript(file)) return text;
  if (!isAsLoaded(file)) return undefined;
  const { transform } = await createLoader(file);
  return transform({ source: text, filename: file, async: true, ts: true });
}

interface LoadedMap {
  map: SourceMap;
  /** Directory that the map's sources are relative to. */
  folder: string;
}

function mapOf(code: string, file: string): LoadedMap | undefined {
  const url = [...code.matchAll(MAP_COMMENT)].at(-1)?.[1];
  if (url === undefined) return undefined;
  const inline = /^data:[^,]*;base64,(.*)$/.exec(url)?.[1];
  const place = resolve(dirname(file), tryOr(() => decodeURIComponent(url)) ?? url);
  const text = inline === undefined ? sourceText(place) : Buffer.from(inline, "base64").toString();
  const payload = JSON.parse(text) as SourceMapPayload;
  const folder = inline === undefined ? dirname(place) : dirname(file);
  return { map: new SourceMap(payload), folder: resolve(folder, payload.sourceRoot ?? "") };
}

function original({ map, folder }: LoadedMap, { line, column }: SourcePosition): SourcePosition | undefined {
  const entry = map.findEntry(line - 1, column - 1);
  if (!("originalSource" in entry)) return undefined;
  const { originalSource, originalLine, originalColumn } = entry;
  const file = originalSource.startsWith("file:")
    ? fileURLToPath(originalSource)
    : resolve(folder, originalSource);
  return { file, line: originalLine + 1, column: originalColumn + 1 };
}

/** The text of a file; empty if it is missing or larger than `MAX_BYTES`. */
export function sourceText(file: string): string {
  return tryOr(() => (statSync(file).size > MAX_BYTES ? "" : readFileSync(file, "utf8"))) ?? "";
}
