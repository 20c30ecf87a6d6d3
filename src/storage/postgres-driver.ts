import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Client, ClientConfig, Pool, PoolConfig } from "pg";
import { StorageUnavailableError } from "../errors.js";

export interface PostgresDriver {
  Client: new (config: ClientConfig) => Client;
  Pool: new (config: PoolConfig) => Pool;
  PostgresSaver: typeof PostgresSaver;
}

/**
 * The packages of this backend, loaded when it is first opened.
 * @throws StorageUnavailableError when one is missing (`storage_unavailable`)
 */
export async function loadPostgresDriver(): Promise<PostgresDriver> {
  try {
    const { default: pg } = await import("pg");
    const { PostgresSaver } = await import("@langchain/langgraph-checkpoint-postgres");
    return { Client: pg.Client, Pool: pg.Pool, PostgresSaver };
  } catch (cause) {
    throw new StorageUnavailableError("checkpointer_scheme postgres needs pg, which does not load", {
      hint: "run: npm install pg @langchain/langgraph-checkpoint-postgres",
      cause,
    });
  }
}
