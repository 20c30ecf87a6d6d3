/** The commands that the double supports: plain reads and writes. Other commands are rejected with an error. */
import { Long, type Document } from "bson";
import { Collection, CommandError } from "./mongodb-collection.js";

const FIRST_BATCH = 101;

type Handler = (command: Document, database: string) => Document;

export class Databases {
  readonly #collections = new Map<string, Collection>();
  readonly #cursors = new Map<number, { namespace: string; left: Document[] }>();
  #lastCursor = 0;

  readonly #handlers: Record<string, Handler> = {
    hello: () => greeting(),
    isMaster: () => greeting(),
    ismaster: () => greeting(),
    ping: () => ({}),
    buildInfo: () => ({ version: "7.0.0-double" }),
    endSessions: () => ({}),
    killCursors: ({ cursors }) => {
      for (const id of cursors as (Long | number)[]) this.#cursors.delete(Number(id));
      return { cursorsKilled: cursors as unknown };
    },
    listCollections: (_command, database) => this.#firstBatch(`${database}.$cmd`, this.#names(database), {}),
    drop: ({ drop }, database) => {
      if (!this.#collections.delete(`${database}.${drop}`)) throw new CommandError(26, "ns not found");
      return {};
    },
    dropDatabase: (_command, database) => {
      for (const { name } of this.#names(database)) this.#collections.delete(`${database}.${name}`);
      return {};
    },
    createIndexes: (command, database) => {
      const collection = this.#collection(database, command.createIndexes);
      for (const index of command.indexes as { key: Document; unique?: boolean }[]) {
        collection.addIndex(index.key, index);
      }
      return {};
    },
    insert: (command, database) => {
      const collection = this.#collection(database, command.insert);
      return eachWrite(command.documents as Document[], (document) => {
        collection.insert(document);
        return { n: 1 };
      });
    },
    update: (command, database) => {
      const collection = this.#collection(database, command.update);
      return eachWrite(command.updates as Document[], ({ q, u, multi, upsert }, index) => {
        const done = collection.update(q as Document, u as Document, {
          multi: multi as boolean,
          upsert: upsert as boolean,
        });
        if (done.upserted === undefined) return { n: done.matched, nModified: done.modified };
        return { n: 1, nModified: 0, upserted: [{ index, _id: done.upserted }] };
      });
    },
    delete: (command, database) => {
      const collection = this.#collection(database, command.delete);
      return eachWrite(command.deletes as Document[], ({ q, limit }) => ({
        n: collection.delete(q as Document, Number(limit)).length,
      }));
    },
    findAndModify: ({ findAndModify, query = {}, update, remove, sort, upsert, new: isNew }, database) => {
      const collection = this.#collection(database, findAndModify);
      if (remove) return { value: collection.delete(query as Document, 1)[0] ?? null };
      const done = collection.update(query as Document, update as Document, {
        upsert: upsert as boolean,
        sort: sort as Document,
      });
      return { value: isNew ? done.after : done.before };
    },
    count: ({ count, query = {} }, database) => ({
      n: this.#collection(database, count).find(query as Document).length,
    }),
    find: (command, database) => {
      const found = this.#collection(database, command.find).find(
        (command.filter ?? {}) as Document,
        command,
      );
      return this.#firstBatch(`${database}.${command.find}`, found, command);
    },
    aggregate: (command, database) => {
      const found = this.#collection(database, command.aggregate).aggregate(command.pipeline as Document[]);
      return this.#firstBatch(`${database}.${command.aggregate}`, found, command.cursor as Document);
    },
    getMore: ({ getMore, batchSize }) => {
      const id = Number(getMore);
      const cursor = this.#cursors.get(id);
      if (!cursor) throw new CommandError(43, `cursor id ${id} not found`);
      const nextBatch = cursor.left.splice(0, Number(batchSize ?? cursor.left.length));
      if (cursor.left.length === 0) this.#cursors.delete(id);
      const next = cursor.left.length === 0 ? 0 : id;
      return { cursor: { id: Long.fromNumber(next), ns: cursor.namespace, nextBatch } };
    },
  };

  /** Returns the response to a command; a failure is a response too. */
  run(command: Document): Document {
    const [name = ""] = Object.keys(command);
    const handler = this.#handlers[name];
    try {
      if (!handler) throw new CommandError(59, `no such command: '${name}'`);
      return { ...handler(command, String(command.$db ?? "admin")), ok: 1 };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return { ok: 0, code: error.code, errmsg: error.message, ...error.details };
    }
  }

  #collection(database: string, name: unknown): Collection {
    const namespace = `${database}.${String(name)}`;
    const collection = this.#collections.get(namespace) ?? new Collection();
    this.#collections.set(namespace, collection);
    return collection;
  }

  #names(database: string): { name: string; type: string }[] {
    const prefix = `${database}.`;
    return [...this.#collections.keys()]
      .filter((namespace) => namespace.startsWith(prefix))
      .map((namespace) => ({ name: namespace.slice(prefix.length), type: "collection" }));
  }

  #firstBatch(ns: string, found: Document[], { batchSize, singleBatch }: Document): Document {
    const firstBatch = found.slice(0, Number(batchSize ?? FIRST_BATCH));
    const left = singleBatch ? [] : found.slice(firstBatch.length);
    const id = left.length > 0 ? (this.#lastCursor += 1) : 0;
    if (id > 0) this.#cursors.set(id, { namespace: ns, left });
    return { cursor: { id: Long.fromNumber(id), ns, firstBatch } };
  }
}

const greeting = (): Document => ({
  helloOk: true,
  ismaster: true,
  isWritablePrimary: true,
  maxBsonObjectSize: 16 * 1024 * 1024,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  localTime: new Date(),
  minWireVersion: 0,
  maxWireVersion: 21,
  readOnly: false,
});

/** Applies writes in order and stops at the first failure. */
function eachWrite(
  writes: Document[],
  write: (one: Document, index: number) => { n: number; nModified?: number; upserted?: Document[] },
): Document {
  const total = { n: 0, nModified: 0, upserted: [] as Document[] };
  for (const [index, one] of writes.entries()) {
    try {
      const done = write(one, index);
      total.n += done.n;
      total.nModified += done.nModified ?? 0;
      total.upserted.push(...(done.upserted ?? []));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return answerOf(total, [{ index, code: error.code, errmsg: error.message, ...error.details }]);
    }
  }
  return answerOf(total, []);
}

function answerOf({ upserted, ...total }: { upserted: Document[] }, writeErrors: Document[]): Document {
  return {
    ...total,
    ...(upserted.length > 0 && { upserted }),
    ...(writeErrors.length > 0 && { writeErrors }),
  };
}
