/** Conditions on a state, such as `messages[2].content = "yes"` or `total >= 10`. */
import { parsePath, type PathStep, valueAt } from "../../src/models/value-path.js";
import { entriesOf, pathText } from "../components/tree-rows.js";

type Operator = "!=" | ">=" | "<=" | "==" | "=" | ">" | "<";

export interface Condition {
  path: readonly PathStep[];
  operator: Operator;
  value: unknown;
}

/** Undefined if the text is not a condition. A value that is not JSON is a text. */
export function parseCondition(text: string): Condition | undefined {
  // A quoted key may contain an operator, so the first one after a valid path counts.
  for (const { 0: operator, index } of text.matchAll(/!=|>=|<=|==|[=><]/g)) {
    const path = parsePath(text.slice(0, index).trim());
    const wanted = text.slice(index + operator.length).trim();
    if (path && path.length > 0 && wanted !== "")
      return { path, operator: operator as Operator, value: valueOf(wanted) };
  }
  return undefined;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export const conditionText = (path: readonly PathStep[], value: unknown): string =>
  `${pathText(path)} = ${JSON.stringify(value)}`;

export function holds({ path, operator, value }: Condition, state: unknown): boolean {
  const found = valueAt(state, path);
  if (operator === "=" || operator === "==") return isSame(found, value);
  if (operator === "!=") return !isSame(found, value);
  const order = compare(found, value);
  if (order === undefined) return false;
  return operator[0] === ">"
    ? order > 0 || (order === 0 && operator === ">=")
    : order < 0 || (order === 0 && operator === "<=");
}

function compare(a: unknown, b: unknown): number | undefined {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  return undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  const [mine, other] = [entriesOf(a), entriesOf(b)];
  if (!mine || !other) return a === b;
  const values = new Map(other);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    mine.length === other.length &&
    mine.every(([key, value]) => values.has(key) && isSame(value, values.get(key)))
  );
}
