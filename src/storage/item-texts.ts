/**
 * The texts of a store item that are embedded. The paths are those of LangGraph's stores, whose `getTextAtPath` differs
 * between releases and finds nothing for some of them: `$` in a nested value, `parts[*].text`.
 */
import { isRecord } from "../models/common.js";

const TOKEN = /\[[^\]]*\]|\{[^}]*\}|[^.[\]{}]+/g;

/**
 * @param path `$` for the whole value, `a.b`, `a[0]`, `a[-1]`, `a[*].b`, `a.*` or `{a,b.c}`
 * @returns a text per value found; objects and arrays as JSON
 */
export function textsAt(value: unknown, path: string): string[] {
  const [first, ...rest] = path.match(TOKEN) ?? [];
  const tokens = first === undefined || first === "$" ? rest : [first, ...rest];
  let found = [value];
  for (const token of tokens) found = found.flatMap((each) => valuesAt(each, token));
  return found
    .filter((each) => each !== null && each !== undefined)
    .map((each) => (typeof each === "string" ? each : JSON.stringify(each)))
    .filter((text) => text !== "");
}

function valuesAt(value: unknown, token: string): unknown[] {
  const inner = token.slice(1, -1).trim();
  if (token.startsWith("{"))
    return inner.split(",").flatMap((path) => {
      let found = [value];
      for (const name of path.trim().split(".")) found = found.flatMap((each) => valuesAt(each, name));
      return found;
    });
  if (token === "*" || token === "[*]")
    return typeof value === "object" && value !== null ? Object.values(value) : [];
  if (token.startsWith("[")) return Array.isArray(value) ? [value.at(Number(inner))] : [];
  return isRecord(value) && Object.hasOwn(value, token) ? [value[token]] : [];
}
