/** Semantic search in the store (`store_index`), on every backend: over REST, with the SDK, and in a run. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { copyStorage } from "../../src/storage/copy/storage.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { openMemory } from "../../src/storage/memory/open.js";
import { newId } from "../../src/support/ids.js";
import { embed as letters } from "../fixtures/embeddings/letters.js";
import { startTestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { openAiApi } from "../helpers/openai-api.js";
import { recordingLogger } from "../helpers/service.js";
import { onVectorSearch, withoutVectorSearch } from "../helpers/vector-backends.js";

const FIXTURES = fileURLToPath(new URL("../fixtures/embeddings", import.meta.url));
const embedAt = (name: string) => `${FIXTURES}/letters.ts:${name}`;
const indexed = (more: Partial<Settings["store_index"]> = {}): Partial<Settings> => ({
  store_index: { dims: 26, embed: embedAt("embed"), fields: ["text"], ...more },
});

const State = Annotation.Root({
  space: Annotation<string>,
  query: Annotation<string>,
  found: Annotation<object[]>,
});
/** Stores three notes at once, and searches them. */
const notes = new StateGraph(State)
  .addNode("search", async ({ space, query }, { store }) => {
    const texts = ["abba", "cabbage", "xyz"];
    await Promise.all(texts.map(async (text) => store?.put([space, "notes"], text, { text })));
    const found = (await store?.search([space], { query, limit: 2 })) ?? [];
    return { found: found.map(({ key, score }) => ({ key, score })) };
  })
  .addEdge(START, "search")
  .addEdge("search", END)
  .compile();

type Start = Omit<Parameters<typeof startTestServer>[0], "graphs">;

async function start(options: Start) {
  const server = await startTestServer({ graphs: { notes }, ...options });
  const { store } = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
  const keys = async (namespace: string[], query: string, more: object = {}) =>
    (await store.searchItems(namespace, { query, ...more })).items.map(({ key }) => key);
  const put = (namespace: string[], key: string, value: object, more: object = {}) =>
    server.request("PUT", "/store/items", { namespace, key, value, ...more });
  const search = (body: object) => server.request("POST", "/store/items/search", body);
  return { server, store, keys, put, search };
}

/** @param opened opens the storage */
function searchTests(opened: () => Promise<Storage>): void {
  const open = async (more: Partial<Settings["store_index"]> = {}) =>
    start({ settings: indexed(more), storage: await opened() });

  it("the most similar items come first, with their score", async () => {
    const { store, keys } = await open();
    const space = newId();
    for (const text of ["abba", "cabbage", "xyz", "quiz"])
      await store.putItem([space, text === "quiz" ? "games" : "words"], text, {
        text,
        long: text.length > 4,
      });
    const { items } = await store.searchItems([space], { query: "bbaa" });
    expect(items.map(({ key }) => key)).toEqual(["abba", "cabbage", "quiz", "xyz"]);
    const scores = items.map((item) => (item as { score?: number }).score ?? NaN);
    expect(scores[0]).toBeCloseTo(1, 6);
    const [abba, cabbage] = await letters(["abba", "cabbage"]);
    const dot = (a: number[], b: number[]) => a.reduce((sum, number, at) => sum + number * b[at]!, 0);
    const cosine = dot(abba!, cabbage!) / Math.sqrt(dot(abba!, abba!) * dot(cabbage!, cabbage!));
    expect(scores[1]).toBeCloseTo(cosine, 6);
    expect(scores.slice(2)).toEqual([0, 0]);
    expect(await keys([space], "bbaa", { filter: { long: true } })).toEqual(["cabbage"]);
    expect(await keys([space, "games"], "bbaa")).toEqual(["quiz"]);
    expect(await keys([space], "bbaa", { limit: 2, offset: 1 })).toEqual(["cabbage", "quiz"]);
    expect(await keys([space], "bbaa", { offset: 4 })).toEqual([]);
    expect((await store.searchItems([space], {})).items[0]).not.toHaveProperty("score");
  });

  it("a graph searches the store of its run", async () => {
    const { server } = await open();
    const client = new Client({ apiUrl: server.url });
    const input = { space: newId(), query: "bbaa" };
    const values = await client.runs.wait(null, "notes", { input });
    const { found } = values as unknown as { found: { key: string; score: number }[] };
    expect(found.map(({ key }) => key)).toEqual(["abba", "cabbage"]);
    expect(found[0]?.score).toBeCloseTo(1, 6);
  });

  it("writing, deleting and expiry replace and remove the vectors", async () => {
    const { server, store, put, keys, search } = await open();
    const space = newId();
    await store.putItem([space], "a", { text: "abba" });
    await store.putItem([space], "z", { text: "zzz" });
    expect(await keys([space], "zz")).toEqual(["z", "a"]);
    await store.putItem([space], "a", { text: "zzz" });
    await store.putItem([space], "z", { text: "abba" });
    expect(await keys([space], "zz")).toEqual(["a", "z"]);
    await store.deleteItem([space], "a");
    await store.putItem([space], "a", { other: 1 });
    const { body } = await search({ namespace_prefix: [space], query: "zz" });
    const { items } = body as { items: { key: string; score?: number }[] };
    expect(items.map(({ key, score }) => [key, score])).toEqual([
      ["z", 0],
      ["a", undefined],
    ]);
    await put([space], "brief", { text: "zz" }, { ttl: 1 });
    expect(await keys([space], "zz", { limit: 1 })).toEqual(["brief"]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120_000 });
    try {
      expect(await keys([space], "zz")).toEqual(["z", "a"]);
      await server.service.sweep(new Date().toISOString());
      expect(await keys([space], "zz")).toEqual(["z", "a"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("the index of a put selects what is embedded", async () => {
    const { put, search } = await open();
    const space = newId();
    await put([space], "none", { text: "abba" }, { index: false });
    await put([space], "title", { text: "xyz", title: "abba" }, { index: ["title"] });
    await put([space], "parts", { parts: [{ text: "q" }, { text: "ab" }] }, { index: ["parts[*].text"] });
    await put([space], "default", { text: "cabbage" }, { index: null });
    const { body } = await search({ namespace_prefix: [space], query: "ab" });
    const { items } = body as { items: { key: string; score?: number }[] };
    expect(items.map(({ key }) => key)).toEqual(["parts", "title", "default", "none"]);
    expect(items.map(({ score }) => score !== undefined)).toEqual([true, true, true, false]);
    for (const index of [true, "title", [1]])
      expect((await put([space], "x", { text: "a" }, { index })).status).toBe(422);
  });

  it("an item whose embedding fails is stored, and found by its fields", async () => {
    const logger = recordingLogger();
    const settings = indexed();
    const { put, search, keys } = await start({ settings, logger, storage: await opened() });
    const space = newId();
    expect((await put([space], "a", { text: "broken abba" })).status).toBe(204);
    await put([space], "z", { text: "zzz" });
    const found = await search({ namespace_prefix: [space], filter: { text: "broken abba" } });
    expect(found.body).toMatchObject({ items: [{ key: "a" }] });
    expect(await keys([space], "abba")).toEqual(["z", "a"]);
    expect(logger.of("warn").filter((line) => line.includes("store_index"))).toEqual([
      `store_index: ${embedAt("embed")} failed: 1 store items are stored without vectors, and searches by query list them last`,
    ]);
    const refused = await search({ namespace_prefix: [space], query: "broken" });
    expect([refused.status, refused.body]).toMatchObject([503, { code: "embedding_failed" }]);
    // What the provider says may contain secrets.
    expect(refused.text).not.toContain("key-123");
    expect(JSON.stringify(logger.lines.map(({ message }) => message))).not.toContain("key-123");
  });
}

onEveryBackend("semantic search in the store", (backend) =>
  searchTests(async () => withoutVectorSearch(await keptStorage(backend()))),
);

onVectorSearch("semantic search in the store", (backend) => searchTests(() => keptStorage(backend())));

describe("store_index", () => {
  it.each(["embeddings", "default", "notAsync"])("the export %s embeds", async (name) => {
    const { store, keys } = await start({ settings: indexed({ embed: embedAt(name) }) });
    await store.putItem(["words"], "a", { text: "abba" });
    await store.putItem(["words"], "z", { text: "zzz" });
    expect(await keys(["words"], "zz")).toEqual(["z", "a"]);
  });

  it("by default, the whole value is embedded", async () => {
    const { store, keys } = await start({
      settings: { store_index: { dims: 26, embed: `${FIXTURES}/letters.ts` } },
    });
    await store.putItem(["words"], "a", { q: "abba" });
    await store.putItem(["words"], "z", { q: { z: "zzz" } });
    expect(await keys(["words"], "zz")).toEqual(["z", "a"]);
  });

  it.each([
    ["$", "a bb c d"],
    ["name", "a"],
    ["nested.b", "bb"],
    ["list[0]", "c"],
    ["list[-1].d", "d"],
    ["list[*].d", "d"],
    ["list.*.d", "d"],
    ["{name, nested.b}", "a"],
    ["{name, nested.b}", "bb"],
    ["nested", "bb"],
    ["$.name", "a"],
  ])("the path %s embeds a text similar to %j", async (path, text) => {
    const { put, search } = await start({ settings: indexed() });
    const value = { name: "a", nested: { b: "bb" }, list: ["c", { d: "d" }] };
    await put(["words"], "x", value, { index: [path] });
    const { body } = await search({ query: text });
    const [{ score = 0 } = {}] = (body as { items: { score?: number }[] }).items;
    expect(score).toBeGreaterThan(path === "$" ? 0.3 : 0.8);
  });

  it.each(["none", "constructor", "nested.none", "list[7]", "list[x].d", "name[*]", "[", "{", ""])(
    "the path %j finds nothing, or the whole value",
    async (path) => {
      const { put, search } = await start({ settings: indexed() });
      expect((await put(["words"], "x", { name: "a", list: [] }, { index: [path] })).status).toBe(204);
      const { body } = await search({ query: "a" });
      const [item] = (body as { items: { score?: number }[] }).items;
      expect(item && "score" in item).toBe(["[", "{", ""].includes(path));
    },
  );

  it("without the setting, a query is ignored", async () => {
    const { store, put, keys } = await start({});
    await store.putItem(["words"], "a", { text: "abba" });
    await put(["words"], "z", { text: "zzz" }, { index: ["text"] });
    expect(await keys(["words"], "zz")).toEqual(["a", "z"]);
  });

  it.each([
    ["short", `store_index: ${embedAt("short")} returned vectors of 3 numbers, and dims is 26`],
    ["fewer", `store_index: ${embedAt("fewer")} returned 0 vectors for 1 texts`],
    ["nothing", `store_index: ${embedAt("nothing")} returned undefined for 1 texts`],
    [
      "infinite",
      `store_index: ${embedAt("infinite")} returned a vector that is not an array of finite numbers`,
    ],
  ])("the answer of the function %s is refused", async (name, detail) => {
    const { put, search } = await start({ settings: indexed({ embed: embedAt(name) }) });
    const refused = await put(["words"], "a", { text: "abba" });
    expect([refused.status, refused.body]).toMatchObject([
      503,
      { code: "embedding_failed", detail: expect.stringContaining(detail) as string },
    ]);
    expect(await put(["words"], "b", { other: 1 })).toMatchObject({ status: 204 });
    expect(await search({ query: "a" })).toMatchObject({ status: 503, body: { code: "embedding_failed" } });
  });

  it.each([
    ["./no-such-file.ts:embed", "store_index: file ./no-such-file.ts not found"],
    [embedAt("missing"), `store_index: ${FIXTURES}/letters.ts has no export "missing"`],
    [embedAt("dims"), `store_index: ${FIXTURES}/letters.ts:dims is not an embedding function`],
    ["elsewhere:model", "store_index: elsewhere:model: the provider elsewhere is not supported"],
    ["cohere:embed-v4", "store_index cohere:embed-v4: the package @langchain/cohere is not installed"],
  ])("the server does not start with %s", async (embed, message) => {
    await expect(start({ settings: indexed({ embed }) })).rejects.toMatchObject({
      code: "config_invalid",
      message,
      hint: expect.any(String) as string,
    });
  });

  it("provider:model embeds with LangChain's package of the provider", async () => {
    const api = await openAiApi();
    onTestFinished(() => api.close());
    vi.stubEnv("OPENAI_BASE_URL", api.url);
    vi.stubEnv("OPENAI_API_KEY", "sk-letters");
    onTestFinished(() => void vi.unstubAllEnvs());
    const embed = "openai:text-embedding-3-small";
    const { store, keys } = await start({ settings: indexed({ embed }) });
    await store.putItem(["words"], "a", { text: "abba" });
    await store.putItem(["words"], "z", { text: "zzz" });
    expect(await keys(["words"], "zz")).toEqual(["z", "a"]);
    expect(new Set(api.keys)).toEqual(new Set(["sk-letters"]));
  });

  it("a reload of the server reloads the embedding function", async () => {
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-embed-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const embed = join(folder, "embed.ts");
    await writeFile(embed, "export default async (texts: string[]) => texts.map(() => [1, 0]);");
    const { server, put, search } = await start({ settings: { store_index: { dims: 2, embed } } });
    await put(["words"], "a", { text: "abba" });
    expect((await search({ query: "x" })).body).toMatchObject({ items: [{ score: 1 }] });
    await writeFile(embed, "export default async (texts: string[]) => texts.map(() => [0, 1]);");
    expect(server.service.watchedFiles()).toContain(embed);
    await server.service.reload();
    expect((await search({ query: "x" })).body).toMatchObject({ items: [{ score: 0 }] });
  });

  it("a search compares a limited number of items", async () => {
    const { put, search, keys } = await start({ settings: indexed({ max_scanned_items: 2 }) });
    for (const key of ["a", "b", "c"]) await put(["words", key === "c" ? "more" : "few"], key, { text: key });
    expect(await keys(["words", "few"], "b")).toEqual(["b", "a"]);
    const refused = await search({ namespace_prefix: ["words"], query: "b" });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("max_scanned_items")]);
    const many = Array.from({ length: 101 }, (_, index) => `text ${index}`);
    const tooLong = await put(["words"], "many", { text: many }, { index: ["text[*]"] });
    expect([tooLong.status, tooLong.text]).toEqual([422, expect.stringContaining("101 texts")]);
  });

  it("vectors of another embedding function are not compared", async () => {
    const storage = await openMemory({
      checkpointer_options: {},
      checkpointer_scheme: "memory",
      max_queued_runs: 1,
    });
    const before = await start({ settings: indexed(), storage });
    await before.store.putItem(["words"], "a", { text: "abba" });
    const after = await start({ settings: indexed({ embed: embedAt("embeddings") }), storage });
    await after.store.putItem(["words"], "z", { text: "zz" });
    const { body } = await after.search({ query: "abba" });
    expect(body).toMatchObject({ items: [{ key: "z", score: 0 }, { key: "a" }] });
  });

  it("a copy of the storage has the vectors", async () => {
    const options = { checkpointer_options: {}, checkpointer_scheme: "memory", max_queued_runs: 1 };
    const [from, to] = [await openMemory(options), await openMemory(options)];
    const before = await start({ settings: indexed(), storage: from });
    for (const text of ["abba", "xyz"]) await before.store.putItem(["words"], text, { text });
    await copyStorage({ from, to, overwrite: false });
    const { search } = await start({ settings: indexed(), storage: to });
    const { body } = await search({ query: "zyx" });
    expect((body as { items: object[] }).items).toMatchObject([{ key: "xyz" }, { key: "abba", score: 0 }]);
  });

  it("a storage that does not keep vectors is refused", async () => {
    const storage = await openMemory({
      checkpointer_options: {},
      checkpointer_scheme: "memory",
      max_queued_runs: 1,
    });
    const items = { ...storage.items!, keepsVectors: undefined };
    await expect(
      start({ settings: indexed(), storage: { ...storage, scheme: "maps", items } }),
    ).rejects.toThrow("store_index needs a storage that keeps vectors, and maps does not");
  });
});
