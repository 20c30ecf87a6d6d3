import { Type } from "../../support/schema-builder.js";
import {
  MaybeStoreItem,
  StoreDeleteRequest,
  StoreItems,
  StoreNamespaces,
  StoreNamespacesRequest,
  StorePutRequest,
  StoreSearchRequest,
} from "../../models/store.js";
import { route } from "../core/route.js";
import { empty, json, list } from "../core/reply.js";

const ItemQuery = Type.Object({
  namespace: Type.Optional(Type.String({ description: "Labels of the namespace, joined by dots." })),
  key: Type.String({ description: "Key of the item." }),
  refresh_ttl: Type.Optional(
    Type.Boolean({ description: "Whether reading resets the item's time to live." }),
  ),
});

export const storeRoutes = [
  route({
    id: "put_item",
    method: "put",
    path: "/store/items",
    tag: "Store",
    summary: "Write an item",
    body: StorePutRequest,
    responses: [{ status: 204, description: "The item is written." }],
    errors: ["embedding_failed"],
    handle: async ({ service, body }) => {
      await service.store.put(body);
      return empty;
    },
  }),
  route({
    id: "get_item",
    method: "get",
    path: "/store/items",
    tag: "Store",
    summary: "Get an item",
    query: ItemQuery,
    responses: [
      { status: 200, description: "The item, or null if it does not exist.", schema: MaybeStoreItem },
    ],
    errors: [],
    handle: async ({ service, query }) => {
      const { namespace = "", key, refresh_ttl } = query;
      return json(await service.store.get(namespace === "" ? [] : namespace.split("."), key, refresh_ttl));
    },
  }),
  route({
    id: "delete_item",
    method: "delete",
    path: "/store/items",
    tag: "Store",
    summary: "Delete an item",
    body: StoreDeleteRequest,
    responses: [{ status: 204, description: "The item is deleted, or did not exist." }],
    errors: [],
    handle: async ({ service, body }) => {
      await service.store.delete(body);
      return empty;
    },
  }),
  route({
    id: "search_items",
    method: "post",
    path: "/store/items/search",
    tag: "Store",
    summary: "Search items",
    body: StoreSearchRequest,
    responses: [{ status: 200, description: "One page of matching items.", schema: StoreItems }],
    errors: ["embedding_failed"],
    handle: ({ service, body }) => list(service.store.walk(body), { head: '{"items":[', tail: "]}" }),
  }),
  route({
    id: "list_namespaces",
    method: "post",
    path: "/store/namespaces",
    tag: "Store",
    summary: "List namespaces",
    body: StoreNamespacesRequest,
    responses: [{ status: 200, description: "Namespaces that contain items.", schema: StoreNamespaces }],
    errors: [],
    handle: async ({ service, body }) => json({ namespaces: await service.store.namespaces(body) }),
  }),
];
