import { createHash } from "node:crypto";
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Client, ClientConfig, Pool, PoolConfig } from "pg";
import { ConfigError, StorageUnavailableError } from "../../support/errors.js";
import type { StorageOptions } from "../contract/storage.js";

/** How long a connection may take to come about, and a caller waits for a free one, in milliseconds. */
export const CONNECT_TIMEOUT = 10_000;
const STATEMENT_TIMEOUT = 10_000;
/** Connections (docs/specification.md#storage, 6). */
const POOL_SIZE = 10;

export interface PostgresOptions {
  uri: string;
  /** Most connections of the pool; the lock's connection comes on top. */
  poolSize: number;
  /** Schema of all tables, made when it is missing. */
  schema: string;
  /** Longest time of a statement, in milliseconds. */
  statementTimeout: number;
  /**
   * False for a pool behind pgbouncer in transaction mode: no named statements, and no start-up parameters, which
   * pgbouncer refuses; the server then does not watch the statements' time, only this process does.
   */
  prepare: boolean;
  /** Connection string of the lock's connection, which must not go through a pooler. */
  lockUri: string | undefined;
  readOnly: boolean;
}

const OPTION_NAMES = ["pool_max_size", "schema", "statement_timeout_ms", "prepare", "lock_uri"];

/**
 * The options of this backend, checked.
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

/** Where a connection string leads: the parts that are safe to print. */
interface Address {
  /** `host:port`, or the folder of a Unix socket. */
  server: string;
  database: string;
}

/**
 * Where the connection string leads.
 * @throws ConfigError when it is malformed (`config_invalid`); the message does not repeat it
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
    throw new ConfigError(`${setting} is not a valid connection string of PostgreSQL`, {
      hint: "write postgresql://user:password@host:5432/database, special characters percent-encoded",
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
  throw invalid("schema", "must be the name of a schema: 1 to 63 bytes, no quotes");
}

function lockUri(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && isPostgresUri(value)) return value;
  throw invalid("lock_uri", "must be a connection string of PostgreSQL");
}

const invalid = (name: string, why: string) => new ConfigError(`checkpointer_options.${name} ${why}`);

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

/** The 64-bit key of an advisory lock, as decimal text; other users of the database are told apart by it. */
export function lockKey(...parts: readonly string[]): string {
  const text = JSON.stringify(["graph-serve", ...parts]);
  return createHash("sha256").update(text).digest().readBigInt64BE(0).toString();
}

/** The name of a table of `schema` for SQL. */
export const tableIn = (schema: string, table: string): string => `"${schema}".${table}`;

/** Whether `uri` names a PostgreSQL database. */
export const isPostgresUri = (uri: string): boolean => /^postgres(ql)?:\/\//i.test(uri);
