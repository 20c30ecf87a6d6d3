import type * as Redis from "redis";
import { StorageUnavailableError } from "../errors.js";

export type RedisDriver = Pick<typeof Redis, "createClient" | "RESP_TYPES">;

/**
 * The package of this backend, loaded when it is first opened.
 * @throws StorageUnavailableError when it is missing (`storage_unavailable`)
 */
export async function loadRedisDriver(): Promise<RedisDriver> {
  try {
    const { createClient, RESP_TYPES } = await import("redis");
    return { createClient, RESP_TYPES };
  } catch (cause) {
    throw new StorageUnavailableError("checkpointer_scheme redis needs redis, which does not load", {
      hint: "run: npm install redis",
      cause,
    });
  }
}
