/** Semantic search inside the database, with sqlite-vec and pgvector: the same results as the exact scan. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, it, onTestFinished, vi } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import type { Settings } from "../../src/config/settings.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { newId } from "../../src/support/ids.js";
import { randomOf } from "../chaos/random.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer } from "../helpers/app.js";
import { type Backend, keptStorage } from "../helpers/backends.js";
import { newSeed } from "../helpers/seeds.js";
import { recordingLogger } from "../helpers/service.js";
import { byHeader } from "../helpers/two-users.js";
import {
  onVectorSearch,
  type PgvectorDatabase,
  withoutVectorSearch,
  withPgvector,
} from "../helpers/vector-backends.js";

const FIXTURES = fileURLToPath(new URL("../fixtures/embeddings", import.meta.url));
const quarters = (more: Partial<Settings["store_index"]> = {}): Partial<Settings> => ({
  store_index: { dims: 64, embed: `${FIXTURES}/quarters.ts:embed`, fields: ["texts[*]"], ...more },
});

interface Found {
  items: { namespace: string[]; key: string; score?: number }[];
}

type Options = Partial<Omit<Parameters<typeof startTestServer>[0], "graphs">>;

async function start(storage: Storage, options: Options = {}) {
  const logger = recordingLogger();
  const server = await startTestServer({
    graphs: { chat },
    settings: quarters(),
    logger,
    storage,
    ...options,
  });
  const search = async (body: object, headers?: Record<string, string>) => {
    const answer = await server.request("POST", "/store/items/search", body, headers);
    expect(answer.status, answer.text).toBe(200);
    return (answer.body as Found).items.map(({ namespace, key, score }) => ({ namespace, key, score }));
  };
  const put = async (
    namespace: string[],
    key: string,
    texts: string[],
    more: object = {},
    headers?: Record<string, string>,
  ) => {
    const { index, ttl, ...value } = more as { index?: false; ttl?: number };
    const item = {
      namespace,
      key,
      value: { texts, ...value },
      ...(ttl && { ttl }),
      ...(index === false && { index }),
    };
    expect((await server.request("PUT", "/store/items", item, headers)).status).toBe(204);
  };
  const remove = (namespace: string[], key: string) =>
    server.request("DELETE", "/store/items", { namespace, key });
  return { server, logger, search, put, remove };
}

/** Two servers on one storage: one searches in the database, and the other compares all items itself. */
async function both(backend: Backend) {
  const storage = await keptStorage(backend);
  return { storage, fast: await start(storage), exact: await start(withoutVectorSearch(storage)) };
}

const ITEMS = 150;
const QUERIES = 50;
const NAMESPACES = [["a"], ["a", "b"], ["ab"], ["a", "b", "c"], ["a/"], ["b"], ["é", "\u{1F600}"], ["é"]];
const WORDS = Array.from({ length: 40 }, (_, index) => (index === 0 ? "zero" : `word ${index}`));

onVectorSearch("vector search", (backend) => {
  const seed = newSeed();
  it(`${QUERIES} random searches of ${ITEMS} items have the results of the exact scan (seed ${seed})`, async () => {
    const { fast, exact } = await both(backend());
    const random = randomOf(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const root = newId();
    const keys = Array.from({ length: ITEMS }, (_, index) => `${pick(["x", "é", "\u{1F600}"])}${index}`);
    const placed = keys.map((key) => [[root, ...pick(NAMESPACES)], key] as const);
    const write = async ([namespace, key]: (typeof placed)[number]) => {
      const texts = Array.from({ length: Math.floor(random() * 4) }, () => pick(WORDS));
      const ttl = random() < 0.1 ? 1 : undefined;
      const index = random() < 0.1 ? false : undefined;
      await fast.put([...namespace], key, texts, {
        color: pick(["red", "blue"]),
        size: Math.floor(random() * 5),
        ttl,
        index,
      });
    };
    for (const each of placed) await write(each);
    for (const each of placed) if (random() < 0.2) await write(each);
    for (const [namespace, key] of placed) if (random() < 0.1) await fast.remove([...namespace], key);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120_000 });
    try {
      let compared = 0;
      for (let query = 0; query < QUERIES; query += 1) {
        const filter = pick([
          undefined,
          {},
          { color: "red" },
          { size: { $gte: 3 }, color: { $ne: "red" } },
          { size: 9 },
        ]);
        const body = {
          namespace_prefix: [root, ...pick([[], ...NAMESPACES])],
          query: pick(WORDS),
          limit: pick([1, 5, 10, 100]),
          offset: pick([0, 0, 1, 17, ITEMS - 20]),
          refresh_ttl: false,
          ...(filter && { filter }),
        };
        const found = await fast.search(body);
        expect(found, JSON.stringify(body)).toEqual(await exact.search(body));
        compared += found.length;
      }
      expect(compared).toBeGreaterThan(QUERIES);
    } finally {
      vi.useRealTimers();
    }
  });

  it("the database orders the items, and only those of the result are read", async () => {
    const storage = await keptStorage(backend());
    const items = { ...storage.items! };
    const calls = { page: vi.spyOn(items, "page"), get: vi.spyOn(items, "get") };
    const { put, search, logger } = await start({ ...storage, items });
    const root = newId();
    for (let index = 0; index < 60; index += 1) await put([root], `${index}`, [`word ${index}`]);
    const query = vi.spyOn(pg.Client.prototype, "query");
    expect(await search({ namespace_prefix: [root], query: "word 7", limit: 3, offset: 2 })).toHaveLength(3);
    expect(calls.page).not.toHaveBeenCalled();
    expect(calls.get).toHaveBeenCalledTimes(3);
    const statements = query.mock.calls.map(([text]) => (text as unknown as { text?: string })?.text ?? "");
    expect(statements.filter((text) => /^SELECT (?:(?!FROM).)*\bvectors\b/s.test(text))).toEqual([]);
    expect(logger.of("info")).toContainEqual(
      expect.stringMatching(/^store_index: (pgvector|sqlite-vec) v?\d.* compares items$/),
    );
  });

  it("a search has no limit of items", async () => {
    const storage = await keptStorage(backend());
    const { put, search } = await start(storage, { settings: quarters({ max_scanned_items: 2 }) });
    const root = newId();
    for (const key of ["a", "b", "c"]) await put([root], key, [key]);
    expect(await search({ namespace_prefix: [root], query: "b" })).toHaveLength(3);
  });

  it("items written without the search are found, also after they were replaced", async () => {
    const storage = await keptStorage(backend());
    const { put } = await start(withoutVectorSearch(storage));
    const root = newId();
    for (let index = 0; index < 250; index += 1) await put([root], `${index}`.padStart(3, "0"), ["old"]);
    const reopened = await keptStorage(backend());
    const { search } = await start(reopened);
    const query = { namespace_prefix: [root], query: "new", limit: 1 };
    expect((await search(query))[0]?.score).toBeLessThan(1);
    await put([root], "200", ["new"]);
    expect(await search(query)).toEqual([{ namespace: [root], key: "200", score: 1 }]);
    await put([root], "200", ["old", "older"]);
    expect((await search(query))[0]?.score).toBeLessThan(1);
  });

  it("a user does not find the items of another user", async () => {
    const storage = await keptStorage(backend());
    const { put, search } = await start(storage, { authenticate: byHeader });
    const root = newId();
    const [ann, anna] = [{ user: `ann-${root}` }, { user: `ann-${root}a` }];
    await put([root], "mine", ["word 1"], {}, ann);
    await put([root], "hers", ["word 1"], {}, anna);
    for (const namespace_prefix of [[], [root]]) {
      const query = { namespace_prefix, query: "word 1" };
      expect((await search(query, ann)).map(({ key }) => key)).toEqual(["mine"]);
      expect((await search(query, anna)).map(({ key }) => key)).toEqual(["hers"]);
    }
  });

  it("vectors of another embedding function are not compared", async () => {
    const storage = await keptStorage(backend());
    const root = newId();
    const before = await start(storage);
    await before.put([root], "a", ["word 1"]);
    const after = await start(storage, { settings: quarters({ embed: `${FIXTURES}/./quarters.ts:embed` }) });
    await after.put([root], "z", ["word 2"]);
    const query = { namespace_prefix: [root], query: "word 1" };
    expect((await after.search(query)).map(({ key, score }) => [key, score !== undefined])).toEqual([
      ["z", true],
      ["a", false],
    ]);
    expect((await before.search(query)).map(({ key, score }) => [key, score])).toEqual([
      ["a", 1],
      ["z", undefined],
    ]);
  });
});

withPgvector("pgvector", (database) => {
  const backend = () => onSchema("own", database);

  it("without the extension, the exact scan takes over, until a restart", async () => {
    const { put, search, logger } = await start(await keptStorage(backend()));
    await put(["a"], "one", ["word 1"]);
    await put(["a"], "two", ["word 2"]);
    const query = { query: "word 1", limit: 1 };
    const first = [{ namespace: ["a"], key: "one", score: 1 }];
    expect(await search(query)).toEqual(first);
    await database().sql("DROP EXTENSION vector CASCADE");
    await put(["a"], "three", ["word 3"]);
    expect(await search(query)).toEqual(first);
    expect(logger.of("warn")).toEqual([
      expect.stringMatching(/^store_index: pgvector \S+ is gone: items are compared in this process/),
    ]);
    await put(["a"], "one", ["word 4"]);
    // The next start creates the extension and adds all vectors again.
    const next = await start(await keptStorage(backend()));
    expect(next.logger.of("info")).toContainEqual(expect.stringContaining("pgvector"));
    expect(await next.search({ query: "word 3", limit: 1 })).toMatchObject([{ key: "three", score: 1 }]);
    expect((await next.search(query))[0]?.score).toBeLessThan(1);
  });

  it("a user who may not create the extension searches in the server", async () => {
    await database().sql("DROP EXTENSION IF EXISTS vector CASCADE");
    await database().sql("CREATE ROLE limited");
    await database().sql("CREATE SCHEMA limited AUTHORIZATION limited");
    await database().sql("SET ROLE limited");
    onTestFinished(async () => void (await database().sql("RESET ROLE")));
    const { put, search, logger } = await start(await keptStorage(onSchema("limited", database)));
    expect(logger.of("info")).toContain(
      "store_index: at most 20000 items are compared in this process, because the database user may not create the extension vector: run CREATE EXTENSION vector as a superuser and restart",
    );
    await put(["a"], "one", ["word 1"]);
    expect(await search({ query: "word 1" })).toEqual([{ namespace: ["a"], key: "one", score: 1 }]);
  });
});

withPgvector(
  "PostgreSQL without pgvector",
  (database) =>
    it("searches in the server, and the log has the reason", async () => {
      const { put, search, logger } = await start(await keptStorage(onSchema("own", database)));
      expect(logger.of("info")).toContain(
        "store_index: at most 20000 items are compared in this process, because the database server has no pgvector: install it, run CREATE EXTENSION vector and restart",
      );
      await put(["a"], "one", ["word 1"]);
      expect(await search({ query: "word 1" })).toEqual([{ namespace: ["a"], key: "one", score: 1 }]);
    }),
  {},
);

itSqlite("a sqlite-vec that does not load is not used, and the log has the reason", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "graph-serve-vec-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await mkdir(join(cwd, "node_modules/sqlite-vec"), { recursive: true });
  await writeFile(
    join(cwd, "node_modules/sqlite-vec/index.js"),
    `exports.getLoadablePath = () => ${JSON.stringify(join(cwd, "missing.so"))};`,
  );
  const settings = { checkpointer_scheme: "sqlite", checkpointer_uri: ":memory:", checkpointer_options: {} };
  const storage = await keptStorage({ name: "sqlite", durable: false, settings, cwd });
  const { put, search, logger } = await start(storage);
  expect(logger.of("info")).toContainEqual(
    expect.stringMatching(
      /^store_index: at most 20000 items .*, because sqlite-vec does not load: .*missing\.so/,
    ),
  );
  await put(["a"], "one", ["word 1"]);
  expect(await search({ query: "word 1" })).toEqual([{ namespace: ["a"], key: "one", score: 1 }]);
});

/** @param schema created with its tables if it does not exist */
const onSchema = (schema: string, database: () => PgvectorDatabase): Backend => ({
  name: "pglite",
  durable: true,
  settings: {
    checkpointer_scheme: "postgres",
    checkpointer_uri: database().uri,
    checkpointer_options: { pool_max_size: 1, prepare: false, schema },
  },
  cwd: ".",
});
