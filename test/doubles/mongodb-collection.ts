/** The documents of one collection and the updates of MongoDB's plain commands; mingo evaluates queries. */
import { calculateObjectSize, ObjectId, serialize, type Document } from "bson";
import { aggregate, find } from "mingo";
import { update as mingoUpdate } from "mingo/updater";
import { readDocument } from "./mongodb-wire.js";

/** An error in MongoDB's format. */
export class CommandError extends Error {
  readonly code: number;
  readonly details: Document;

  constructor(code: number, message: string, details: Document = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

const MAX_DOCUMENT = 16 * 1024 * 1024;

export interface UpdateResult {
  matched: number;
  modified: number;
  /** The document that was changed or inserted last, before and after. */
  before: Document | null;
  after: Document | null;
  upserted?: unknown;
}

export interface FindOptions {
  sort?: Document;
  skip?: number;
  limit?: number;
  projection?: Document;
}

/** Documents by the text of their `_id`, in the order of their insertion. */
type Documents = Map<string, Document>;

interface UniqueIndex {
  fields: readonly string[];
  /** `_id` of the document that has a key. */
  owners: Map<string, string>;
}

export class Collection {
  readonly #documents: Documents = new Map();
  readonly #unique: UniqueIndex[] = [{ fields: ["_id"], owners: new Map() }];
  /** Documents by the text in the first field of an index: queries for one thread would read all threads. */
  readonly #byField = new Map<string, Map<string, Documents>>();

  addIndex(key: Document, { unique = false }: { unique?: boolean }): void {
    const fields = Object.keys(key);
    const index: UniqueIndex = { fields, owners: new Map() };
    if (unique) this.#unique.push(index);
    const [first = ""] = fields;
    const isNew = !this.#byField.has(first);
    if (isNew) this.#byField.set(first, new Map());
    for (const [id, document] of this.#documents) {
      if (unique) index.owners.set(keyIn(document, fields), id);
      if (isNew) this.#bucket(first, document[first]).set(id, document);
    }
  }

  find(filter: Document, { sort, skip = 0, limit = 0, projection = {} }: FindOptions = {}): Document[] {
    const cursor = find<Document>(this.#candidates(filter), filter, projection);
    if (sort && Object.keys(sort).length > 0) cursor.sort(sort);
    const found = cursor.skip(skip).all();
    return limit > 0 ? found.slice(0, limit) : found;
  }

  aggregate(pipeline: Document[]): Document[] {
    const { $match = {} } = (pipeline[0] ?? {}) as { $match?: Document };
    return aggregate(this.#candidates($match), pipeline);
  }

  insert(document: Document): void {
    const stored: Document = { _id: new ObjectId(), ...document };
    this.#check(stored);
    this.#add(stored);
  }

  delete(filter: Document, limit: number): Document[] {
    const found = this.find(filter, { limit });
    for (const { _id } of found) this.#remove(keyOf(_id));
    return found;
  }

  update(
    filter: Document,
    change: Document,
    { multi = false, upsert = false, sort = {} } = {},
  ): UpdateResult {
    const found = this.find(filter, { sort, limit: multi ? 0 : 1 });
    const result: UpdateResult = { matched: found.length, modified: 0, before: null, after: null };
    for (const document of found) {
      const next = changed(copy(document), change);
      this.#check(next, document._id);
      this.#replace(keyOf(document._id), next);
      Object.assign(result, { before: document, after: next, modified: result.modified + 1 });
    }
    if (found.length > 0 || !upsert) return result;
    const inserted = changed(equalitiesOf(filter), change, true);
    inserted._id ??= new ObjectId();
    this.insert(inserted);
    return { ...result, after: inserted, upserted: inserted._id };
  }

  /** The documents that a query may match. */
  #candidates(filter: Document): Document[] {
    for (const [field, byText] of this.#byField) {
      const wanted: unknown = filter[field];
      // Arrays contain the text that a query compares.
      if (typeof wanted === "string" && !byText.has(OTHER))
        return [...(byText.get(textKey(wanted))?.values() ?? [])];
    }
    return [...this.#documents.values()];
  }

  #bucket(field: string, value: unknown): Documents {
    const byText = this.#byField.get(field) ?? new Map<string, Documents>();
    const key = typeof value === "string" ? textKey(value) : value == null ? EMPTY : OTHER;
    const bucket = byText.get(key) ?? new Map<string, Document>();
    byText.set(key, bucket);
    return bucket;
  }

  #add(document: Document): void {
    const id = keyOf(document._id);
    this.#documents.set(id, document);
    for (const { fields, owners } of this.#unique) owners.set(keyIn(document, fields), id);
    for (const field of this.#byField.keys()) this.#bucket(field, document[field]).set(id, document);
  }

  #remove(id: string): void {
    const document = this.#documents.get(id);
    if (!document) return;
    this.#documents.delete(id);
    for (const { fields, owners } of this.#unique) owners.delete(keyIn(document, fields));
    for (const field of this.#byField.keys()) this.#bucket(field, document[field]).delete(id);
  }

  /** Keeps the place of the document. */
  #replace(id: string, next: Document): void {
    const before = this.#documents.get(id);
    if (!before) return;
    for (const { fields, owners } of this.#unique) owners.delete(keyIn(before, fields));
    for (const field of this.#byField.keys())
      if (before[field] !== next[field]) this.#bucket(field, before[field]).delete(id);
    this.#add(next);
  }

  /** Applies the strictest server limits: field names must not begin with "$", and documents have a maximum size. */
  #check(document: Document, replacedId?: unknown): void {
    if (hasOperatorName(document)) {
      throw new CommandError(52, "The dollar ($) prefixed field is not valid for storage.");
    }
    const size = calculateObjectSize(document);
    if (size > MAX_DOCUMENT) {
      throw new CommandError(10334, `BSONObj size: ${size} is invalid. Size must be between 0 and 16793600`);
    }
    for (const { fields, owners } of this.#unique) {
      const key = keyIn(document, fields);
      const owner = owners.get(key);
      if (owner === undefined || (replacedId !== undefined && owner === keyOf(replacedId))) continue;
      const keyValue = Object.fromEntries(fields.map((field) => [field, document[field] as unknown]));
      throw new CommandError(11000, `E11000 duplicate key error dup key: ${key}`, { keyValue });
    }
  }
}

/** Buckets of documents without the field, and of those with another value than a text. */
const EMPTY = "empty";
const OTHER = "other";
const textKey = (text: string): string => `text ${text}`;

const keyIn = (document: Document, fields: readonly string[]): string =>
  keyOf(fields.map((field) => document[field] as unknown));
const keyOf = (value: unknown): string => JSON.stringify(value) ?? "undefined";
const copy = (document: Document): Document => readDocument(serialize(document));

/** Returns the changed document: a replacement, or the result of update operators. */
function changed(document: Document, change: Document, isInsert = false): Document {
  if (!Object.keys(change).some((name) => name.startsWith("$"))) {
    return { ...(document._id !== undefined && { _id: document._id as unknown }), ...change };
  }
  const { $setOnInsert = {}, ...operators } = change as { $setOnInsert?: Document } & Document;
  if (isInsert && Object.keys($setOnInsert).length > 0) {
    operators.$set = { ...(operators.$set as Document), ...$setOnInsert };
  }
  if (Object.keys(operators).length > 0) mingoUpdate(document, operators, [], {}, { cloneMode: "none" });
  return document;
}

/** Fields of a new document that an upsert takes from its filter. */
function equalitiesOf(filter: Document): Document {
  const plain = Object.entries(filter).filter(
    ([name, value]) => !name.startsWith("$") && !hasOperatorName(value),
  );
  return Object.fromEntries(plain);
}

function hasOperatorName(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasOperatorName);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return false;
  }
  return Object.entries(value).some(([name, entry]) => name.startsWith("$") || hasOperatorName(entry));
}
