/** A MongoDB-compatible server for tests, else the double; one database a test file, dropped at the end. */
import { randomBytes } from "node:crypto";
import { MongoClient, type Db } from "mongodb";
import { afterAll, beforeAll, describe } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import type { Storage, StorageOptions } from "../../src/storage/storage.js";
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

  /** The server's URI with this file's database as its path. */
  get uri(): string {
    const [, head = "", query = ""] = /^(mongodb(?:\+srv)?:\/\/[^/?]*)[^?]*(\?.*)?$/.exec(this.#server) ?? [];
    return `${head}/${this.database}${query}`;
  }

  /** What a storage on this file's database is opened with. */
  options(more: Partial<StorageOptions> = {}): StorageOptions {
    return {
      checkpointer_scheme: "mongodb",
      checkpointer_uri: this.uri,
      checkpointer_options: {},
      max_queued_runs: 2,
      ...more,
    };
  }

  /** A storage, closed by `close()`. */
  async open(more: Partial<StorageOptions> = {}): Promise<Storage> {
    const storage = await openStorage(this.options(more));
    this.#opened.push(storage);
    return storage;
  }

  async close(): Promise<void> {
    for (const storage of this.#opened.splice(0)) await storage.close();
  }

  /** Delete every document; indexes stay. */
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
 * Declare tests of the MongoDB backend: on the server of GRAPH_SERVE_TEST_MONGODB_URI, else on the double under
 * test/doubles. When GRAPH_SERVE_REQUIRE_BACKENDS lists mongodb, only a server will do.
 */
export function withMongodb(title: string, declare: (mongodb: () => TestMongodb) => void): void {
  if (serverUri === undefined && process.env.GRAPH_SERVE_REQUIRE_BACKENDS?.split(",").includes("mongodb")) {
    throw new Error(`GRAPH_SERVE_REQUIRE_BACKENDS asks for mongodb: set ${URI_VARIABLE}`);
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
