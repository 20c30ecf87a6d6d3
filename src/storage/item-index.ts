/** Semantic search in the long-term memory: embeds items and queries, and ranks items by cosine similarity. */
import type { PutOperation } from "@langchain/langgraph-checkpoint";
import { GraphServeError, InvalidRequestError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import type { Logger } from "../support/log.js";
import { withTimeout } from "../support/pause.js";
import { inPages } from "../support/read-ahead.js";
import type {
  ItemTable,
  NearestQuery,
  RankedItem,
  StoredItem,
  VectorFormat,
  VectorSearch,
} from "./contract/items.js";
import { textsAt } from "./item-texts.js";

/** Embeds texts: one vector per text, in order. */
export interface Embedder {
  documents(texts: string[]): Promise<unknown>;
  query(text: string): Promise<unknown>;
}

interface IndexOptions {
  /** Name of the embedder. Vectors of another one are not compared. */
  embed: string;
  /** Numbers per vector. */
  dims: number;
  /** Paths of the values to embed. Default: the whole value. */
  fields?: readonly string[];
  /** Maximum number of items that a search compares. */
  max_scanned_items?: number;
}

/** An item to embed; `index` overrides the fields, and `false` embeds nothing. */
type Indexed = Pick<PutOperation, "value" | "index">;
type Ranking = Omit<NearestQuery, "vector">;

export const DEFAULT_SCANNED_ITEMS = 20_000;
/** Texts of one item that are embedded. */
const MAX_TEXTS = 100;
const EMBED_TIMEOUT_MS = 60_000;
const BYTES = Float32Array.BYTES_PER_ELEMENT;

/** The format of stored vectors: those of another embedder or of other `dims` have another mark. */
export function formatOf({ embed, dims }: Pick<IndexOptions, "embed" | "dims">): VectorFormat {
  return { mark: new Uint8Array(Uint32Array.of(hashOf(`${embed} ${dims}`)).buffer), dims };
}

/** Items that a search compares in this process. */
export const mostScanned = ({ max_scanned_items }: Pick<IndexOptions, "max_scanned_items">): number =>
  max_scanned_items ?? DEFAULT_SCANNED_ITEMS;

export class ItemIndex {
  readonly #embedder: () => Embedder;
  readonly #options: IndexOptions;
  readonly #logger: Logger;
  readonly #format: VectorFormat;
  #search: VectorSearch | undefined;

  /** @param embedder returns the current one: reloading replaces it */
  constructor(embedder: () => Embedder, options: IndexOptions, logger: Logger) {
    this.#embedder = embedder;
    this.#options = options;
    this.#logger = logger;
    this.#format = formatOf(options);
  }

  /** Search in the database from now on, if it can compare vectors. Logs which search is used. */
  async searchIn(items: ItemTable): Promise<void> {
    const search = await items.openVectorSearch?.(this.#format);
    if (!search) return;
    if ("reason" in search) {
      const scan = `at most ${mostScanned(this.#options)} items are compared in this process`;
      this.#logger.info({}, `store_index: ${scan}, because ${search.reason}`);
      return;
    }
    this.#search = search;
    this.#logger.info({}, `store_index: ${search.name} compares items`);
  }

  /**
   * The vectors of each item to store, undefined for none. If the embedding fails, no item has any, and a warning is logged.
   * @throws InvalidRequestError for an item with too many texts (`invalid_request`)
   * @throws GraphServeError for vectors of another length than `dims` (`embedding_failed`)
   */
  async vectorsOf(items: readonly Indexed[]): Promise<(Uint8Array | undefined)[]> {
    const texts = items.map((item) => this.#textsOf(item));
    const distinct = [...new Set(texts.flat())];
    if (distinct.length === 0) return texts.map(() => undefined);
    let answer: unknown;
    try {
      answer = await this.#call(() => this.#embedder().documents(distinct));
    } catch (error) {
      const items = texts.filter(({ length }) => length > 0).length;
      this.#logger.warn(
        { err: error, items },
        `${errorMessage(error)}: ${items} store items are stored without vectors, and searches by query list them last`,
      );
      return texts.map(() => undefined);
    }
    const found = this.#vectorsIn(answer, distinct.length);
    const vectors = new Map(distinct.map((text, index) => [text, found[index] as Float32Array]));
    return texts.map((each) => this.#encode(each.map((text) => vectors.get(text) as Float32Array)));
  }

  /**
   * The items that pass, most similar first; those without vectors come last, in their order in the storage.
   * @throws GraphServeError if the query cannot be embedded (`embedding_failed`)
   * @throws InvalidRequestError if there are too many items to compare in this process (`invalid_request`)
   */
  async rank(query: string, items: ItemTable, ranking: Ranking): Promise<RankedItem[]> {
    const vector = this.#unit(await this.#call(() => this.#embedder().query(query)));
    const found = await this.#search?.nearest({ ...ranking, vector });
    if (found) return found;
    if (this.#search) {
      const { name } = this.#search;
      this.#search = undefined;
      this.#logger.warn(
        {},
        `store_index: ${name} is gone: items are compared in this process until a restart`,
      );
    }
    return this.#scan(vector, items, ranking);
  }

  /** Compares all items in this process. */
  async #scan(
    vector: Float32Array,
    table: ItemTable,
    { under, at, passes, limit, offset }: Ranking,
  ): Promise<RankedItem[]> {
    const most = mostScanned(this.#options);
    const ranked: RankedItem[] = [];
    let scanned = 0;
    const items = inPages<StoredItem>((after, size) =>
      table.page({ under, at, after, limit: size, vectors: true }),
    );
    for await (const { namespace, key, value, vectors } of items) {
      if (++scanned > most) throw tooMany(most);
      if (passes && !passes(value)) continue;
      ranked.push({ namespace, key, score: vectors && this.#scoreOf(vectors, vector) });
    }
    ranked.sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity) || 0);
    return ranked.slice(offset, offset + limit);
  }

  /** Embeds a text as an item and as a query. @throws GraphServeError (`embedding_failed`) */
  async probe(): Promise<void> {
    this.#vectorsIn(await this.#call(() => this.#embedder().documents(["test"])), 1);
    this.#unit(await this.#call(() => this.#embedder().query("test")));
  }

  #textsOf({ value, index }: Indexed): string[] {
    if (value === null || index === false) return [];
    const fields = index ?? this.#options.fields ?? ["$"];
    const texts = fields.flatMap((path) => textsAt(value, path));
    if (texts.length <= MAX_TEXTS) return texts;
    throw new InvalidRequestError(
      `the indexed fields of a store item have ${texts.length} texts, and at most ${MAX_TEXTS} are embedded`,
    );
  }

  /** What the embedder threw is for the log only: it may contain secrets. */
  async #call(embed: () => Promise<unknown>): Promise<unknown> {
    const { embed: name } = this.#options;
    let answer: { value: unknown } | undefined;
    try {
      const work = Promise.resolve()
        .then(embed)
        .then((value) => ({ value }));
      answer = await withTimeout(EMBED_TIMEOUT_MS, work);
    } catch (cause) {
      throw failed(`${name} failed`, "the server's log has the cause; graph-serve doctor calls it", cause);
    }
    if (answer) return answer.value;
    throw failed(`${name} has not answered within ${EMBED_TIMEOUT_MS / 1000} s`, "try again");
  }

  /** Vectors of length 1, so that their products are cosines. */
  #vectorsIn(answer: unknown, count: number): Float32Array[] {
    if (Array.isArray(answer) && answer.length === count) return answer.map((vector) => this.#unit(vector));
    const got = Array.isArray(answer) ? `${answer.length} vectors` : typeof answer;
    throw failed(
      `${this.#options.embed} returned ${got} for ${count} texts`,
      "return one vector per text: async (texts: string[]) => number[][]",
    );
  }

  #unit(vector: unknown): Float32Array {
    const { dims, embed: name } = this.#options;
    const isVector =
      Array.isArray(vector) || vector instanceof Float32Array || vector instanceof Float64Array;
    const numbers = isVector ? Float64Array.from(vector as ArrayLike<number>) : undefined;
    if (!numbers?.every(Number.isFinite))
      throw failed(
        `${name} returned a vector that is not an array of finite numbers`,
        "return one vector per text: async (texts: string[]) => number[][]",
      );
    if (numbers.length !== dims)
      throw failed(
        `${name} returned vectors of ${numbers.length} numbers, and dims is ${dims}`,
        `set dims to ${numbers.length}, or return vectors of ${dims} numbers`,
      );
    const norm = Math.sqrt(numbers.reduce((sum, number) => sum + number * number, 0));
    return Float32Array.from(numbers, (number) => (norm === 0 ? 0 : number / norm));
  }

  /** Stored as the name of the embedder, hashed, and the numbers of all vectors as 32-bit floats. */
  #encode(vectors: readonly Float32Array[]): Uint8Array | undefined {
    if (vectors.length === 0) return undefined;
    const stored = new Float32Array(1 + vectors.length * this.#options.dims);
    new Uint8Array(stored.buffer).set(this.#format.mark);
    vectors.forEach((vector, index) => stored.set(vector, 1 + index * this.#options.dims));
    return new Uint8Array(stored.buffer);
  }

  /** Similarity to the most similar vector of an item; undefined for vectors of another embedder or other `dims`. */
  #scoreOf(stored: Uint8Array, query: Float32Array): number | undefined {
    const { dims } = this.#options;
    // A typed array must begin at a multiple of 4 bytes.
    const { buffer, byteOffset } = stored.byteOffset % BYTES === 0 ? stored : Uint8Array.from(stored);
    const length = stored.byteLength / BYTES;
    if (!Number.isInteger((length - 1) / dims)) return undefined;
    if (this.#format.mark.some((byte, at) => stored[at] !== byte)) return undefined;
    const numbers = new Float32Array(buffer, byteOffset, length);
    let best = -Infinity;
    for (let start = 1; start < length; start += dims)
      best = Math.max(best, product(numbers.subarray(start, start + dims), query));
    return Math.max(-1, Math.min(1, best));
  }
}

/** In four sums, which the processor adds in parallel: twice as fast as one. */
function product(a: Float32Array, b: Float32Array): number {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  let index = 0;
  for (; index + 3 < a.length; index += 4) {
    first += (a[index] as number) * (b[index] as number);
    second += (a[index + 1] as number) * (b[index + 1] as number);
    third += (a[index + 2] as number) * (b[index + 2] as number);
    fourth += (a[index + 3] as number) * (b[index + 3] as number);
  }
  for (; index < a.length; index += 1) first += (a[index] as number) * (b[index] as number);
  return first + second + third + fourth;
}

function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1)
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) >>> 0;
  return hash;
}

const failed = (message: string, hint: string, cause?: unknown) =>
  new GraphServeError("embedding_failed", `store_index: ${message}`, { hint, cause });

const tooMany = (most: number) =>
  InvalidRequestError.at(
    ["body", "query"],
    `a search by query compares at most ${most} items, and more are below this namespace: search a longer namespace_prefix, or raise store_index.max_scanned_items`,
    "too_many_items",
  );
