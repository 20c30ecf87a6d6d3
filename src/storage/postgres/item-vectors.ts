/**
 * Embeddings of items in a column of pgvector, so that the database compares them. They repeat the bytes in `gs_items`,
 * which any process may write, with or without pgvector: a trigger removes outdated rows, and searches add missing ones.
 */
import type { NearestQuery, RankedItem, VectorFormat, VectorSearch } from "../contract/items.js";
import { tableIn } from "./options.js";
import type { PostgresPool, Query } from "./pool.js";
import { lockSetUp } from "./schema.js";

/** Most numbers that a column of pgvector can have. */
const PGVECTOR_DIMS = 16_000;
/** Items whose vectors are added in one transaction. */
const BATCH = 200;
/** Filtered items that are read at a time. */
const FETCHED = 100;
const FLOAT = Float32Array.BYTES_PER_ELEMENT;

/** Selects items of the namespace `under` and below. "/" is the character after ".", which ends a label. */
export const belowSql = (under: string): string =>
  `(${under} = '' OR namespace = ${under} OR (namespace > ${under} || '.' AND namespace < ${under} || '/'))`;
/** Selects items that have not expired. */
export const liveSql = (at: string): string => `(expires_at IS NULL OR expires_at > ${at})`;

interface Extension {
  version: string;
  /** Quoted name of the schema that has its type and operators. */
  schema: string;
}

type Scored = RankedItem & { value: never; score: number | null };

export class PostgresVectors {
  readonly #pool: PostgresPool;
  readonly #schema: string;
  readonly #extension: Extension | string;
  readonly #readOnly: boolean;
  /** The formats of the searches. */
  readonly #formats: VectorFormat[] = [];
  #isGone = false;

  private constructor(pool: PostgresPool, schema: string, extension: Extension | string, readOnly: boolean) {
    this.#pool = pool;
    this.#schema = schema;
    this.#extension = extension;
    this.#readOnly = readOnly;
  }

  /** Create the extension and the table, if they are missing and the user may. */
  static async open(pool: PostgresPool, schema: string, readOnly: boolean): Promise<PostgresVectors> {
    const extension = await findOrCreate(pool, readOnly);
    const isReady = readOnly || typeof extension === "string" || (await createTable(pool, schema, extension));
    const usable = isReady ? extension : `the database user may not create tables in the schema ${schema}`;
    return new PostgresVectors(pool, schema, usable, readOnly);
  }

  /** Adds the vectors of items that lack them: a large database takes a while the first time. */
  async search(format: VectorFormat): Promise<VectorSearch | { reason: string }> {
    const extension = this.#extension;
    if (typeof extension === "string") return { reason: extension };
    if (format.dims > PGVECTOR_DIMS) return { reason: `pgvector compares at most ${PGVECTOR_DIMS} numbers` };
    this.#formats.push(format);
    if (!this.#readOnly) await this.#addMissing(format, "");
    return {
      name: `pgvector ${extension.version}`,
      nearest: (query) => this.#orIsGone(() => this.#nearest(extension, format, query)),
    };
  }

  /**
   * Insert an item and its vectors in one statement.
   * @param put inserts the item, with 7 values
   * @returns undefined, and changes nothing, if these vectors cannot be compared
   */
  async put(put: string, values: readonly unknown[], vectors: Uint8Array): Promise<true | undefined> {
    const format = this.#formats.find(({ mark }) => mark.every((byte, at) => byte === vectors[at]));
    if (!format || this.#readOnly) return undefined;
    const sql = `WITH written AS (${put} RETURNING namespace, key)
      INSERT INTO ${this.#table} (namespace, key, seq, mark, embedding)
      SELECT namespace, key, seq, $8, text::${this.#type} FROM written, unnest($9::text[]) WITH ORDINALITY AS v (text, seq)`;
    return this.#orIsGone(async () => {
      await this.#pool.query(sql, [...values, format.mark, textsOf(vectors, format)]);
      return true as const;
    });
  }

  get #table(): string {
    return tableIn(this.#schema, "gs_item_vectors");
  }

  get #type(): string {
    return `${(this.#extension as Extension).schema}.vector`;
  }

  /** Undefined if the extension was dropped; it is then no longer used. */
  async #orIsGone<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#isGone) return undefined;
    try {
      return await work();
    } catch (error) {
      if (!GONE.includes(sqlStateOf(error))) throw error;
      this.#isGone = true;
      return undefined;
    }
  }

  async #nearest({ schema }: Extension, format: VectorFormat, query: NearestQuery): Promise<RankedItem[]> {
    const { under = "", at, vector, passes, limit, offset } = query;
    if (await this.#lacks(format, under)) await this.#addMissing(format, under);
    // The inner product of vectors of length 1 is their cosine; pgvector negates it. A join with all scores would be slow
    // until PostgreSQL has statistics of the new rows; the subquery reads the primary key.
    const sql = `SELECT namespace, key${passes ? ", value" : ""}, (
        SELECT -min(v.embedding OPERATOR(${schema}.<#>) $1::${this.#type}) FROM ${this.#table} AS v
        WHERE v.namespace = items.namespace AND v.key = items.key AND v.mark = $2) AS score
      FROM ${tableIn(this.#schema, "gs_items")} AS items
      WHERE ${belowSql("$3")} AND ${liveSql("$4")} ORDER BY score DESC NULLS LAST, namespace, key`;
    const values = [`[${vector.join(",")}]`, format.mark, under, at];
    if (passes)
      return this.#pool.transaction((run) => firstThatPass(run, sql, values, { passes, limit, offset }));
    const page = `${sql} LIMIT $5 OFFSET $6`;
    return (await this.#pool.queryOnce<Scored>(page, [...values, limit, offset])).map(rankedOf);
  }

  /** Whether items have vectors that only `gs_items` contains. */
  async #lacks(format: VectorFormat, under: string): Promise<boolean> {
    const found = await this.#pool.queryOnce(`SELECT ${this.#missing} LIMIT 1`, missingValues(format, under));
    return found.length > 0;
  }

  async #addMissing(format: VectorFormat, under: string): Promise<void> {
    // The lock keeps others from replacing the items before their vectors are added.
    const sql = `SELECT namespace, key, vectors ${this.#missing} AND (namespace, key) > ($4, $5)
      ORDER BY namespace, key LIMIT ${BATCH} FOR UPDATE OF items`;
    const add = `INSERT INTO ${this.#table} (namespace, key, seq, mark, embedding)
      SELECT namespace, key, seq, $4, text::${this.#type} FROM unnest($1::text[], $2::text[], $3::int[], $5::text[])
        AS v (namespace, key, seq, text) ON CONFLICT DO NOTHING`;
    for (let after = ["", ""]; ;) {
      const items = await this.#pool.transaction(async (query) => {
        const found = await query<{ namespace: string; key: string; vectors: Uint8Array }>(sql, [
          ...missingValues(format, under),
          ...after,
        ]);
        const rows = found.flatMap(({ namespace, key, vectors }) =>
          textsOf(vectors, format).map((text, at) => ({ namespace, key, seq: at + 1, text })),
        );
        const column = (name: "namespace" | "key" | "seq" | "text") => rows.map((row) => row[name]);
        const values = [column("namespace"), column("key"), column("seq"), format.mark, column("text")];
        if (rows.length > 0) await query(add, values);
        return found;
      });
      const last = items.at(-1);
      if (!last || items.length < BATCH) return;
      after = [last.namespace, last.key];
    }
  }

  get #missing(): string {
    return `FROM ${tableIn(this.#schema, "gs_items")} AS items
      WHERE vectors IS NOT NULL AND ${belowSql("$1")} AND substring(vectors FROM 1 FOR 4) = $2
        AND octet_length(vectors) > 4 AND (octet_length(vectors) - 4) % $3 = 0 AND NOT EXISTS (SELECT FROM ${this.#table} AS v
          WHERE v.namespace = items.namespace AND v.key = items.key)`;
  }
}

const missingValues = ({ mark, dims }: VectorFormat, under: string) => [under, mark, dims * FLOAT];

/** Reads the ordered items until enough pass, so that the database compares and sorts them once. */
async function firstThatPass(
  query: Query,
  sql: string,
  values: readonly unknown[],
  { passes, limit, offset }: Required<Pick<NearestQuery, "passes" | "limit" | "offset">>,
): Promise<RankedItem[]> {
  await query(`DECLARE gs_nearest NO SCROLL CURSOR FOR ${sql}`, values);
  const found: RankedItem[] = [];
  for (let size = FETCHED; size === FETCHED && found.length < offset + limit;) {
    const rows = await query<Scored>(`FETCH ${FETCHED} FROM gs_nearest`);
    found.push(...rows.filter(({ value }) => passes(value)).map(rankedOf));
    size = rows.length;
  }
  return found.slice(offset, offset + limit);
}

/** Rounding makes scores exceed 1, and the negated 0 is -0. */
const rankedOf = ({ namespace, key, score }: Scored): RankedItem => ({
  namespace,
  key,
  score: score === null ? undefined : Math.max(-1, Math.min(1, score)) + 0,
});

/** The stored vectors as pgvector's text. */
function textsOf(stored: Uint8Array, { dims, mark }: VectorFormat): string[] {
  const numbers = new Float32Array(Uint8Array.from(stored.subarray(mark.length)).buffer);
  return Array.from(
    { length: numbers.length / dims },
    (_, at) => `[${numbers.subarray(at * dims, (at + 1) * dims).join(",")}]`,
  );
}

/** Returns the extension `vector`, or why it cannot be used. */
async function findOrCreate(pool: PostgresPool, readOnly: boolean): Promise<Extension | string> {
  const found = await find(pool);
  if (found) return found;
  const [available] = await pool.queryOnce(
    "SELECT FROM pg_catalog.pg_available_extensions WHERE name = 'vector'",
  );
  if (!available)
    return "the database server has no pgvector: install it, run CREATE EXTENSION vector and restart";
  if (readOnly)
    return "the database does not have the extension vector yet: a server creates it at its start";
  // Another process may create it at the same time.
  await pool.queryOnce("CREATE EXTENSION IF NOT EXISTS vector").catch(() => undefined);
  return (
    (await find(pool)) ??
    "the database user may not create the extension vector: run CREATE EXTENSION vector as a superuser and restart"
  );
}

async function find(pool: PostgresPool): Promise<Extension | undefined> {
  const sql = `SELECT extversion AS version, quote_ident(nspname) AS schema
    FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace AS n ON n.oid = extnamespace WHERE extname = 'vector'`;
  return (await pool.queryOnce<Extension>(sql))[0];
}

/** Returns false if the user may not create it. Dropping the extension leaves the table without its column. */
async function createTable(pool: PostgresPool, schema: string, extension: Extension): Promise<boolean> {
  const table = tableIn(schema, "gs_item_vectors");
  const hasColumn = `SELECT FROM pg_catalog.pg_attribute
    WHERE attrelid = to_regclass($1) AND attname = 'embedding' AND NOT attisdropped`;
  if ((await pool.queryOnce(hasColumn, [table])).length > 0) return true;
  try {
    await pool.transaction(async (query) => {
      await lockSetUp(query, schema);
      if ((await query(hasColumn, [table])).length > 0) return;
      await query(tableSql(`"${schema}"`, extension));
    });
    return true;
  } catch (error) {
    if (sqlStateOf(error) === INSUFFICIENT_PRIVILEGE) return false;
    throw error;
  }
}

/** The trigger tolerates a missing table: a backup may have been restored into a database without pgvector. */
const tableSql = (s: string, extension: Extension): string => `
  DROP TABLE IF EXISTS ${s}.gs_item_vectors;
  CREATE TABLE ${s}.gs_item_vectors (
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    mark bytea NOT NULL,
    embedding ${extension.schema}.vector NOT NULL,
    PRIMARY KEY (namespace, key, seq),
    FOREIGN KEY (namespace, key) REFERENCES ${s}.gs_items ON DELETE CASCADE
  );
  CREATE OR REPLACE FUNCTION ${s}.gs_item_vectors_outdated() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF to_regclass('${s.replaceAll("'", "''")}.gs_item_vectors') IS NOT NULL THEN
      DELETE FROM ${s}.gs_item_vectors WHERE namespace = NEW.namespace AND key = NEW.key;
    END IF;
    RETURN NEW;
  END $$;
  DROP TRIGGER IF EXISTS gs_item_vectors_outdated ON ${s}.gs_items;
  CREATE TRIGGER gs_item_vectors_outdated BEFORE UPDATE OF vectors ON ${s}.gs_items
    FOR EACH ROW EXECUTE FUNCTION ${s}.gs_item_vectors_outdated();`;

// Errors of PostgreSQL by SQLSTATE.

const INSUFFICIENT_PRIVILEGE = "42501";
/** No such table, column, type or operator. */
const GONE = ["42P01", "42703", "42704", "42883"];

function sqlStateOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return String(cause?.code);
}
