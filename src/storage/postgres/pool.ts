import type { Pool, QueryResultRow } from "pg";
import { type ExplainError, guarded } from "../driver/errors.js";
import { CONNECT_TIMEOUT, type PostgresDriver, type PostgresOptions } from "./options.js";

/** Runs one statement and gives its rows. */
export type Query = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** How long a statement may be overdue at this end: then the connection is given up as dead. */
const GRACE = 1000;

/**
 * The connections that rows and checkpoints share. Nothing of a session is relied on between statements, so that a
 * pooler may hand each transaction to another server process. Errors of the driver surface as `storage_unavailable`;
 * a connection that broke is replaced by the next call.
 */
export class PostgresPool {
  readonly explain: ExplainError;
  readonly #pool: Pool;
  readonly #names: Map<string, string> | undefined;

  constructor({ Pool }: Pick<PostgresDriver, "Pool">, options: PostgresOptions, explain: ExplainError) {
    this.explain = explain;
    this.#names = options.prepare ? new Map() : undefined;
    this.#pool = new Pool({
      connectionString: options.uri,
      max: options.poolSize,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      query_timeout: options.statementTimeout + GRACE,
      ...(options.prepare && { statement_timeout: options.statementTimeout }),
      ...(options.prepare && options.readOnly && { options: "-c default_transaction_read_only=on" }),
      keepAlive: true,
      application_name: "graph-serve",
    });
    // Without a listener the loss of an idle connection would end the process; the pool has dropped it already.
    this.#pool.on("error", () => undefined);
  }

  /** Run a statement that is often used: it is parsed once a connection. */
  readonly query: Query = (text, values = []) => this.#query(text, values, this.#nameOf(text));

  /** Run a statement whose plan depends on its values: it is planned each time. */
  readonly queryOnce: Query = (text, values = []) => this.#query(text, values, undefined);

  /** Run statements on one connection, all or nothing. `timeout` replaces the statements' own, in milliseconds. */
  async transaction<T>(work: (query: Query) => Promise<T>, timeout?: number): Promise<T> {
    return guarded(this.explain, async () => {
      const client = await this.#pool.connect();
      let broken: Error | undefined;
      const onError = (error: Error) => void (broken = error);
      client.on("error", onError);
      const settings = timeout === undefined ? {} : { query_timeout: timeout + GRACE };
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
        // What the transaction did goes with its connection.
        broken ??= error as Error;
        throw error;
      } finally {
        client.removeListener("error", onError);
        client.release(broken);
      }
    });
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #query<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[],
    name: string | undefined,
  ): Promise<Row[]> {
    return guarded(this.explain, async () => {
      const { rows } = await this.#pool.query<Row>({ name, text, values: [...values] });
      return rows;
    });
  }

  #nameOf(text: string): string | undefined {
    if (!this.#names) return undefined;
    const name = this.#names.get(text) ?? `gs_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}
