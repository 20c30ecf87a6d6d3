import { createSaver, setUp } from "../../src/storage/mongodb/saver.js";
import { loadMongodbDriver } from "../../src/storage/mongodb/schema.js";
import { openStorage } from "../../src/storage/open.js";
import { withMongodb } from "../helpers/mongodb.js";
import { conformance } from "./conformance.js";
import { storageContract } from "./contract.js";

withMongodb("mongodb contract", (mongodb) => {
  async function open() {
    await mongodb().empty();
    return openStorage(mongodb().options());
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
