/** Long-term memory (LangGraph's store) for clients, below a root namespace. */
import { InvalidNamespaceError } from "@langchain/langgraph-checkpoint";
import { InvalidRequestError } from "../support/errors.js";
import { assertPlainData } from "../graphs/coerce.js";
import { toWire } from "../graphs/serialize.js";
import { DEFAULT_LIMIT, type JsonObject } from "../models/common.js";
import type {
  FoundItem,
  StoreDeleteRequest,
  StoreItem,
  StoreNamespacesRequest,
  StorePutRequest,
  StoreSearchRequest,
} from "../models/store.js";
import { type KeptItem, namespaceText, type ItemStore } from "../storage/item-store.js";
import { collect } from "../support/read-ahead.js";
import { assertFilter } from "../context/request-limits.js";

const DEFAULT_NAMESPACES = 100;

export class StoreItems {
  readonly #store: ItemStore;
  readonly #root: readonly string[];

  /** @param root prefix of all namespaces, hidden from callers */
  constructor(store: ItemStore, root: readonly string[] = []) {
    this.#store = store;
    this.#root = root;
  }

  /** @throws InvalidRequestError for an invalid namespace (`invalid_request`) */
  async put({ namespace, key, value, ttl, index }: StorePutRequest): Promise<void> {
    assertNamespace(namespace, ["body", "namespace"]);
    if (namespace.length === 0) throw InvalidRequestError.at(["body", "namespace"], "must not be empty");
    assertPlainData(value, ["body", "value"]);
    await this.#store.write(this.#below(namespace), key, value, {
      ttlMinutes: ttl,
      index: index ?? undefined,
    });
  }

  async get(namespace: string[], key: string, refresh?: boolean): Promise<StoreItem | null> {
    assertNamespace(namespace, ["query", "namespace"]);
    const item = await this.#store.read(this.#below(namespace), key, { refresh });
    return item && this.#model(item);
  }

  async delete({ namespace, key }: StoreDeleteRequest): Promise<void> {
    const labels = namespace ?? [];
    assertNamespace(labels, ["body", "namespace"]);
    await this.#store.delete(this.#below(labels), key);
  }

  async search(request: StoreSearchRequest): Promise<FoundItem[]> {
    return collect(this.walk(request));
  }

  /** Like `search`, but reads items one at a time, for results that do not fit into memory. */
  async *walk(request: StoreSearchRequest): AsyncGenerator<FoundItem> {
    const namespace = request.namespace_prefix ?? [];
    if (request.filter) assertFilter(request.filter, ["body", "filter"]);
    assertNamespace(namespace, ["body", "namespace_prefix"]);
    const items = this.#store.find({
      namespacePrefix: this.#below(namespace),
      limit: request.limit ?? DEFAULT_LIMIT,
      offset: request.offset ?? 0,
      ...(request.refresh_ttl != null && { refresh: request.refresh_ttl }),
      ...(request.filter && { filter: request.filter }),
      ...(request.query != null && { query: request.query }),
    });
    for await (const item of items) yield this.#model(item);
  }

  async namespaces({
    prefix,
    suffix,
    max_depth,
    limit,
    offset,
  }: StoreNamespacesRequest): Promise<string[][]> {
    const namespaces = await this.#store.listNamespaces({
      limit: limit ?? DEFAULT_NAMESPACES,
      offset: offset ?? 0,
      prefix: this.#below(prefix ?? []),
      ...(suffix && { suffix }),
      ...(max_depth && { maxDepth: max_depth + this.#root.length }),
    });
    return namespaces.map((namespace) => namespace.slice(this.#root.length));
  }

  #below(namespace: readonly string[]): string[] {
    return [...this.#root, ...namespace];
  }

  #model(item: KeptItem): FoundItem {
    return itemModel({ ...item, namespace: item.namespace.slice(this.#root.length) });
  }
}

function assertNamespace(namespace: string[], loc: string[]): void {
  try {
    namespaceText(namespace);
  } catch (error) {
    if (error instanceof InvalidNamespaceError) throw InvalidRequestError.at(loc, error.message, "namespace");
    throw error;
  }
}

function itemModel({ namespace, key, value, createdAt, updatedAt, ttlMinutes, score }: KeptItem): FoundItem {
  return {
    namespace,
    key,
    value: toWire(value) as JsonObject,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    ttl_minutes: ttlMinutes,
    ...(score !== undefined && { score }),
  };
}
