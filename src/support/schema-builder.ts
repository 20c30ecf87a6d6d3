/**
 * Builds JSON schemas with the types of TypeBox. The package itself consists of 200 modules, which take longer to load
 * than a short command takes in total, so only its types are used.
 */
import type { JavaScriptTypeBuilder, SchemaOptions, TObject, TProperties, TSchema } from "@sinclair/typebox";

type Built = Record<string | symbol, unknown>;

/** Marks optional properties; `Object` leaves them out of `required`. */
const OPTIONAL = Symbol("optional");

const build = (schema: Built, options: SchemaOptions = {}) => ({ ...options, ...schema }) as unknown;

const ofType = (type: string) => (options?: SchemaOptions) => build({ type }, options);

function objectOf(properties: TProperties, options?: SchemaOptions): unknown {
  const required = Object.keys(properties).filter((key) => !(OPTIONAL in (properties[key] ?? {})));
  return build({ type: "object", ...(required.length > 0 && { required }), properties }, options);
}

const optional = (schema: TSchema) => ({ ...schema, [OPTIONAL]: true }) as unknown;

function partial({ properties, required: _, ...rest }: TObject, options?: SchemaOptions): unknown {
  const entries = Object.entries(properties).map(([key, schema]) => [key, optional(schema)]);
  return objectOf(Object.fromEntries(entries) as TProperties, { ...rest, ...options });
}

function intersect(parts: readonly TSchema[], options?: SchemaOptions): unknown {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return build(first as unknown as Built, options);
  const areObjects = parts.every(({ type }) => type === "object");
  return build({ ...(areObjects && { type: "object" }), allOf: parts }, options);
}

/** Matches every key, as in schemas of TypeBox. */
const ANY_KEY = "^(.*)$";

type Builder = Pick<
  JavaScriptTypeBuilder,
  | "Array"
  | "Boolean"
  | "Integer"
  | "Intersect"
  | "Null"
  | "Number"
  | "Object"
  | "Optional"
  | "Partial"
  | "Record"
  | "String"
  | "Union"
  | "Unknown"
  | "Unsafe"
>;

/** Functions of TypeBox's `Type`, with the same results, apart from its symbols. */
export const Type = {
  Array: (items: TSchema, options?: SchemaOptions) => build({ type: "array", items }, options),
  Boolean: ofType("boolean"),
  Integer: ofType("integer"),
  Intersect: intersect,
  Null: ofType("null"),
  Number: ofType("number"),
  Object: objectOf,
  Optional: optional,
  Partial: partial,
  Record: (key: TSchema, value: TSchema, options?: SchemaOptions) =>
    build(
      { type: "object", patternProperties: { [(key.pattern as string | undefined) ?? ANY_KEY]: value } },
      options,
    ),
  String: ofType("string"),
  Union: (anyOf: TSchema[], options?: SchemaOptions) => build({ anyOf }, options),
  Unknown: (options?: SchemaOptions) => build({}, options),
  Unsafe: (schema: Built = {}) => build(schema),
} as unknown as Builder;
