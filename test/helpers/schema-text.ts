/** Renders JSON schemas as short text for tables in the docs. */
import type { TSchema } from "@sinclair/typebox";

interface Readable {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: TSchema[];
  items?: TSchema;
  format?: string;
  title?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  maxProperties?: number;
}

/** The type of a field. `null` is omitted, because it has the same effect as omitting the field. */
export function typeText(schema: TSchema): string {
  const { type, enum: values, anyOf, items, format, title } = schema as Readable;
  if (title !== undefined) return title;
  if (values) return values.flatMap((value) => (value === null ? [] : [JSON.stringify(value)])).join(", ");
  if (anyOf) return [...new Set(anyOf.filter((each) => each.type !== "null").map(typeText))].join(" or ");
  const [name] = [type ?? []].flat().filter((each) => each !== "null");
  if (name === undefined) return "any";
  if (name === "array") return items ? `list of ${typeText(items)}` : "list";
  if (format === "uuid") return "UUID";
  return [name, rangeText(schema as Readable)].filter(Boolean).join(" ");
}

function rangeText({ minimum, maximum: most, exclusiveMinimum, maxProperties }: Readable): string {
  const maximum = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  const parts = [
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(minimum !== undefined && maximum !== undefined ? [`${minimum} to ${maximum}`] : []),
    ...(minimum !== undefined && maximum === undefined ? [`from ${minimum}`] : []),
    ...(minimum === undefined && maximum !== undefined ? [`to ${maximum}`] : []),
    ...(maxProperties === undefined ? [] : [`of at most ${maxProperties} keys`]),
  ];
  return parts.join(" ");
}

/** The default of a field as JSON; empty if there is none. */
export function defaultText(schema: TSchema): string {
  const value: unknown = schema.default;
  return value === undefined ? "" : `\`${JSON.stringify(value)}\``;
}
