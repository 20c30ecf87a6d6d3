/** Formats changes as lines of text. */
import { isMessageLike } from "../models/json.js";
import type { PathStep } from "../models/value-path.js";
import { messageLine } from "./text.js";
import type { Change } from "./changes.js";

export type Mark = "+" | "-" | "~";

export interface ChangeLine {
  mark: Mark;
  /** Path such as `messages[2].content`. */
  place: string;
  text: string;
}

export function changeLines(changes: readonly Change[]): ChangeLine[] {
  return changes.map(({ op, path, ...change }) => {
    const place = placeOf(path);
    if (op === "add") return { mark: "+", place, text: valueText(change.new) };
    if (op === "remove") return { mark: "-", place, text: valueText(change.old) };
    return { mark: "~", place, text: `${valueText(change.old)} -> ${valueText(change.new)}` };
  });
}

function placeOf(path: readonly PathStep[]): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return text.replace(/^\./, "") || "(all)";
}

function valueText(value: unknown): string {
  return isMessageLike(value) ? messageLine(value) : (JSON.stringify(value) ?? "null");
}
