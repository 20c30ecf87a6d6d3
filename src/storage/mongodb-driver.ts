import type { MongoDBSaver } from "@langchain/langgraph-checkpoint-mongodb";
import type { MongoClient, MongoClientOptions } from "mongodb";
import { StorageUnavailableError } from "../errors.js";

export interface MongodbDriver {
  MongoClient: new (uri: string, options: MongoClientOptions) => MongoClient;
  MongoDBSaver: typeof MongoDBSaver;
}

/**
 * The packages of this backend, loaded when it is first opened.
 * @throws StorageUnavailableError when one is missing (`storage_unavailable`)
 */
export async function loadMongodbDriver(): Promise<MongodbDriver> {
  try {
    const { MongoClient } = await import("mongodb");
    const { MongoDBSaver } = await import("@langchain/langgraph-checkpoint-mongodb");
    return { MongoClient, MongoDBSaver };
  } catch (cause) {
    throw new StorageUnavailableError("checkpointer_scheme mongodb needs mongodb, which does not load", {
      hint: "run: npm install mongodb @langchain/langgraph-checkpoint-mongodb",
      cause,
    });
  }
}
