import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { AnyObject, Limit, Nullable, Offset, Opt, Timestamp } from "./common.js";
import { MAX_TTL_MINUTES } from "./thread.js";

const Namespace = (description: string) => Type.Array(Type.String(), { description });
const Key = Type.String({ minLength: 1, description: "Key of the item in its namespace." });

const itemFields = {
  namespace: Namespace("Labels of the namespace, outermost first."),
  key: Key,
  value: AnyObject({ description: "The item itself." }),
  created_at: Timestamp("When the item was first written."),
  updated_at: Timestamp("When the item was last written."),
  ttl_minutes: Nullable(Type.Number(), {
    description: "Minutes until the item expires after its last write or read; null for no expiry.",
  }),
};

const StoreItemModel = Type.Object(itemFields, {
  title: "StoreItemModel",
  description: "An item of the long-term memory.",
});
export type StoreItem = Static<typeof StoreItemModel>;

export const StorePutRequest = Type.Object(
  {
    namespace: Namespace("Labels of the namespace; a label must not be empty or contain a dot."),
    key: Key,
    value: AnyObject({ description: "The item itself." }),
    index: Opt(
      Type.Union([Type.Unsafe<false>({ type: "boolean", enum: [false] }), Type.Array(Type.String())]),
      {
        description:
          "Paths of the value to embed for searches by query, such as `text` or `chapters[*].title`; false for none. Default: those of the setting store_index, without which this is ignored.",
      },
    ),
    ttl: Opt(Type.Number({ exclusiveMinimum: 0, maximum: MAX_TTL_MINUTES }), {
      description: "Minutes until the item expires after its last write or read.",
    }),
  },
  { title: "StorePutRequest", description: "An item to write." },
);
export type StorePutRequest = Static<typeof StorePutRequest>;

export const StoreDeleteRequest = Type.Object(
  {
    namespace: Opt(Namespace("Labels of the namespace."), {
      description: "Labels of the namespace. Default: none.",
    }),
    key: Key,
  },
  { title: "StoreDeleteRequest", description: "The item to delete." },
);
export type StoreDeleteRequest = Static<typeof StoreDeleteRequest>;

export const StoreSearchRequest = Type.Object(
  {
    namespace_prefix: Opt(Namespace("Namespace to search, including nested ones."), {
      description: "Namespace to search, including nested ones. Default: all.",
    }),
    filter: Opt(AnyObject(), {
      description: "Values that items must have; supports $eq, $ne, $gt, $gte, $lt and $lte.",
    }),
    limit: Opt(Limit),
    offset: Opt(Offset),
    query: Opt(Type.String(), {
      description:
        "Text to which the items are compared; the most similar ones come first. Ignored without the setting store_index.",
    }),
    refresh_ttl: Opt(Type.Boolean({ default: true }), {
      description: "Whether reading resets the time to live of the found items.",
    }),
  },
  { title: "StoreSearchRequest", description: "Which items to find." },
);
export type StoreSearchRequest = Static<typeof StoreSearchRequest>;

const FoundItem = Type.Object(
  {
    ...itemFields,
    score: Type.Optional(
      Type.Number({
        minimum: -1,
        maximum: 1,
        description:
          "Cosine similarity to the query. Not set without a query, or if the item has no vectors.",
      }),
    ),
  },
  { title: "FoundItem", description: "An item found." },
);
export type FoundItem = Static<typeof FoundItem>;

export const StoreItems = Type.Object(
  {
    items: Type.Array(FoundItem, {
      description: "Items of this page, by similarity to the query, else by namespace and key.",
    }),
  },
  { title: "StoreItems", description: "Items found." },
);

export const StoreNamespacesRequest = Type.Object(
  {
    prefix: Opt(Namespace("First labels."), { description: "First labels; `*` is any label." }),
    suffix: Opt(Namespace("Last labels."), { description: "Last labels; `*` is any label." }),
    max_depth: Opt(Type.Integer({ minimum: 1 }), {
      description: "Maximum number of labels; longer namespaces are truncated.",
    }),
    limit: Opt(Limit, { description: "Maximum number of namespaces to return. Default: 100." }),
    offset: Opt(Offset),
  },
  { title: "StoreNamespacesRequest", description: "Which namespaces to list." },
);
export type StoreNamespacesRequest = Static<typeof StoreNamespacesRequest>;

export const StoreNamespaces = Type.Object(
  { namespaces: Type.Array(Namespace("Labels."), { description: "Namespaces that contain items, sorted." }) },
  { title: "StoreNamespaces", description: "Namespaces found." },
);

export const MaybeStoreItem = Nullable(StoreItemModel, { description: "The item, or null." });
