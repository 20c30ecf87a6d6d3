import { beforeAll } from "vitest";
import type { Storage } from "../../src/storage/contract/storage.js";
import { createSaver, setUp } from "../../src/storage/mongodb/saver.js";
import { loadMongodbDriver } from "../../src/storage/mongodb/schema.js";
import { withMongodb } from "../helpers/mongodb.js";
import { conformance } from "./conformance.js";
import { storageContract } from "./contract.js";

withMongodb("mongodb contract", (mongodb) => {
  // The tests share a storage: to open one creates all indexes.
  let shared: Storage;
  beforeAll(async () => {
    shared = await mongodb().open();
  });

  async function open(): Promise<Storage> {
    await mongodb().empty();
    return { ...shared, close: async () => undefined };
  }

  storageContract("mongodb", open, { durable: true, comparesHead: "later" });
});

withMongodb("mongodb conformance", (mongodb) => {
  conformance("@langchain/langgraph-checkpoint-mongodb", async () => {
    await mongodb().empty();
    const { client, database } = mongodb();
    const saver = createSaver(await loadMongodbDriver(), client, client.db(database, { timeoutMS: 10_000 }));
    await setUp(saver);
    return saver;
  });
});
