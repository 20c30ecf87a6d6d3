import type { Database, Statement } from "better-sqlite3";
import { guarded } from "../driver/errors.js";
import { explainSqlite } from "./errors.js";
import type { SqliteWriter } from "./writer.js";

/** An open database. Statements are prepared once, and each write is one transaction. */
export class SqliteFile {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #transaction: ReturnType<Database["transaction"]>;
  readonly #writer: SqliteWriter;

  constructor(db: Database, writer: SqliteWriter) {
    this.#db = db;
    this.#transaction = db.transaction((work: () => unknown) => work());
    this.#writer = writer;
  }

  statement(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Run `work`, with SQLite's errors explained. */
  read<T>(work: () => T | Promise<T>): Promise<T> {
    return guarded(explainSqlite, () => this.#writer.read(work) as T | Promise<T>);
  }

  /** Run `work` in its own transaction; see `SqliteWriter.write`. */
  write<T>(work: () => T): Promise<T> {
    return guarded(explainSqlite, () => this.#writer.write(work));
  }

  /** Run `work` on one snapshot: all its statements see the same rows. */
  atOnce<T>(work: () => T): T {
    return this.#transaction.deferred(work) as T;
  }
}
