/** Formats values as an indented tree; long and deep values are folded. */
import { isMessageLike, isRecord } from "../../models/common.js";
import type { Colors } from "./print.js";
import { messageLine } from "../../view/text.js";
import { clipped, counted } from "./text.js";

interface TreeOptions {
  colors: Colors;
  /** Maximum width in columns. */
  width: number;
  /** Do not fold or truncate values. */
  full?: boolean;
}

const DEEPEST = 3;
const MOST_ITEMS = 5;
const MOST_KEYS = 20;
const INDENT = "  ";

/** Lines of the tree; empty for an empty object. */
export function valueTree(value: unknown, options: TreeOptions, depth = 1): string[] {
  if (!isRecord(value)) return leaf("", value, options, depth);
  const keys = Object.keys(value);
  const shown = options.full ? keys : keys.slice(0, MOST_KEYS);
  const more = keys.length - shown.length;
  return [
    ...shown.flatMap((key) => entry(`${key}:`, value[key], options, depth)),
    ...(more > 0 ? [folded(`… ${more} more keys`, options, depth)] : []),
  ];
}

function entry(label: string, value: unknown, options: TreeOptions, depth: number): string[] {
  if (Array.isArray(value) && value.length > 0) return list(label, value, options, depth);
  if (isMessageLike(value) && !options.full) return leaf(label, value, options, depth);
  if (!isRecord(value) || Object.keys(value).length === 0) return leaf(label, value, options, depth);
  if (depth >= DEEPEST && !options.full) {
    return [headed(label, `{${counted(Object.keys(value).length, "key")}}`, options, depth)];
  }
  return [headed(label, "", options, depth), ...valueTree(value, options, depth + 1)];
}

/** Folds the beginning of a list, because the last items are the newest. */
function list(label: string, items: unknown[], options: TreeOptions, depth: number): string[] {
  const head = headed(label, `[${counted(items.length, "item")}]`, options, depth);
  if (depth >= DEEPEST && !options.full) return [head];
  const from = options.full ? 0 : Math.max(0, items.length - MOST_ITEMS);
  return [
    head,
    ...(from > 0 ? [folded(`… ${from} before`, options, depth + 1)] : []),
    ...items.slice(from).flatMap((item) => entry("-", item, options, depth + 1)),
  ];
}

function leaf(label: string, value: unknown, options: TreeOptions, depth: number): string[] {
  const text = isMessageLike(value) && !options.full ? messageLine(value) : textOf(value);
  const before = INDENT.repeat(depth).length + label.length + 1;
  const shown = clipped(text, options.full ? Infinity : Math.max(8, options.width - before));
  return [headed(label, shown, options, depth)];
}

/** Quotes strings that look like other values: "0" is not 0. */
function textOf(value: unknown): string {
  if (typeof value === "string" && !LIKE_A_VALUE.test(value)) return value;
  return JSON.stringify(value) ?? "";
}

const LIKE_A_VALUE = /^(-?\d[\d.]*(e[+-]?\d+)?|true|false|null|)$/i;

function headed(label: string, text: string, { colors }: TreeOptions, depth: number): string {
  const name = label === "-" || label === "" ? label : colors.cyan(clipped(label, 40));
  return `${INDENT.repeat(depth)}${[name, text].filter(Boolean).join(" ")}`;
}

function folded(text: string, { colors }: TreeOptions, depth: number): string {
  return `${INDENT.repeat(depth)}${colors.dim(text)}`;
}
