/** Converts JSON schemas to form fields; unsupported parts become JSON fields. */
import { isRecord, type JsonObject } from "../../src/models/json.js";
import type { PathStep } from "../../src/models/value-path.js";

export interface Shape {
  kind: "text" | "number" | "boolean" | "choice" | "object" | "list" | "any";
  title?: string;
  description?: string;
  isNullable: boolean;
  /** For a number: whether it must be an integer. */
  isWhole?: boolean;
  choices?: readonly unknown[];
  fields?: readonly Field[];
  /** For a list: the shape of its items. */
  item?: Shape;
}

export interface Field {
  name: string;
  shape: Shape;
  isRequired: boolean;
}

const DEEPEST = 6;
const ANY: Shape = { kind: "any", isNullable: false };

/** @param root schema for resolving references */
export function shapeOf(schema: unknown, root: unknown = schema, depth = 0): Shape {
  if (!isRecord(schema) || depth > DEEPEST) return ANY;
  const told = toldOf(schema);
  const { $ref: ref, anyOf, oneOf, allOf } = schema;
  if (typeof ref === "string") return { ...shapeOf(lookedUp(ref, root), root, depth + 1), ...told };
  const single = Array.isArray(allOf) && allOf.length === 1 ? (allOf[0] as unknown) : undefined;
  if (single !== undefined) return { ...shapeOf(single, root, depth + 1), ...told };
  const options = anyOf ?? oneOf;
  if (Array.isArray(options)) return { ...oneOfShapes(options, root, depth), ...told };
  return { ...plainShape(schema, root, depth), ...told };
}

function toldOf({ title, description }: JsonObject): Pick<Shape, "title" | "description"> {
  return {
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
  };
}

function lookedUp(ref: string, root: unknown): unknown {
  const steps = ref.split("/").slice(1);
  return steps.reduce<unknown>(
    (at, step) => (isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined),
    root,
  );
}

/** Supports a nullable type and a choice of constants. Other unions accept any value. */
function oneOfShapes(options: readonly unknown[], root: unknown, depth: number): Shape {
  const isNull = (option: unknown) => isRecord(option) && option.type === "null";
  const others = options.filter((option) => !isNull(option));
  const isNullable = others.length < options.length;
  if (others.length === 1)
    return { ...shapeOf(others[0], root, depth + 1), ...(isNullable && { isNullable }) };
  const constants = others.map((option) => (isRecord(option) ? choicesOf(option) : undefined));
  if (constants.every((values) => values !== undefined))
    return { kind: "choice", isNullable, choices: constants.flat() };
  return { ...ANY, isNullable };
}

const choicesOf = ({ enum: values, const: value }: JsonObject): unknown[] | undefined =>
  Array.isArray(values) ? values : value === undefined ? undefined : [value];

function plainShape(schema: JsonObject, root: unknown, depth: number): Shape {
  const choices = choicesOf(schema);
  if (choices) {
    const isNullable = choices.includes(null);
    return { kind: "choice", isNullable, choices: choices.filter((value) => value !== null) };
  }
  const types = [schema.type].flat();
  const isNullable = types.includes("null");
  const [type, ...more] = types.filter((each) => each !== "null");
  if (more.length > 0) return { ...ANY, isNullable };
  switch (type) {
    case "string":
      return { kind: "text", isNullable };
    case "number":
    case "integer":
      return { kind: "number", isNullable, isWhole: type === "integer" };
    case "boolean":
      return { kind: "boolean", isNullable };
    case "array":
      return listShape(schema, root, depth, isNullable);
    case "object":
      return objectShape(schema, root, depth, isNullable);
    default:
      return { ...ANY, isNullable };
  }
}

function listShape({ items }: JsonObject, root: unknown, depth: number, isNullable: boolean): Shape {
  const item = shapeOf(items, root, depth + 1);
  return item.kind === "any" ? { ...ANY, isNullable } : { kind: "list", isNullable, item };
}

function objectShape(schema: JsonObject, root: unknown, depth: number, isNullable: boolean): Shape {
  const { properties, required } = schema;
  if (!isRecord(properties) || Object.keys(properties).length === 0) return { ...ANY, isNullable };
  const names = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(([name, property]): Field => ({
    name,
    shape: shapeOf(property, root, depth + 1),
    isRequired: names.has(name),
  }));
  return { kind: "object", isNullable, fields };
}

/** Initial value of an added field. */
export function blankOf({ kind, fields = [], choices = [] }: Shape): unknown {
  switch (kind) {
    case "text":
      return "";
    case "number":
      return 0;
    case "boolean":
      return false;
    case "choice":
      return choices[0];
    case "list":
      return [];
    case "object": {
      const needed = fields.filter(({ isRequired }) => isRequired);
      return Object.fromEntries(needed.map(({ name, shape }) => [name, blankOf(shape)]));
    }
    case "any":
      return null;
  }
}

/** Paths of required fields that are not filled in. Lists may be empty. */
export function missingIn(
  { kind, fields = [], item, isNullable }: Shape,
  value: unknown,
  path: readonly PathStep[] = [],
): (readonly PathStep[])[] {
  if (value === null && isNullable) return [];
  if (kind === "list" && item && Array.isArray(value))
    return value.flatMap((each: unknown, index) => missingIn(item, each, [...path, index]));
  if (kind === "object") {
    const given = isRecord(value) ? value : {};
    return fields.flatMap(({ name, shape, isRequired }) =>
      isRequired || given[name] !== undefined ? missingIn(shape, given[name], [...path, name]) : [],
    );
  }
  return kind !== "list" && (value === undefined || value === "") ? [path] : [];
}

/** The value with the required lists and objects that nothing was added to, which a form shows as empty. */
export function withEmpty({ kind, fields = [], item, isNullable }: Shape, value: unknown): unknown {
  if (value === null && isNullable) return value;
  if (kind === "list") return Array.isArray(value) && item ? value.map((each) => withEmpty(item, each)) : [];
  if (kind !== "object") return value;
  const given = isRecord(value) ? value : {};
  const inner = fields
    .filter(({ name, isRequired }) => isRequired || given[name] !== undefined)
    .map(({ name, shape }) => [name, withEmpty(shape, given[name])] as const);
  return { ...given, ...Object.fromEntries(inner) };
}

/** True if the graph accepts a conversation under the key `messages`. */
export function takesMessages(schema: unknown): boolean {
  return isRecord(schema) && isRecord(schema.properties) && "messages" in schema.properties;
}

/** Parses JSON or plain text; undefined if empty. */
export function anyValue(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Inverse of `anyValue`. */
export function anyText(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string" && anyValue(value) === value) return value;
  return JSON.stringify(value, null, typeof value === "object" ? 2 : undefined) ?? "";
}
