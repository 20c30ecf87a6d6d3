import type { Database, Statement } from "better-sqlite3";
import { guarded } from "../driver-errors.js";
import { explainSqlite } from "./errors.js";

/** An open database as rows are read and written: each statement is prepared once, each call is one transaction. */
export class SqliteFile {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #transaction: ReturnType<Database["transaction"]>;

  constructor(db: Database) {
    this.#db = db;
    this.#transaction = db.transaction((work: () => unknown) => work());
  }

  statement(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** The result of `work`, with SQLite's errors explained. */
  read<T>(work: () => T | Promise<T>): Promise<T> {
    return guarded(explainSqlite, work);
  }

  /** Takes the write lock at the start: a lock taken after a read fails at once when another process has written. */
  write<T>(work: () => T): Promise<T> {
    return guarded(explainSqlite, () => this.#transaction.immediate(work) as T);
  }

  /** The result of `work`, whose statements see the same rows. */
  atOnce<T>(work: () => T): T {
    return this.#transaction.deferred(work) as T;
  }
}
