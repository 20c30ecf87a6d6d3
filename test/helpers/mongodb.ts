/** A MongoDB-compatible server for tests, or the double. Each test file uses one database, dropped at the end. */
import { randomBytes } from "node:crypto";
import { MongoClient, type Db } from "mongodb";
import { afterAll, beforeAll, describe } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import type { Storage, StorageOptions } from "../../src/storage/contract/storage.js";
import { MongodbDouble } from "../doubles/mongodb-double.js";

const URI_VARIABLE = "GRAPH_SERVE_TEST_MONGODB_URI";
const serverUri = process.env[URI_VARIABLE];

export class TestMongodb {
  readonly database = `test_${randomBytes(6).toString("hex")}`;
  readonly client: MongoClient;
  readonly #server: string;
  readonly #opened: Storage[] = [];

  constructor(server: string) {
    this.#server = server;
    this.client = new MongoClient(server);
  }

  get db(): Db {
    return this.client.db(this.database);
  }

  /** The URI of the server with the database of this file. */
  get uri(): string {
    const [, head = "", query = ""] = /^(mongodb(?:\+srv)?:\/\/[^/?]*)[^?]*(\?.*)?$/.exec(this.#server) ?? [];
    return `${head}/${this.database}${query}`;
  }

  /** Options to open a storage on the database of this file. */
  options(more: Partial<StorageOptions> = {}): StorageOptions {
    return {
      checkpointer_scheme: "mongodb",
      checkpointer_uri: this.uri,
      checkpointer_options: {},
      max_queued_runs: 2,
      ...more,
    };
  }

  /** Opens a storage; `close()` of this class closes it. */
  async open(more: Partial<StorageOptions> = {}): Promise<Storage> {
    const storage = await openStorage(this.options(more));
    this.#opened.push(storage);
    return storage;
  }

  async close(): Promise<void> {
    for (const storage of this.#opened.splice(0)) await storage.close();
  }

  /** Deletes all documents and keeps the indexes. */
  async empty(): Promise<void> {
    for (const { name } of await this.db.listCollections().toArray()) {
      await this.db.collection(name).deleteMany({});
    }
  }

  async drop(): Promise<void> {
    await this.close();
    await this.db.dropDatabase();
    await this.client.close();
  }
}

/**
 * Declares tests of the MongoDB backend on the server at GRAPH_SERVE_TEST_MONGODB_URI, or on the double in
 * test/doubles. If GRAPH_SERVE_REQUIRE_BACKENDS lists mongodb, a real server is required.
 */
export function withMongodb(title: string, declare: (mongodb: () => TestMongodb) => void): void {
  if (serverUri === undefined && process.env.GRAPH_SERVE_REQUIRE_BACKENDS?.split(",").includes("mongodb")) {
    throw new Error(
      `GRAPH_SERVE_REQUIRE_BACKENDS requires mongodb: set ${URI_VARIABLE} to the URI of a server`,
    );
  }
  describe(serverUri === undefined ? `${title} (on a double)` : title, () => {
    let mongodb: TestMongodb;
    let double: MongodbDouble | undefined;
    beforeAll(async () => {
      double = serverUri === undefined ? await MongodbDouble.start() : undefined;
      mongodb = new TestMongodb(serverUri ?? double!.uri);
    });
    afterAll(async () => {
      await mongodb.drop();
      await double?.stop();
    });
    declare(() => mongodb);
  });
}
