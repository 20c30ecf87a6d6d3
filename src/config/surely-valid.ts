/**
 * Recognizes valid settings without ajv, whose modules take longer to load than a short command takes in total. Errors,
 * and schemas with other keywords, are left to ajv.
 */
type Schema = Readonly<Record<string, unknown>>;

/** Keywords that do not restrict values. */
const ANNOTATIONS = ["title", "description", "default", "deprecated"];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  array: Array.isArray,
  object: isObject,
};

type Check = (limit: never, value: never, schema: Schema) => boolean;

/** Checks of values that have the schema's type. */
const CHECKS: Readonly<Record<string, Check>> = {
  type: (types: string | string[], value: unknown) => [types].flat().some((type) => TYPES[type]?.(value)),
  enum: (values: unknown[], value: unknown) => values.includes(value),
  minimum: (limit: number, value: number) => value >= limit,
  maximum: (limit: number, value: number) => value <= limit,
  exclusiveMinimum: (limit: number, value: number) => value > limit,
  minLength: (limit: number, value: string) => Array.from(value).length >= limit,
  pattern: (pattern: string, value: string) => new RegExp(pattern, "u").test(value),
  minItems: (limit: number, value: unknown[]) => value.length >= limit,
  items: (items: Schema, value: unknown[]) => value.every((item) => isSurelyValid(items, item)),
  anyOf: (schemas: Schema[], value: unknown) => schemas.some((schema) => isSurelyValid(schema, value)),
  required: (names: string[], value: object) => names.every((name) => Object.hasOwn(value, name)),
  properties: (properties: Record<string, Schema>, value: object) =>
    Object.entries(value).every(([key, field]) => {
      const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
      return schema === undefined || isSurelyValid(schema, field);
    }),
  patternProperties: (patterns: Record<string, Schema>, value: object) =>
    Object.entries(value).every(([key, field]) =>
      Object.entries(patterns).every(
        ([pattern, schema]) => !new RegExp(pattern, "u").test(key) || isSurelyValid(schema, field),
      ),
    ),
  additionalProperties: (allowed: unknown, value: object, { properties = {} }) =>
    allowed === true ||
    (allowed === false && Object.keys(value).every((key) => Object.hasOwn(properties as object, key))),
};

/** True only if the value is valid; false if it is not, or if only ajv can decide. */
export function isSurelyValid(schema: Schema, value: unknown): boolean {
  const keywords = Object.keys(schema).filter((keyword) => !ANNOTATIONS.includes(keyword));
  const isTyped = keywords.every((keyword) => keyword === "anyOf") || "type" in schema;
  // The type comes first, because the other checks rely on it.
  const ordered = keywords.sort((a, b) => Number(b === "type") - Number(a === "type"));
  return (
    isTyped &&
    ordered.every((keyword) => CHECKS[keyword]?.(schema[keyword] as never, value as never, schema) ?? false)
  );
}
