import type * as Redis from "redis";
import { ConfigError, StorageUnavailableError } from "../../support/errors.js";
import type { StorageOptions } from "../contract/storage.js";

interface RedisOptions {
  uri: string;
  /** The URI without user and password. */
  location: string;
  host: string;
  /** Prefix of all keys. */
  keyPrefix: string;
  /** Time to live of a thread's checkpoints after its last write, in milliseconds; unlimited if undefined. */
  ttl: number | undefined;
}

const OPTION_NAMES = ["allow_ephemeral_metadata", "key_prefix", "ttl_minutes"];

/**
 * Validate the options of this backend.
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
  // The settings' defaults always include the pool size, which only other schemes use.
  const { pool_max_size: _, ...own } = options;
  const unknown = Object.keys(own).find((name) => !OPTION_NAMES.includes(name));
  if (unknown !== undefined) throw invalid(unknown, `is not known; known are ${OPTION_NAMES.join(", ")}`);
  assertEphemeralRowsAllowed(options.allow_ephemeral_metadata);
  return { uri, ...place, keyPrefix: prefixOf(options.key_prefix), ttl: ttlOf(options.ttl_minutes) };
}

/** Losing all threads on restart is not expected of a server backend, so users must opt in. */
function assertEphemeralRowsAllowed(value: unknown): void {
  if (value === true) return;
  if (value !== undefined && value !== false) {
    throw invalid("allow_ephemeral_metadata", "must be true or false");
  }
  throw new ConfigError(
    "checkpointer_scheme redis stores only checkpoints: thread and run rows stay in this process's memory and are lost when it ends",
    {
      hint: 'set checkpointer_options to { "allow_ephemeral_metadata": true } to accept that, or use sqlite, postgres or mongodb',
    },
  );
}

/** Validate the prefix of all keys. @throws ConfigError (`config_invalid`) */
export function prefixOf(value: unknown = "graph-serve:"): string {
  if (typeof value === "string" && !/[{}]/.test(value)) return value;
  throw invalid("key_prefix", "must be a string without braces");
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
 * Load the driver package.
 * @param setting the setting that requires it, for the error message
 * @throws StorageUnavailableError if it is missing (`storage_unavailable`)
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

export const isRedisUri = (uri: string): boolean => /^rediss?:\/\//i.test(uri);

/** The address of a connection string, without user and password; undefined if it is malformed. */
export function redisLocation(uri: string): { location: string; host: string } | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { protocol, hostname, port, pathname } = new URL(uri);
  if (hostname === "" || !/^\/?\d*$/.test(pathname)) return undefined;
  const host = `${hostname}:${port || "6379"}`;
  return { host, location: `${protocol}//${host}${pathname === "/" ? "" : pathname}` };
}
