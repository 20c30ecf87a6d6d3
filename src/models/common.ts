import {
  Type,
  type SchemaOptions,
  type Static,
  type TObject,
  type TSchema,
  type TUnsafe,
} from "@sinclair/typebox";
import type { JsonObject } from "./json.js";

export { byKey, isRecord, type JsonObject } from "./json.js";

/** A string that must be one of `values`; one plain `enum`, so that a bad value gives one error line. */
export function StringEnum<const T extends readonly string[]>(
  values: T,
  options: SchemaOptions = {},
): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>({ type: "string", enum: [...values], ...options });
}

/** The schema or null. */
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

/** An optional request field; null means the same as leaving it out. */
export const Opt = <T extends TSchema>(schema: T, options: SchemaOptions = {}) =>
  Type.Optional(Nullable(schema, options));

/** Any JSON object. */
export const AnyObject = (options: SchemaOptions = {}): TUnsafe<JsonObject> =>
  Type.Unsafe<JsonObject>({ type: "object", additionalProperties: true, ...options });

/** What an optional `select` of these fields takes. */
export const Selection = <const T extends readonly string[]>(fields: T) =>
  Type.Array(StringEnum(fields), {
    description: "Fields to return; all when left out or empty.",
  });

/** An object of which an answer may hold some fields alone, since `select` asked for these. */
export const Selected = <T extends TObject>(model: T, title: string) =>
  Type.Partial(model, { title, description: `The fields of a ${model.title} that were asked for.` });

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
  description: "Most items to return.",
});
export const Offset = Type.Integer({ minimum: 0, default: 0, description: "Items to skip." });

/** One page of a list. `next` is the offset of the following page, or null on the last one. */
export interface Page<T> {
  items: T[];
  /** Of all pages; null where they were not counted. */
  total: number | null;
  next: number | null;
}

/** As `Page`, its items read while they are taken. */
export interface LazyPage<T> extends Omit<Page<T>, "items"> {
  items: AsyncIterable<T>;
}

const Issue = Type.Object(
  {
    loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
      description: 'Path to the fault, for instance ["body", "limit"].',
    }),
    msg: Type.String({ description: "What is wrong." }),
    type: Type.String({ description: "Stable kind of the fault." }),
  },
  { title: "Issue", description: "One fault of a request." },
);

export const ErrorResponse = Type.Object(
  {
    detail: Type.Union([Type.String(), Type.Array(Issue)], {
      description: "What happened; for a request that does not validate, one entry a fault.",
    }),
    code: Type.String({ description: "Stable code of the error, for instance thread_not_found." }),
    request_id: Type.Optional(
      Type.String({ description: "For server errors: the id to look for in the server's log." }),
    ),
  },
  { title: "ErrorResponse", description: "Body of every answer that reports an error." },
);
