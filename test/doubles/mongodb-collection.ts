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

export class Collection {
  #documents: Document[] = [];
  /** Key fields of each unique index. */
  readonly #unique: string[][] = [["_id"]];

  addIndex(key: Document, { unique = false }: { unique?: boolean }): void {
    if (unique) this.#unique.push(Object.keys(key));
  }

  find(filter: Document, { sort, skip = 0, limit = 0, projection = {} }: FindOptions = {}): Document[] {
    const cursor = find<Document>(this.#documents, filter, projection);
    if (sort && Object.keys(sort).length > 0) cursor.sort(sort);
    const found = cursor.skip(skip).all();
    return limit > 0 ? found.slice(0, limit) : found;
  }

  aggregate(pipeline: Document[]): Document[] {
    return aggregate(this.#documents, pipeline);
  }

  insert(document: Document): void {
    const stored: Document = { _id: new ObjectId(), ...document };
    this.#check(stored);
    this.#documents.push(stored);
  }

  delete(filter: Document, limit: number): Document[] {
    const found = this.find(filter, { limit });
    const gone = new Set(found.map(({ _id }) => keyOf(_id)));
    this.#documents = this.#documents.filter(({ _id }) => !gone.has(keyOf(_id)));
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
      const index = this.#documents.findIndex(({ _id }) => keyOf(_id) === keyOf(document._id));
      this.#documents[index] = next;
      Object.assign(result, { before: document, after: next, modified: result.modified + 1 });
    }
    if (found.length > 0 || !upsert) return result;
    const inserted = changed(equalitiesOf(filter), change, true);
    inserted._id ??= new ObjectId();
    this.insert(inserted);
    return { ...result, after: inserted, upserted: inserted._id };
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
    for (const fields of this.#unique) {
      const value = keyOf(fields.map((field) => document[field] as unknown));
      const other = this.#documents.find(
        (one) => keyOf(fields.map((field) => one[field] as unknown)) === value,
      );
      if (!other || (replacedId !== undefined && keyOf(other._id) === keyOf(replacedId))) continue;
      const keyValue = Object.fromEntries(fields.map((field) => [field, document[field] as unknown]));
      throw new CommandError(11000, `E11000 duplicate key error dup key: ${value}`, { keyValue });
    }
  }
}

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
