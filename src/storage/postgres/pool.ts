import type { Pool, QueryResultRow } from "pg";
import { type ExplainError, storageError } from "../driver/errors.js";
import { isConflict } from "./errors.js";
import { CONNECT_TIMEOUT, type PostgresDriver, type PostgresOptions } from "./options.js";

/** Runs one statement and returns its rows. */
export type Query = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Milliseconds after the server's statement timeout until a connection counts as dead. */
const GRACE_MS = 1000;
/** Attempts of a statement or transaction that PostgreSQL aborts, for instance as one of those in a deadlock. */
const CONFLICT_ATTEMPTS = 5;

const isRetried = (error: unknown, attempt: number): boolean =>
  attempt < CONFLICT_ATTEMPTS && isConflict(error);

/**
 * The connection pool for rows and checkpoints. It relies on no session state between statements, so a connection pooler
 * may assign each transaction to another server process. Errors of the driver surface as `storage_unavailable`; the next
 * call replaces a broken connection.
 */
export class PostgresPool {
  readonly explain: ExplainError;
  readonly #pool: Pool;
  /** Run a frequent statement: it is parsed once per connection. */
  readonly query: Query;
  /** Run a statement whose plan depends on its values: it is planned for each call. */
  readonly queryOnce = this.#querying();

  constructor({ Pool }: Pick<PostgresDriver, "Pool">, options: PostgresOptions, explain: ExplainError) {
    this.explain = explain;
    this.query = this.#querying(options.prepare ? new Map() : undefined);
    this.#pool = new Pool({
      connectionString: options.uri,
      max: options.poolSize,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      query_timeout: options.statementTimeout + GRACE_MS,
      ...(options.prepare && { statement_timeout: options.statementTimeout }),
      ...(options.prepare && options.readOnly && { options: "-c default_transaction_read_only=on" }),
      keepAlive: true,
      application_name: "graph-serve",
    });
    // Without a listener, the loss of an idle connection would end the process. The pool has already removed it.
    this.#pool.on("error", () => undefined);
  }

  /** Run statements for pg-boss, which handles the driver's errors itself. */
  readonly execute = async (text: string, values: unknown[] = []): Promise<{ rows: unknown[] }> =>
    this.#pool.query({ text, values });

  /**
   * Run statements in one transaction. `timeout`, in milliseconds, overrides the statement timeout. `work` is called again
   * if PostgreSQL aborts the transaction in favor of another one.
   */
  async transaction<T>(work: (query: Query) => Promise<T>, timeout?: number): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#transact(work, timeout);
      } catch (error) {
        if (!isRetried(error, attempt)) throw storageError(error, this.explain);
      }
    }
  }

  async #transact<T>(work: (query: Query) => Promise<T>, timeout: number | undefined): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    const onError = (error: Error) => void (broken = error);
    client.on("error", onError);
    const settings = timeout === undefined ? {} : { query_timeout: timeout + GRACE_MS };
    const query: Query = async (text, values = []) => {
      const { rows } = await client.query({ text, values: [...values], ...settings });
      return rows as never;
    };
    try {
      await query("BEGIN");
      if (timeout !== undefined) await query(`SET LOCAL statement_timeout = ${timeout}`);
      const result = await work(query);
      await query("COMMIT");
      return result;
    } catch (error) {
      // Closing the connection rolls the transaction back.
      broken ??= error as Error;
      throw error;
    } finally {
      client.removeListener("error", onError);
      client.release(broken);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  /** @param names of the statements to parse once per connection */
  #querying(names?: Map<string, string>): Query {
    return async (text, values = []) => {
      const name = names && (names.get(text) ?? `gs_${names.size}`);
      if (name !== undefined) names?.set(text, name);
      for (let attempt = 1; ; attempt += 1) {
        try {
          const { rows } = await this.#pool.query({ name, text, values: [...values] });
          return rows as never;
        } catch (error) {
          if (!isRetried(error, attempt)) throw storageError(error, this.explain);
        }
      }
    };
  }
}
