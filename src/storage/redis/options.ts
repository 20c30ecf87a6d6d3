import type * as Redis from "redis";
import { ConfigError, StorageUnavailableError } from "../../support/errors.js";
import type { StorageOptions } from "../contract/storage.js";

interface RedisOptions {
  uri: string;
  /** Where it is, safe to print. */
  location: string;
  host: string;
  /** What every key begins with. */
  keyPrefix: string;
  /** How long a thread's checkpoints stay after the last write to it, in milliseconds; for ever when undefined. */
  ttl: number | undefined;
}

const OPTION_NAMES = ["allow_ephemeral_metadata", "key_prefix", "ttl_minutes"];

/**
 * The options of this backend, checked.
 * @throws ConfigError (`config_invalid`)
 */
export function readRedisOptions({
  checkpointer_uri: uri,
  checkpointer_options: options,
}: StorageOptions): RedisOptions {
  const place = uri === undefined || !isRedisUri(uri) ? undefined : redisLocation(uri);
  if (uri === undefined || !place) {
    throw new ConfigError("checkpointer_scheme redis needs a checkpointer_uri that names its server", {
      hint: "set checkpointer_uri to a URI such as redis://user:password@host:6379/0",
    });
  }
  // A pool is what other schemes have; its size comes along with the settings' defaults.
  const { pool_max_size: _, ...own } = options;
  const unknown = Object.keys(own).find((name) => !OPTION_NAMES.includes(name));
  if (unknown !== undefined) throw invalid(unknown, `is not known; known are ${OPTION_NAMES.join(", ")}`);
  assertEphemeralRowsAllowed(options.allow_ephemeral_metadata);
  return { uri, ...place, keyPrefix: prefixOf(options.key_prefix), ttl: ttlOf(options.ttl_minutes) };
}

/** Whoever chooses a server for its durability must not find the threads gone after a restart, unless they said so. */
function assertEphemeralRowsAllowed(value: unknown): void {
  if (value === true) return;
  if (value !== undefined && value !== false) {
    throw invalid("allow_ephemeral_metadata", "must be true or false");
  }
  throw new ConfigError(
    "checkpointer_scheme redis keeps checkpoints only: thread and run rows stay in this process's memory and end with it",
    {
      hint: 'set checkpointer_options to { "allow_ephemeral_metadata": true } to accept that, or use sqlite, postgres or mongodb',
    },
  );
}

/** What every key begins with. @throws ConfigError (`config_invalid`) */
export function prefixOf(value: unknown = "graph-serve:"): string {
  if (typeof value === "string" && !/[{}]/.test(value)) return value;
  throw invalid("key_prefix", "must be a text without braces");
}

function ttlOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const ms = typeof value === "number" ? Math.ceil(value * 60_000) : NaN;
  if (Number.isSafeInteger(ms) && ms > 0) return ms;
  throw invalid("ttl_minutes", "must be a number above 0");
}

const invalid = (name: string, why: string) => new ConfigError(`checkpointer_options.${name} ${why}`);

export type RedisDriver = Pick<typeof Redis, "createClient" | "RESP_TYPES">;

/**
 * The package of this backend, loaded when it is first opened.
 * @throws StorageUnavailableError when it is missing (`storage_unavailable`)
 */
export async function loadRedisDriver(setting = "checkpointer_scheme redis"): Promise<RedisDriver> {
  try {
    const { createClient, RESP_TYPES } = await import("redis");
    return { createClient, RESP_TYPES };
  } catch (cause) {
    throw new StorageUnavailableError(`${setting} needs redis, which does not load`, {
      hint: "run: npm install redis",
      cause,
    });
  }
}

/** Whether `uri` names a Redis server. */
export const isRedisUri = (uri: string): boolean => /^rediss?:\/\//i.test(uri);

/** Where a connection string leads, without user and password; undefined when it is malformed. */
export function redisLocation(uri: string): { location: string; host: string } | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { protocol, hostname, port, pathname } = new URL(uri);
  if (hostname === "" || !/^\/?\d*$/.test(pathname)) return undefined;
  const host = `${hostname}:${port || "6379"}`;
  return { host, location: `${protocol}//${host}${pathname === "/" ? "" : pathname}` };
}
