/**
 * Parses JSON and YAML with the position of each value. Import it only on demand: the YAML parser
 * is slow to load.
 */
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
import { ConfigError } from "../support/errors.js";
import type { SourceLocation } from "../support/errors/codes.js";
import { errorMessage } from "../support/errors/thrown.js";
import type { ConfigDocument, SettingPath } from "./document.js";

/**
 * Parses JSON or YAML. JSON is validated by `JSON.parse`; positions come from the YAML parser,
 * since JSON is a subset of YAML.
 * @throws ConfigError with the line if the text is malformed (`config_invalid`)
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
  const [error] = document.errors;
  if (error) throw new ConfigError(`invalid YAML: ${error.message}`, { location: at(error.pos[0]) });
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
    throw new ConfigError(`invalid JSON: ${message}`, { location: at(jsonErrorOffset(error, document)) });
  }
}

/**
 * V8 reports a position for some errors only; for the others, use the first scalar that is not
 * valid JSON.
 */
function jsonErrorOffset(error: unknown, document: Document): number {
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
