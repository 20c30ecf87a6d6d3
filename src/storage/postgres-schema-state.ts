import { loadPostgresDriver, type PostgresDriver } from "./postgres-driver.js";
import { explainPostgres } from "./postgres-errors.js";
import { addressOf, readPostgresOptions } from "./postgres-options.js";
import { PostgresPool } from "./postgres-pool.js";
import { isMissing, SCHEMA_VERSION, versionOf } from "./postgres-schema.js";
import type { SchemaState } from "./schema-state.js";
import type { StorageOptions } from "./storage.js";

/** What the tables of a schema stand at. The official saver numbers its versions from 0; here they begin with 1. */
export async function postgresSchema(storageOptions: StorageOptions): Promise<SchemaState> {
  const options = readPostgresOptions({ ...storageOptions, readOnly: true });
  const driver = await loadPostgresDriver();
  const { server, database } = addressOf(driver, { connectionString: options.uri }, "checkpointer_uri");
  const pool = new PostgresPool(driver, { ...options, poolSize: 1 }, explainPostgres(server));
  try {
    const s = `"${options.schema}"`;
    const has = async (table: string) => !(await isMissing(pool.query, table));
    const rows = (await has(`${s}.gs_schema`)) ? await versionOf(pool.query, `${s}.gs_schema`) : 0;
    const table = `${s}.checkpoint_migrations`;
    const checkpoints = (await has(table)) ? await saverVersion(pool, table) : 0;
    return {
      location: `postgresql://${server}/${database}`,
      parts: [
        { name: "rows", version: rows, wanted: SCHEMA_VERSION },
        { name: "checkpoints", version: checkpoints, wanted: await saverVersions(driver) },
      ],
    };
  } finally {
    await pool.close();
  }
}

async function saverVersion({ query }: PostgresPool, table: string): Promise<number> {
  const [row] = await query<{ v: number | null }>(`SELECT max(v) AS v FROM ${table}`);
  return (row?.v ?? -1) + 1;
}

/** How many versions the installed saver knows: what its set-up would note on an empty schema. */
async function saverVersions({ PostgresSaver }: PostgresDriver): Promise<number> {
  let noted = 0;
  const query = async (text: string) => {
    if (/^\s*INSERT INTO .*checkpoint_migrations/.test(text)) noted += 1;
    return { rows: [] };
  };
  const pool = { connect: async () => ({ query, release: () => undefined }) };
  await new PostgresSaver(pool as never, undefined, { schema: "public" }).setup();
  return noted;
}
