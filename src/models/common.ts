import type { SchemaOptions, Static, TObject, TSchema, TUnsafe } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import type { JsonObject } from "./json.js";

export { byKey, isMessageLike, isRecord, type JsonObject } from "./json.js";

/** A string that must be one of `values`. A single `enum`, so an invalid value produces only one error. */
export function StringEnum<const T extends readonly string[]>(
  values: T,
  options: SchemaOptions = {},
): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>({ type: "string", enum: [...values], ...options });
}

export function Nullable<T extends TSchema>(
  schema: T,
  options: SchemaOptions = {},
): TUnsafe<Static<T> | null> {
  const { type, enum: values } = schema as { type?: string; enum?: unknown[] };
  if (typeof type === "string" && !schema.title) {
    return Type.Unsafe({
      ...schema,
      ...options,
      type: [type, "null"],
      ...(values && { enum: [...values, null] }),
    });
  }
  const description = options.description ?? schema.description;
  return Type.Unsafe({ anyOf: [schema, { type: "null" }], ...options, ...(description && { description }) });
}

/** An optional request field; null is equivalent to omitting it. */
export const Opt = <T extends TSchema>(schema: T, options: SchemaOptions = {}) =>
  Type.Optional(Nullable(schema, options));

export const AnyObject = (options: SchemaOptions = {}): TUnsafe<JsonObject> =>
  Type.Unsafe<JsonObject>({ type: "object", additionalProperties: true, ...options });

/** Names of the fields of a model, in its order. */
export const fieldsOf = <T extends TObject>(model: T) =>
  Object.keys(model.properties) as (keyof Static<T> & string)[];

/** Schema of an optional `select` of these fields. */
export const Selection = <const T extends readonly string[]>(fields: T) =>
  Type.Array(StringEnum(fields), {
    description: "Fields to return. Default: all.",
  });

/** The model with every field optional, for responses reduced by `select`. */
export const Selected = <T extends TObject>(model: T, title: string) =>
  Type.Partial(model, { title, description: `The selected fields of a ${model.title}.` });

export const Uuid = (description: string) => Type.String({ format: "uuid", description });
export const Timestamp = (description: string) => Type.String({ format: "date-time", description });

export const SORT_ORDERS = ["asc", "desc"] as const;
export const SortOrder = StringEnum(SORT_ORDERS, { description: "Sort direction." });
export type SortOrder = (typeof SORT_ORDERS)[number];

/** `limit` of every list: 1 to 1000, default 10 (docs/specification.md#limits). */
export const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = 1000;
export const Limit = Type.Integer({
  minimum: 1,
  maximum: MAX_LIMIT,
  default: DEFAULT_LIMIT,
  description: "Maximum number of items to return.",
});
export const Offset = Type.Integer({
  ...{ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
  description: "Number of items to skip.",
});

/** One page of a list. `next` is the offset of the next page, or null on the last one. */
export interface Page<T> {
  items: T[];
  /** Number of items over all pages; null if not counted. */
  total: number | null;
  next: number | null;
}

/** A `Page` whose items are read on demand. */
export interface LazyPage<T> extends Omit<Page<T>, "items"> {
  items: AsyncIterable<T>;
}

const Issue = Type.Object(
  {
    loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
      description: 'Path to the invalid value, for example ["body", "limit"].',
    }),
    msg: Type.String({ description: "What is wrong." }),
    type: Type.String({ description: "Stable type of the error." }),
  },
  { title: "Issue", description: "One error in a request." },
);

export const ErrorResponse = Type.Object(
  {
    detail: Type.Union([Type.String(), Type.Array(Issue)], {
      description: "What happened; for an invalid request, one entry per error.",
    }),
    code: Type.String({ description: "Stable code of the error, for example thread_not_found." }),
    request_id: Type.Optional(
      Type.String({ description: "For server errors: the id to search for in the server's log." }),
    ),
  },
  { title: "ErrorResponse", description: "Body of every error response." },
);
