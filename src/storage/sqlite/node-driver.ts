/**
 * The SQLite driver of Node.js (`node:sqlite`, Node 22.13 and later) with the interface of better-sqlite3, as far as this
 * folder uses it. It needs no compiler and no package.
 */
import { existsSync } from "node:fs";
import type { Database, Options } from "better-sqlite3";

type Value = string | number | bigint | null | Uint8Array;
type Row = Record<string, Value>;

interface NodeStatement {
  get(...params: unknown[]): Row | undefined;
  all(...params: unknown[]): Row[];
  run(...params: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
}

interface NodeDatabaseSync {
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
  enableLoadExtension(allow: boolean): void;
  loadExtension(path: string): void;
}

interface NodeSqlite {
  DatabaseSync: new (
    location: string,
    options?: { readOnly?: boolean; allowExtension?: boolean },
  ) => NodeDatabaseSync;
}

/** `node:sqlite`; undefined on a Node.js without it. */
function nodeSqlite(): NodeSqlite | undefined {
  // The first load prints a warning that the module is experimental.
  const emit = Object.getOwnPropertyDescriptor(process, "emitWarning");
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite") as NodeSqlite | undefined;
  } finally {
    if (emit) Object.defineProperty(process, "emitWarning", emit);
  }
}

/** Whether this Node.js has a driver. */
export const hasNodeDriver = (): boolean => nodeSqlite() !== undefined;

/** @throws an error with a code of better-sqlite3, such as SQLITE_CANTOPEN */
export function openNodeSqlite(location: string, options: Options): Database {
  // It has the methods that this folder calls, not all of the type.
  return new NodeDatabase(location, options) as unknown as Database;
}

/** Exported for tests. */
export class NodeDatabase {
  readonly #db: NodeDatabaseSync;
  #isOpen = true;
  /** Number of transactions that are open, one inside the other. */
  #depth = 0;

  constructor(
    location: string,
    { readonly: readOnly = false, fileMustExist = false, timeout = 0 }: Options = {},
  ) {
    const sqlite = nodeSqlite();
    if (!sqlite) throw new Error("this Node.js has no node:sqlite");
    if (fileMustExist && !existsSync(location))
      throw Object.assign(new Error("unable to open database file"), { code: "SQLITE_CANTOPEN" });
    // Node.js refuses to open a database that may load extensions if its permission model is on.
    const allowExtension = process.permission === undefined;
    this.#db = withCodes(() => new sqlite.DatabaseSync(location, { readOnly, allowExtension }));
    if (allowExtension) this.#db.enableLoadExtension(false);
    this.exec(`PRAGMA busy_timeout = ${timeout}`);
  }

  exec(sql: string): this {
    this.#call(() => this.#db.exec(sql));
    return this;
  }

  prepare(sql: string): Statement {
    return new Statement(
      this.#call(() => this.#db.prepare(sql)),
      sql,
      (work) => this.#call(work),
    );
  }

  /** @param options.simple returns only the first value */
  pragma(text: string, { simple = false } = {}): unknown {
    const rows = this.prepare(`PRAGMA ${text}`).all() as Row[];
    return simple ? Object.values(rows[0] ?? {})[0] : rows;
  }

  /** Returns a function that runs `work` in a transaction; inside another transaction, in a savepoint. */
  transaction<Args extends unknown[], Result>(work: (...args: Args) => Result) {
    const begun =
      (begin: string) =>
      (...args: Args): Result =>
        this.#atomic(begin, () => work(...args));
    return Object.assign(begun("BEGIN"), {
      deferred: begun("BEGIN DEFERRED"),
      immediate: begun("BEGIN IMMEDIATE"),
      exclusive: begun("BEGIN EXCLUSIVE"),
    });
  }

  /** SQL can never load extensions: that is allowed only during this call. */
  loadExtension(path: string): this {
    this.#call(() => this.#db.enableLoadExtension(true));
    try {
      this.#call(() => this.#db.loadExtension(path));
    } finally {
      this.#db.enableLoadExtension(false);
    }
    return this;
  }

  close(): this {
    if (this.#isOpen) withCodes(() => this.#db.close());
    this.#isOpen = false;
    return this;
  }

  #atomic<Result>(begin: string, work: () => Result): Result {
    const savepoint = `gs_${this.#depth}`;
    const isOuter = this.#depth === 0;
    this.exec(isOuter ? begin : `SAVEPOINT ${savepoint}`);
    this.#depth += 1;
    try {
      const result = work();
      this.exec(isOuter ? "COMMIT" : `RELEASE ${savepoint}`);
      return result;
    } catch (error) {
      this.#undo(isOuter ? "ROLLBACK" : `ROLLBACK TO ${savepoint}; RELEASE ${savepoint}`);
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  #undo(sql: string): void {
    try {
      this.exec(sql);
    } catch {
      // SQLite has rolled back already, because the disk is full or failed.
    }
  }

  #call<Result>(work: () => Result): Result {
    if (!this.#isOpen) throw new TypeError("The database connection is not open");
    return withCodes(work);
  }
}

class Statement {
  readonly #statement: NodeStatement;
  readonly #call: <Result>(work: () => Result) => Result;
  /** Names of its parameters; Node.js rejects others. */
  readonly #names: ReadonlySet<string>;
  #isPlucked = false;

  constructor(statement: NodeStatement, sql: string, call: <Result>(work: () => Result) => Result) {
    this.#statement = statement;
    this.#call = call;
    this.#names = new Set(Array.from(sql.matchAll(/[@:$]([a-z_]\w*)/gi), ([, name = ""]) => name));
  }

  /** Return the first column instead of rows. */
  pluck(): this {
    this.#isPlucked = true;
    return this;
  }

  get(...params: unknown[]): unknown {
    const row = this.#call(() => this.#statement.get(...this.#bound(params)));
    return row && this.#shown(row);
  }

  all(...params: unknown[]): unknown[] {
    return this.#call(() => this.#statement.all(...this.#bound(params))).map((row) => this.#shown(row));
  }

  run(...params: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    return this.#call(() => this.#statement.run(...this.#bound(params)));
  }

  #bound(params: readonly unknown[]): unknown[] {
    return params.map((param) => {
      if (param === undefined) return null;
      if (typeof param !== "object" || param === null || ArrayBuffer.isView(param)) return param;
      const known = Object.entries(param).filter(([name]) => this.#names.has(name));
      return Object.fromEntries(known.map(([name, value]) => [name, (value as unknown) ?? null]));
    });
  }

  #shown(row: Row): unknown {
    const columns = Object.entries(row).map(([name, value]) => [name, asBuffer(value)] as const);
    return this.#isPlucked ? columns[0]?.[1] : Object.fromEntries(columns);
  }
}

const asBuffer = (value: Value): Value =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;

// Error codes: better-sqlite3 names them, Node.js has their numbers.

const CODES: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  7: "SQLITE_NOMEM",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  15: "SQLITE_PROTOCOL",
  19: "SQLITE_CONSTRAINT",
  26: "SQLITE_NOTADB",
};
const PRIMARY = 0xff;

function withCodes<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const number = (error as { errcode?: unknown }).errcode;
    if (error instanceof Error && typeof number === "number")
      throw Object.assign(error, { code: CODES[number & PRIMARY] ?? "SQLITE_ERROR" });
    throw error;
  }
}
