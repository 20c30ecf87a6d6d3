/** LangGraph's store on top of a backend's item table: the long-term memory of graphs. */
import {
  BaseStore,
  type GetOperation,
  InvalidNamespaceError,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { isRecord, type JsonObject } from "../models/common.js";
import { isStorableText, storableJson } from "../models/json.js";
import type { DefaultTtl } from "../models/thread.js";
import { InvalidRequestError } from "../support/errors.js";
import { collect, inPages, readAhead } from "../support/read-ahead.js";
import {
  reasonOf,
  findUnserializable,
  MAX_SERIALIZABLE_DEPTH,
  UnserializableError,
} from "../support/unserializable.js";
import type { ItemIndex } from "./item-index.js";
import { verdictOn } from "./saver/scan.js";
import type { ItemRow, ItemTable, StoredItem } from "./contract/items.js";

const now = (): string => new Date().toISOString();

const MINUTE_MS = 60_000;

/** Expiry time of an item that was written or read at `at`. */
const expiryOf = (at: string, ttlMinutes: number | null): string | null =>
  ttlMinutes === null ? null : new Date(Date.parse(at) + ttlMinutes * MINUTE_MS).toISOString();

/**
 * The stored form of a namespace: its labels joined with dots.
 * @throws InvalidNamespaceError for a label that is not a string, is empty, or contains a dot, NUL or lone surrogate
 */
export function namespaceText(labels: readonly string[]): string {
  for (const label of labels) {
    if (typeof label !== "string" || label === "" || label.includes(".") || !isStorableText(label)) {
      throw new InvalidNamespaceError(
        `namespace label ${JSON.stringify(label)} is not allowed: labels must be non-empty strings without ".", NUL and lone surrogates`,
      );
    }
  }
  return labels.join(".");
}

const labelsOf = (namespace: string): string[] => (namespace === "" ? [] : namespace.split("."));

/** A LangGraph item with its time to live in minutes, counted from the last write or read. */
export interface KeptItem extends Item {
  ttlMinutes: number | null;
  /** Similarity to the query of a search, from -1 to 1. */
  score?: number;
}

const itemOf = ({ namespace, key, value, created_at, updated_at, ttl_minutes }: ItemRow): KeptItem => ({
  namespace: labelsOf(namespace),
  key,
  value,
  createdAt: new Date(created_at),
  updatedAt: new Date(updated_at),
  ttlMinutes: ttl_minutes,
});

const withoutTtl = ({ ttlMinutes: _, ...item }: KeptItem): Item => item;

type Comparison = (have: unknown, want: unknown) => boolean;
const ordered =
  (test: (order: number) => boolean): Comparison =>
  (have, want) => {
    if (typeof have !== typeof want || (typeof have !== "number" && typeof have !== "string")) return false;
    return test(have < (want as typeof have) ? -1 : have === want ? 0 : 1);
  };

const same: Comparison = (have, want) => JSON.stringify(have) === JSON.stringify(want);

/** The operators of LangGraph's store filters. */
const OPERATORS: Record<string, Comparison> = {
  $eq: same,
  $ne: (have, want) => !same(have, want),
  $gt: ordered((order) => order > 0),
  $gte: ordered((order) => order >= 0),
  $lt: ordered((order) => order < 0),
  $lte: ordered((order) => order <= 0),
};

function passes(have: unknown, want: unknown): boolean {
  if (!isRecord(want)) return same(have, want);
  const operators = Object.entries(want).filter(([name]) => Object.hasOwn(OPERATORS, name));
  if (operators.length === 0) return same(have, want);
  return operators.every(([name, operand]) => OPERATORS[name]?.(have, operand));
}

function matchesFilter(value: JsonObject, filter: JsonObject | undefined): boolean {
  return Object.entries(filter ?? {}).every(([key, want]) =>
    passes(Object.hasOwn(value, key) ? value[key] : undefined, want),
  );
}

function matchesPath(labels: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > labels.length) return false;
  const part = matchType === "prefix" ? labels : labels.slice(labels.length - path.length);
  return path.every((label, index) => label === "*" || label === part[index]);
}

function assertKey(key: unknown): asserts key is string {
  if (typeof key !== "string") throw new InvalidRequestError("the key of a store item must be a string");
  if (!isStorableText(key))
    throw new InvalidRequestError("the key of a store item must not contain NUL or lone surrogates");
}

/** The value after a JSON round trip, so that every backend returns the same value. */
function storable(key: unknown, value: JsonObject): JsonObject {
  assertKey(key);
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined && !verdictOn(Buffer.from(text)).isDeep)
      return JSON.parse(storableJson(text)) as JsonObject;
  } catch (error) {
    throw unstorable(key, value, error);
  }
  throw unstorable(key, value);
}

function unstorable(key: string, value: unknown, cause?: unknown): UnserializableError {
  const what =
    cause === undefined
      ? `is nested more than ${MAX_SERIALIZABLE_DEPTH} deep`
      : `cannot be read: ${reasonOf(cause)}`;
  const fault = findUnserializable(value, { name: "value" }) ?? { path: "value", what };
  return new UnserializableError(`store item ${JSON.stringify(key)} cannot be stored`, fault, cause);
}

interface RankedSearch extends Required<Pick<SearchOperation, "limit" | "offset">> {
  under: string;
  at: string;
  filter: JsonObject | undefined;
  refresh: boolean;
}

export class ItemStore extends BaseStore {
  readonly #items: ItemTable;
  readonly #ttl: DefaultTtl["store"];
  readonly #index: ItemIndex | undefined;

  /**
   * @param ttl default for items that are written without a ttl
   * @param index for searches by query; they ignore the query without it
   */
  constructor(items: ItemTable, ttl?: DefaultTtl["store"], index?: ItemIndex) {
    super();
    this.#items = items;
    this.#ttl = ttl;
    this.#index = index;
  }

  /** Whether reading an item renews it, unless the request says otherwise. */
  get #renews(): boolean {
    return this.#ttl?.refresh_on_read ?? true;
  }

  /** Run the operations in order: each sees the writes of the ones before it. One call embeds all items. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    const vectors = this.#index && (await this.#vectorsOf(this.#index, operations));
    for (const operation of operations) results.push(await this.#run(operation, vectors?.get(operation)));
    return results as OperationResults<Op>;
  }

  async #vectorsOf(index: ItemIndex, operations: readonly Operation[]) {
    const puts = operations.filter((operation): operation is PutOperation => "value" in operation);
    const items = puts.map(({ key, value, index: fields }) => ({
      value: value && storable(key, value),
      index: fields,
    }));
    const vectors = await index.vectorsOf(items);
    return new Map<Operation, Uint8Array | undefined>(puts.map((put, at) => [put, vectors[at]]));
  }

  #run(operation: Operation, vectors?: Uint8Array): Promise<unknown> {
    if ("namespacePrefix" in operation) return this.#found(operation);
    if ("value" in operation) return this.#put(operation, vectors);
    if ("key" in operation) return this.#got(operation);
    return this.#list(operation);
  }

  /** Without `ttlMinutes`: graphs get the same fields as from LangGraph's own stores. */
  async #found(operation: SearchOperation): Promise<SearchItem[]> {
    return (await collect(this.find(operation))).map(withoutTtl);
  }

  async #got({ namespace, key }: GetOperation): Promise<Item | null> {
    const item = await this.read(namespace, key);
    return item && withoutTtl(item);
  }

  async read(namespace: string[], key: string, { refresh = this.#renews } = {}): Promise<KeptItem | null> {
    assertKey(key);
    const at = now();
    const row = await this.#items.get(namespaceText(namespace), key, at);
    if (!row) return null;
    if (refresh) await this.#refresh(row, at);
    return itemOf(row);
  }

  /**
   * Store an item.
   * @param ttlMinutes time to live in minutes; null for an item that does not expire. Default: the setting ttl
   * @param index fields to embed instead of the configured ones; false for none
   * @throws UnserializableError for a value that JSON cannot represent (`invalid_request`)
   */
  async write(
    namespace: string[],
    key: string,
    value: JsonObject,
    { ttlMinutes, index }: { ttlMinutes?: number | null; index?: PutOperation["index"] } = {},
  ): Promise<void> {
    const [vectors] = (await this.#index?.vectorsOf([{ value: storable(key, value), index }])) ?? [];
    await this.#store(namespace, key, value, { ttlMinutes, vectors });
  }

  async #store(
    namespace: string[],
    key: string,
    value: JsonObject,
    {
      ttlMinutes = this.#ttl?.minutes ?? null,
      vectors,
    }: { ttlMinutes?: number | null; vectors?: Uint8Array },
  ): Promise<void> {
    const at = now();
    await this.#items.put({
      namespace: namespaceText(namespace),
      key,
      value: storable(key, value),
      updated_at: at,
      ttl_minutes: ttlMinutes,
      expires_at: expiryOf(at, ttlMinutes),
      ...(vectors && { vectors }),
    });
  }

  async #put({ namespace, key, value }: PutOperation, vectors?: Uint8Array): Promise<void> {
    assertKey(key);
    if (value === null) return this.#items.delete(namespaceText(namespace), key);
    return this.#store(namespace, key, value as JsonObject, { vectors });
  }

  /**
   * Like `search`, but streams the items, which may not fit into memory. Without an index, `query` is ignored.
   * @throws as `ItemIndex.rank`
   */
  async *find(operation: SearchOperation & { refresh?: boolean }): AsyncGenerator<KeptItem> {
    const { namespacePrefix, filter, limit = 10, offset = 0, refresh = this.#renews, query } = operation;
    const at = now();
    const under = namespaceText(namespacePrefix);
    if (this.#index && query) {
      yield* this.#ranked(this.#index, query, { under, at, filter, limit, offset, refresh });
      return;
    }
    const items = inPages<StoredItem>((after, size) => this.#items.page({ under, after, limit: size, at }));
    const end = offset + limit;
    let found = 0;
    for await (const item of items) {
      if (found >= end) return;
      if (!matchesFilter(item.value, filter) || ++found <= offset) continue;
      if (refresh) await this.#refresh(item, at);
      yield itemOf(item);
    }
  }

  async *#ranked(
    index: ItemIndex,
    query: string,
    { under, at, filter, limit, offset, refresh }: RankedSearch,
  ): AsyncGenerator<KeptItem> {
    const passes = filter && ((value: JsonObject) => matchesFilter(value, filter));
    const wanted = await index.rank(query, this.#items, { under, at, passes, limit, offset });
    const rows = readAhead(wanted, async ({ namespace, key, score }) => ({
      row: await this.#items.get(namespace, key, at),
      score,
    }));
    for await (const { row, score } of rows) {
      // Deleted or changed since the comparison.
      if (!row || !matchesFilter(row.value, filter)) continue;
      if (refresh) await this.#refresh(row, at);
      yield { ...itemOf(row), ...(score !== undefined && { score }) };
    }
  }

  async #list({
    matchConditions = [],
    maxDepth,
    limit,
    offset,
  }: ListNamespacesOperation): Promise<string[][]> {
    const all = (await this.#items.namespaces(now())).map(labelsOf);
    const matching = all.filter((labels) =>
      matchConditions.every((condition) => matchesPath(labels, condition)),
    );
    const cut = matching.map((labels) => labels.slice(0, maxDepth).join("."));
    return [...new Set(cut)]
      .sort()
      .slice(offset, offset + limit)
      .map(labelsOf);
  }

  /** Reading an item restarts its time to live. */
  async #refresh({ namespace, key, ttl_minutes }: ItemRow, at: string): Promise<void> {
    const expiresAt = expiryOf(at, ttl_minutes);
    if (expiresAt !== null) await this.#items.touch(namespace, key, expiresAt);
  }
}
