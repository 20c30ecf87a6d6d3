/** JSON and YAML with the position of each value. Loaded only when there is such a file: the YAML parser takes its time. */
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
} from "yaml";
import { codeFrame } from "../support/code-frame.js";
import { ConfigError, errorMessage, type SourceLocation } from "../support/errors.js";
import type { ConfigDocument, SettingPath } from "./document.js";

/**
 * Parse JSON or YAML. JSON is read by the JSON rules; its positions come from the YAML parser, since JSON is YAML.
 * @throws ConfigError with the line when the text is malformed (`config_invalid`)
 */
export function parseConfigText(file: string, text: string, format: "json" | "yaml"): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: format === "yaml",
  });
  const at = (offset: number): SourceLocation => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col, frame: codeFrame(text, line, col) };
  };
  const value = format === "json" ? readJson(text, document, at) : readYaml(document, at);
  return { file, value, locate: (path) => at(offsetOf(document, path)) };
}

function readYaml(document: Document, at: (offset: number) => SourceLocation): unknown {
  const [fault] = document.errors;
  if (fault) throw new ConfigError(`this is not YAML: ${fault.message}`, { location: at(fault.pos[0]) });
  return document.toJS() as unknown;
}

function readJson(text: string, document: Document, at: (offset: number) => SourceLocation): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const message = errorMessage(error).replace(
      /(, ".*" is not valid JSON| in JSON at position \d+.*)$/s,
      "",
    );
    throw new ConfigError(`this is not JSON: ${message}`, { location: at(jsonFaultOffset(error, document)) });
  }
}

/** V8 gives a position for some faults only; for the others it is the first scalar that JSON does not know. */
function jsonFaultOffset(error: unknown, document: Document): number {
  const position = /at position (\d+)/.exec(errorMessage(error))?.[1];
  if (position !== undefined) return Number(position);
  let offset = document.errors[0]?.pos[0];
  visit(document, {
    Scalar(_key, node) {
      if (isJsonScalar(node)) return undefined;
      offset = Math.min(offset ?? Infinity, node.range?.[0] ?? Infinity);
      return visit.BREAK;
    },
  });
  return offset ?? 0;
}

function isJsonScalar(node: Scalar): boolean {
  if (node.type === "QUOTE_DOUBLE") return true;
  return node.type === "PLAIN" && /^(true|false|null|-?\d[\d.eE+-]*)$/.test(node.source ?? "");
}

function offsetOf(document: Document, path: SettingPath): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const key of path) {
    const pair = isMap(node) ? node.items.find((item) => keyText(item.key) === String(key)) : undefined;
    const child: unknown = pair ? pair.value : isSeq(node) ? node.items[Number(key)] : undefined;
    const found = startOf(pair?.key) ?? startOf(child);
    if (found === undefined) return offset;
    offset = found;
    node = child;
  }
  return offset;
}

function keyText(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

// A configuration file with the position of each of its values, for errors that show the line.
