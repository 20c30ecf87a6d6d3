import { isRecord } from "../../models/common.js";
import { alternatives, type SchemaNode } from "./resolve.js";

const MOST_ALTERNATIVES = 6;

/** A type in a few words: `string`, `number | null`, `"a" | "b"`, `string[]`. */
export function describeType(node: SchemaNode): string {
  const names = alternatives(node).map((schema) => {
    if ("const" in schema) return JSON.stringify(schema.const);
    const { type, items } = schema;
    if (type === "array")
      return isRecord(items) ? `${grouped(describeType({ schema: items, root: node.root }))}[]` : "array";
    return typeof type === "string" ? `${type}${boundsOf(schema)}` : "any";
  });
  const shown = [...new Set(names)];
  const more = shown.length > MOST_ALTERNATIVES ? ` | ${shown.length - MOST_ALTERNATIVES} more` : "";
  return shown.slice(0, MOST_ALTERNATIVES).join(" | ") + more;
}

const grouped = (name: string): string => (name.includes(" | ") ? `(${name})` : name);

const BOUNDS = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format"];

function boundsOf(schema: Readonly<Record<string, unknown>>): string {
  const bounds = BOUNDS.filter((key) => schema[key] !== undefined).map(
    (key) => `${key} ${JSON.stringify(schema[key])}`,
  );
  return bounds.length > 0 ? ` (${bounds.join(", ")})` : "";
}
