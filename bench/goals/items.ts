/** items: searches of the store by query, compared in the server and in the database, against reading the same rows. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Indexes from "../../src/storage/item-index.js";
import type * as Stores from "../../src/storage/item-store.js";
import type * as Storages from "../../src/storage/open.js";
import type { OpenOptions } from "../../src/storage/open.js";
import type { Logger } from "../../src/support/log.js";
import { createSchema } from "../postgres.js";
import type { Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { medianTime } from "../rounds.js";

const ITEMS = 10_000;
const DIMS = 768;
const WRITTEN_AT_ONCE = 100;
/** Items per page of about 1 MB, as the exact scan reads them. */
const PAGE_NUMBERS = 250_000;
const TEXT = "A note of a user, about as long as a paragraph of a chat. ".repeat(5);

/** Milliseconds of one search. */
interface Times {
  floor: number;
  exact: number;
  /** Undefined without an extension of the database. */
  inDatabase?: number;
}

export async function items(goal: string, stage: Stage): Promise<Row[]> {
  const count = stage.scaled(ITEMS, 100);
  const size = { count, dims: DIMS, rounds: stage.options.rounds + 2 };
  const rows: Row[] = [];
  const add = async (
    name: string,
    settings: Pick<OpenOptions, "checkpointer_uri" | "checkpointer_options">,
  ) => {
    const { floor, exact, inDatabase } = await timesOf(
      stage.options.dist,
      { checkpointer_scheme: name, ...settings },
      size,
    );
    const what = `search of ${count} items on ${name}`;
    rows.push(ratioRow([goal, `${what}, in the server`], { floor, ours: exact, unit: "ms" }, { atMost: 2 }));
    if (inDatabase !== undefined)
      rows.push(
        ratioRow([goal, `${what}, in the database`], { floor, ours: inDatabase, unit: "ms" }, { atMost: 1 }),
      );
  };
  await add("memory", { checkpointer_options: {} });
  await add("sqlite", { checkpointer_uri: await stage.file("items.db"), checkpointer_options: {} });
  const postgres = await createSchema();
  if (!postgres) return rows;
  try {
    const { uri, schema } = postgres;
    await add("postgres", { checkpointer_uri: uri, checkpointer_options: { schema } });
  } finally {
    await postgres.drop();
  }
  return rows;
}

/** Stores items, and times reading them and searching them. */
export async function timesOf(
  dist: string,
  storageOptions: Pick<OpenOptions, "checkpointer_scheme" | "checkpointer_uri" | "checkpointer_options">,
  { count, dims, rounds }: { count: number; dims: number; rounds: number },
): Promise<Times> {
  const load = async <T>(path: string) => (await import(pathToFileURL(join(dist, path)).href)) as T;
  const { openStorage } = await load<typeof Storages>("storage/open.js");
  const { ItemIndex } = await load<typeof Indexes>("storage/item-index.js");
  const { ItemStore } = await load<typeof Stores>("storage/item-store.js");
  const storage = await openStorage({ ...storageOptions, max_queued_runs: 1 });
  const table = storage.items;
  if (!table) throw new Error(`${storage.scheme} has no items`);
  try {
    const indexIn = () =>
      new ItemIndex(() => randomEmbedder(dims), { embed: "random", dims, max_scanned_items: count }, SILENT);
    const exact = new ItemStore(table, undefined, indexIn());
    const index = indexIn();
    await index.searchIn(table);
    const search = await table.openVectorSearch?.({ mark: new Uint8Array(4), dims });
    for (let written = 0; written < count; written += WRITTEN_AT_ONCE) await exact.batch(puts(written));
    const searched = (store: typeof exact) => store.search(["notes"], { query: "any", limit: 10 });
    const times: Times = {
      floor: await medianTime(rounds, async () => {
        const at = new Date().toISOString();
        const limit = Math.floor(PAGE_NUMBERS / dims);
        for (let after: { namespace: string; key: string } | undefined; ;) {
          const page = await table.page({ under: "notes", at, limit, after, vectors: true });
          after = page.at(-1);
          if (page.length < limit) return;
        }
      }),
      exact: await medianTime(rounds, () => searched(exact)),
    };
    if (!search || "reason" in search) return times;
    return {
      ...times,
      inDatabase: await medianTime(rounds, () => searched(new ItemStore(table, undefined, index))),
    };
  } finally {
    await storage.close();
  }
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

const puts = (first: number) =>
  Array.from({ length: WRITTEN_AT_ONCE }, (_, at) => ({
    namespace: ["notes", `user-${(first + at) % 100}`],
    key: String(first + at),
    value: { text: `${TEXT}${first + at}` },
  }));

function randomEmbedder(dims: number): Indexes.Embedder {
  const vector = () => Array.from({ length: dims }, () => Math.random() - 0.5);
  return { documents: async (texts) => texts.map(vector), query: async () => vector() };
}
