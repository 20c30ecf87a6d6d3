import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { startTestServer } from "../helpers/app.js";

const State = Annotation.Root({ user: Annotation<string>, visits: Annotation<number> });

/** Counts in the long-term memory how often a user was here. */
const remembering = new StateGraph(State)
  .addNode("count", async ({ user }, { store }) => {
    const before = await store?.get(["users", user], "visits");
    const visits = ((before?.value.count as number | undefined) ?? 0) + 1;
    await store?.put(["users", user], "visits", { count: visits });
    return { visits };
  })
  .addEdge(START, "count")
  .addEdge("count", END)
  .compile();

async function open(scheme: string, file?: string) {
  const settings = { checkpointer_scheme: scheme, ...(file && { checkpointer_uri: file }) };
  const server = await startTestServer({ graphs: { steps, remembering }, settings });
  return {
    server,
    store: new Client({ apiUrl: server.url }).store,
    client: new Client({ apiUrl: server.url }),
  };
}

async function file(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-store-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "db.sqlite");
}

describe.each(["memory", "sqlite"])("the store on %s", (scheme) => {
  const test = scheme === "sqlite" ? itSqlite : it;
  const start = async () => open(scheme, scheme === "sqlite" ? await file() : undefined);

  test("writes, reads, replaces and deletes items", async () => {
    const { store } = await start();
    await store.putItem(["users", "ann"], "prefs", { tone: "dry" });
    const first = await store.getItem(["users", "ann"], "prefs");
    expect(first).toMatchObject({ namespace: ["users", "ann"], key: "prefs", value: { tone: "dry" } });
    await store.putItem(["users", "ann"], "prefs", { tone: "warm" });
    const second = await store.getItem(["users", "ann"], "prefs");
    expect(second).toMatchObject({
      value: { tone: "warm" },
      created_at: (first as unknown as { created_at: string }).created_at,
    });
    await store.deleteItem(["users", "ann"], "prefs");
    expect(await store.getItem(["users", "ann"], "prefs")).toBeNull();
    await store.deleteItem(["users", "ann"], "prefs");
  });

  test("finds items below a namespace, filtered, in pages", async () => {
    const { store } = await start();
    for (const [namespace, key, n] of [
      [["a"], "x", 1],
      [["a", "b"], "y", 2],
      [["a", "b"], "z", 3],
      [["ab"], "w", 4],
      [["%", "_"], "v", 5],
    ] as [string[], string, number][]) {
      await store.putItem(namespace, key, { n, kind: "item" });
    }
    const keys = async (prefix: string[], options = {}) =>
      (await store.searchItems(prefix, options)).items.map(({ key }) => key);
    expect(await keys(["a"])).toEqual(["x", "y", "z"]);
    expect(await keys([])).toEqual(["v", "x", "y", "z", "w"]);
    expect(await keys(["a"], { limit: 1, offset: 1 })).toEqual(["y"]);
    expect(await keys(["a"], { filter: { n: 2 } })).toEqual(["y"]);
    expect(await keys([], { filter: { n: { $gt: 1, $lte: 3 } } })).toEqual(["y", "z"]);
    expect(await keys([], { filter: { n: { $ne: 5 }, kind: { $eq: "item" } } })).toEqual([
      "x",
      "y",
      "z",
      "w",
    ]);
    expect(await keys(["%"])).toEqual(["v"]);
    expect(await keys([], { filter: { constructor: 1 } })).toEqual([]);
  });

  test("lists namespaces by prefix, suffix and depth", async () => {
    const { store } = await start();
    for (const namespace of [
      ["a", "x", "end"],
      ["a", "y", "end"],
      ["b", "x"],
    ])
      await store.putItem(namespace, "k", { n: 1 });
    const list = async (options: object) => (await store.listNamespaces(options)).namespaces;
    expect(await list({})).toEqual([
      ["a", "x", "end"],
      ["a", "y", "end"],
      ["b", "x"],
    ]);
    expect(await list({ prefix: ["a", "*"], suffix: ["end"] })).toEqual([
      ["a", "x", "end"],
      ["a", "y", "end"],
    ]);
    expect(await list({ maxDepth: 1 })).toEqual([["a"], ["b"]]);
    expect(await list({ limit: 1, offset: 2 })).toEqual([["b", "x"]]);
  });

  test("expires items, and reading renews them", async () => {
    const { store } = await start();
    const minute = 1 / 60;
    await store.putItem(["t"], "short", { n: 1 }, { ttl: minute / 20 });
    await store.putItem(["t"], "long", { n: 2 }, { ttl: 5 });
    await expect
      .poll(async () => (await store.searchItems(["t"])).items.map(({ key }) => key))
      .toEqual(["long"]);
  });

  test("rejects invalid namespaces, keys and values", async () => {
    const { server } = await start();
    for (const namespace of [["a.b"], [""], []]) {
      const { status, body } = await server.request("PUT", "/store/items", {
        namespace,
        key: "k",
        value: {},
      });
      expect(status, JSON.stringify(namespace)).toBe(422);
      expect(body).toMatchObject({ code: "invalid_request" });
    }
    const poison = { lc: 1, type: "constructor", id: ["x"], kwargs: {} };
    expect(
      (await server.request("PUT", "/store/items", { namespace: ["a"], key: "k", value: { poison } })).status,
    ).toBe(422);
    expect((await server.request("GET", "/store/items?namespace=a..b&key=k")).status).toBe(422);
    expect((await server.request("GET", "/store/items?namespace=a")).status).toBe(422);
  });

  test("is shared by graphs across threads", async () => {
    const { client, store } = await start();
    for (const visits of [1, 2]) {
      expect(await client.runs.wait(null, "remembering", { input: { user: "ann" } })).toMatchObject({
        visits,
      });
    }
    expect((await store.getItem(["users", "ann"], "visits"))?.value).toEqual({ count: 2 });
  });
});

describe("the store on disk", () => {
  itSqlite("survives a restart", async () => {
    const path = await file();
    const { server, store } = await open("sqlite", path);
    await store.putItem(["kept"], "k", { n: 1 });
    await server.close(0);
    const again = await open("sqlite", path);
    expect((await again.store.getItem(["kept"], "k"))?.value).toEqual({ n: 1 });
  });
});
