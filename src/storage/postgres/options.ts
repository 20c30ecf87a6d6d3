import { createHash } from "node:crypto";
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Client, ClientConfig, Pool, PoolConfig } from "pg";
import { ConfigError, StorageUnavailableError } from "../../support/errors.js";
import type { StorageOptions } from "../contract/storage.js";

/** Timeout to connect and to wait for a free connection, in milliseconds. */
export const CONNECT_TIMEOUT = 10_000;
/** In milliseconds. */
const STATEMENT_TIMEOUT = 10_000;
/** Default maximum number of connections (docs/specification.md#storage, 6). */
const POOL_SIZE = 10;

export interface PostgresOptions {
  uri: string;
  /** Maximum number of pooled connections, without the connection of the locks. */
  poolSize: number;
  /** Schema of all tables. Created if it does not exist. */
  schema: string;
  /** Statement timeout, in milliseconds. */
  statementTimeout: number;
  /**
   * False for a pool behind pgbouncer in transaction mode: no named statements, and no start-up parameters, which
   * pgbouncer rejects. The statement timeout is then enforced only by this process, not by the server.
   */
  prepare: boolean;
  /** Connection string for the locks, which must not go through a pooler. */
  lockUri: string | undefined;
  readOnly: boolean;
}

const OPTION_NAMES = ["pool_max_size", "schema", "statement_timeout_ms", "prepare", "lock_uri"];

/**
 * Validate the options of this backend.
 * @throws ConfigError (`config_invalid`)
 */
export function readPostgresOptions({
  checkpointer_uri: uri,
  checkpointer_options: options,
  readOnly = false,
}: StorageOptions): PostgresOptions {
  if (!uri || !isPostgresUri(uri)) {
    throw new ConfigError("checkpointer_scheme postgres needs a checkpointer_uri that names its database", {
      hint: "set checkpointer_uri to a URI such as postgresql://user:password@host:5432/database",
    });
  }
  const unknown = Object.keys(options).find((name) => !OPTION_NAMES.includes(name));
  if (unknown !== undefined) throw invalid(unknown, `is not known; known are ${OPTION_NAMES.join(", ")}`);
  return {
    uri,
    poolSize: positive(options, "pool_max_size", POOL_SIZE),
    schema: schemaName(options.schema),
    statementTimeout: positive(options, "statement_timeout_ms", STATEMENT_TIMEOUT),
    prepare: flag(options, "prepare", true),
    lockUri: lockUri(options.lock_uri),
    readOnly,
  };
}

/** The parts of a connection string that are safe to print. */
interface Address {
  /** `host:port`, or the directory of a Unix socket. */
  server: string;
  database: string;
}

/**
 * The address of a connection string.
 * @param setting name of the setting, for the error message
 * @throws ConfigError if it is malformed (`config_invalid`); the message does not contain the connection string
 */
export function addressOf(
  { Client }: Pick<PostgresDriver, "Client">,
  config: ClientConfig,
  setting: string,
): Address {
  try {
    const { host, port, database } = new Client(config);
    return { server: host.startsWith("/") ? host : `${host}:${port}`, database: database ?? "" };
  } catch (cause) {
    throw new ConfigError(`${setting} is not a valid PostgreSQL connection string`, {
      hint: "use postgresql://user:password@host:5432/database, with special characters percent-encoded",
      cause,
    });
  }
}

type Options = StorageOptions["checkpointer_options"];

function positive(options: Options, name: string, fallback: number): number {
  const value = options[name] ?? fallback;
  if (Number.isInteger(value) && (value as number) > 0) return value as number;
  throw invalid(name, "must be a whole number above 0");
}

function flag(options: Options, name: string, fallback: boolean): boolean {
  const value = options[name] ?? fallback;
  if (typeof value === "boolean") return value;
  throw invalid(name, "must be true or false");
}

function schemaName(value: unknown = "public"): string {
  const fits = typeof value === "string" && value !== "" && Buffer.byteLength(value) <= 63;
  if (fits && !value.includes("\0") && !value.includes('"')) return value;
  throw invalid("schema", "must be the name of a schema: 1 to 63 bytes, without quotes");
}

function lockUri(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && isPostgresUri(value)) return value;
  throw invalid("lock_uri", "must be a PostgreSQL connection string");
}

const invalid = (name: string, why: string) => new ConfigError(`checkpointer_options.${name} ${why}`);

export interface PostgresDriver {
  Client: new (config: ClientConfig) => Client;
  Pool: new (config: PoolConfig) => Pool;
  PostgresSaver: typeof PostgresSaver;
}

/**
 * Load the packages of this backend.
 * @throws StorageUnavailableError if one is missing (`storage_unavailable`)
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

/** The 64-bit key of an advisory lock, as a decimal string. Hashed, so that it does not collide with keys of other applications. */
export function lockKey(...parts: readonly string[]): string {
  const text = JSON.stringify(["graph-serve", ...parts]);
  return createHash("sha256").update(text).digest().readBigInt64BE(0).toString();
}

/** The qualified name of a table, for SQL. */
export const tableIn = (schema: string, table: string): string => `"${schema}".${table}`;

export const isPostgresUri = (uri: string): boolean => /^postgres(ql)?:\/\//i.test(uri);
