/** Usage of runs: what is recorded equals what a provider billed, and who sees it. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { openStorage } from "../../src/storage/open.js";
import { BillingModel } from "../fixtures/billing-model.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { cli, createProject } from "../cli/harness.js";
import { serve, startTestServer } from "../helpers/app.js";
import { deferred } from "../helpers/deferred.js";
import { openTestService } from "../helpers/service.js";
import { byHeader } from "../helpers/two-users.js";

const input = { messages: [{ role: "user", content: "hello" }] };
const prices = {
  cheap: { input: 0.25, output: 2, cache_read: 0.05 },
  "acme/dear": { input: 10, output: 40 },
};

/** A graph that asks the cheap model in a subgraph, and the dear one in two parallel nodes. */
function billed() {
  const cheap = new BillingModel("cheap", (call) => ({ input: 100 + call, output: 10, cached: 40 }));
  const dear = new BillingModel("dear");
  const ask = (model: BillingModel) => async () => ({ messages: [await model.invoke("hello")] });
  const child = new StateGraph(MessagesAnnotation)
    .addNode("inner", ask(cheap))
    .addEdge(START, "inner")
    .compile();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("child", child)
    .addNode("left", ask(dear))
    .addNode("right", ask(dear))
    .addEdge(START, "child")
    .addEdge("child", "left")
    .addEdge("child", "right")
    .compile({ name: "billed" });
  const total = (field: "input_tokens" | "output_tokens") =>
    [...cheap.bill, ...dear.bill].reduce((sum, call) => sum + call[field], 0);
  return { graph, cheap, dear, total };
}

const usageOf = async (service: Pick<Service, "usage">, group_by: string) =>
  (await service.usage({ group_by, limit: 100 })).items;

/** Stops the clock until the end of the test, so that no midnight falls into it. @returns the UTC day */
function stopClock(): string {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  return new Date().toISOString().slice(0, 10);
}

/** `npm ci` installs it. */
function hasPackage(): boolean {
  try {
    return createRequire(import.meta.url).resolve("@pydantic/genai-prices") !== "";
  } catch {
    return false;
  }
}

describe("usage of runs", () => {
  it("is what the provider billed, by model, node, graph and day, with the costs of own prices", async () => {
    const day = stopClock();
    const { graph, total } = billed();
    const service = await openTestService({ graphs: { billed: graph }, settings: { prices } });
    const { thread_id } = await service.threads.create({});
    const run = await service.runs.create(thread_id, { assistant_id: "billed", input });
    const cheap = { calls: 1, input_tokens: 100, output_tokens: 10, cache_read_tokens: 40 };
    const dear = { calls: 2, input_tokens: 200, output_tokens: 20, cache_read_tokens: 0 };
    expect(await usageOf(service, "model")).toEqual([
      expect.objectContaining({ model: "cheap", ...cheap, cost_usd: 0.000037, unpriced_calls: 0 }),
      expect.objectContaining({ model: "dear", ...dear, cost_usd: 0.0028, unpriced_calls: 0 }),
    ]);
    expect((await usageOf(service, "node")).map(({ node, calls }) => [node, calls])).toEqual([
      ["child:inner", 1],
      ["left", 1],
      ["right", 1],
    ]);
    expect(await usageOf(service, "graph,day,user")).toMatchObject([
      { graph: "billed", day, user: null, input_tokens: total("input_tokens"), cost_usd: 0.002837 },
    ]);
    expect(run.usage).toMatchObject({ input_tokens: 300, output_tokens: 30, cost_usd: 0.002837 });
  });

  itSqlite("is exact over many runs that end or fail, and outlives their threads", async () => {
    const { graph, cheap, total } = billed();
    const failing = new StateGraph(MessagesAnnotation)
      .addNode("ask", async () => ({ messages: [await cheap.invoke("hello")] }))
      .addNode("bad", () => Promise.reject(new RangeError("kaboom")))
      .addEdge(START, "ask")
      .addEdge("ask", "bad")
      .compile();
    const graphs = { billed: graph, failing };
    const service = await openTestService({ graphs, settings: { prices } });
    const runs = Array.from({ length: 200 }, async (_, index) => {
      const { thread_id } = await service.threads.create({});
      const assistant_id = index % 3 === 0 ? "failing" : "billed";
      await service.runs.create(thread_id, { assistant_id, input });
      await service.threads.delete(thread_id);
    });
    await Promise.all(runs);
    const used = await usageOf(service, "model");
    const sum = (field: "input_tokens" | "output_tokens") => used.reduce((all, one) => all + one[field], 0);
    expect([sum("input_tokens"), sum("output_tokens")]).toEqual([
      total("input_tokens"),
      total("output_tokens"),
    ]);
  });

  it("has no cost if the price of the model is unknown", async () => {
    const { graph } = billed();
    const service = await openTestService({ graphs: { billed: graph } });
    const { thread_id } = await service.threads.create({});
    const run = await service.runs.create(thread_id, { assistant_id: "billed", input });
    expect(run.usage).not.toHaveProperty("cost_usd");
    expect(await usageOf(service, "model")).toMatchObject([
      { model: "cheap", cost_usd: null, unpriced_calls: 1 },
      { model: "dear", cost_usd: null, unpriced_calls: 2 },
    ]);
  });

  it.skipIf(!hasPackage())("has the list prices of the package", async () => {
    const model = new BillingModel("gpt-5-mini", () => ({ input: 1000, output: 100, cached: 400 }));
    model.getLsParams = () => ({ ls_model_name: "gpt-5-mini", ls_provider: "openai", ls_model_type: "chat" });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", async () => ({ messages: [await model.invoke("hello")] }))
      .addEdge(START, "ask")
      .compile();
    const service = await openTestService({ graphs: { listed: graph } });
    const { thread_id } = await service.threads.create({});
    const run = await service.runs.create(thread_id, { assistant_id: "listed", input });
    expect(run.usage?.cost_usd).toBeGreaterThan(0);
  });

  it("is kept for the days of the setting ttl, and budgets of the current day are not affected", async () => {
    const today = stopClock();
    const { graph, dear } = billed();
    const settings = { ttl: { usage: { days: 1 } }, budgets: { user: { day: "150 tokens" } } };
    const server = await startTestServer({ graphs: { billed: graph }, authenticate: byHeader, settings });
    const { service } = server;
    const run = async () =>
      JSON.stringify(
        (await server.request("POST", "/runs/wait", { assistant_id: "billed", input }, { user: "ann" })).body,
      );
    await run();
    await service.sweep();
    expect(await run()).toContain("The budget of the user for this day is used up");
    const calls = 1 + dear.bill.length;
    const after = (days: number) => new Date(Date.parse(today) + days * 86_400_000).toISOString();
    await service.sweep(after(1));
    expect(await usageOf(service, "day")).toMatchObject([{ day: today, calls }]);
    await service.sweep(after(2));
    expect(await usageOf(service, "day")).toEqual([]);
  });

  it("is stored while the run continues", async () => {
    const model = new BillingModel("cheap");
    const gate = deferred();
    const ask = async () => ({ messages: [await model.invoke("hello")] });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("first", ask)
      .addNode("wait", () => gate.promise.then(() => ({})))
      .addNode("second", ask)
      .addEdge(START, "first")
      .addEdge("first", "wait")
      .addEdge("wait", "second")
      .compile();
    const service = await openTestService({ graphs: { agent: graph } });
    const { thread_id } = await service.threads.create({});
    const run = await service.runs.background(thread_id, { assistant_id: "agent", input });
    const calls = async () => (await usageOf(service, "model")).map((used) => used.calls);
    await expect.poll(calls).toEqual([1]);
    expect((await service.runs.get(thread_id, run.run_id)).status).toBe("running");
    gate.resolve();
    await (
      await service.runs.join(thread_id, run.run_id)
    ).answer;
    expect(await calls()).toEqual([2]);
  });

  itSqlite("includes the attempts that a shutdown requeued", async () => {
    const { model, run, first, second } = await requeuedRun();
    await first.close(0);
    const service = await second();
    await (
      await service.runs.join(run.thread_id, run.run_id)
    ).answer;
    expect(model.bill).toHaveLength(2);
    expect((await service.usage({ group_by: "model" })).items).toMatchObject([{ model: "cheap", calls: 2 }]);
  });
});

/** A run whose first server stops while it waits between two model calls. */
async function requeuedRun() {
  const project = await createProject();
  onTestFinished(() => project.remove());
  const model = new BillingModel("cheap");
  let isFirst = true;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("ask", async () => ({ messages: [await model.invoke("hello")] }))
    .addNode("wait", async (_, { signal }) => {
      if (!isFirst) return {};
      isFirst = false;
      waiting.resolve();
      await new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason as Error)),
      );
      return {};
    })
    .addNode("again", async () => ({ messages: [await model.invoke("hello")] }))
    .addEdge(START, "ask")
    .addEdge("ask", "wait")
    .addEdge("wait", "again")
    .compile();
  const waiting = deferred();
  const uri = join(project.dir, "threads.db");
  const settings = { checkpointer_scheme: "sqlite", checkpointer_uri: uri, prices };
  const first = await openService({ graphs: { agent: graph }, settings });
  const { thread_id } = await first.threads.create({});
  const run = await first.runs.background(thread_id, { assistant_id: "agent", input });
  await waiting.promise;
  return { model, run, first, second: () => openTestService({ graphs: { agent: graph }, settings }) };
}

describe("GET /usage", () => {
  it("shows users their own usage, and a server without users all of it", async () => {
    const server = await startTestServer({ graphs: { chat }, authenticate: byHeader });
    const as = (user: string) => (method: "GET" | "POST", path: string, body?: object) =>
      server.request(method, path, body, { user });
    for (const user of ["ann", "anna", "ann"])
      await as(user)("POST", "/runs/wait", { assistant_id: "chat", input });
    const own = async (user: string) => (await as(user)("GET", "/usage?group_by=user")).body;
    expect(await own("ann")).toMatchObject([{ user: "ann", calls: 2 }]);
    expect(await own("anna")).toMatchObject([{ user: "anna", calls: 1 }]);
    expect(await own("eve")).toEqual([]);
    expect((await server.service.usage({ group_by: "user" })).items).toMatchObject([
      { user: "ann", calls: 2 },
      { user: "anna", calls: 1 },
    ]);
  });

  it("has pages, filters, and the header X-Cost-Used of a run", async () => {
    const { graph } = billed();
    const server = await startTestServer({ graphs: { billed: graph }, settings: { prices } });
    const { body } = await server.request("POST", "/threads", {});
    const { thread_id } = body as { thread_id: string };
    const request = { assistant_id: "billed", input };
    const run = await server.request("POST", `/threads/${thread_id}/runs`, request);
    expect(run.headers.get("x-cost-used")).toBe("0.002837");
    const usage = (query: string) => server.request("GET", `/usage?${query}`);
    const page = await usage("group_by=node&limit=2");
    expect(page.body).toMatchObject([{ node: "child:inner" }, { node: "left" }]);
    expect(page.headers.get("x-pagination-next")).toBe("2");
    expect((await usage("group_by=node&limit=2&offset=2")).body).toMatchObject([{ node: "right" }]);
    expect((await usage(`thread_id=${thread_id}`)).body).toHaveLength(2);
    expect((await usage("since=2999-01-01T00:00:00Z")).body).toEqual([]);
    expect((await usage("until=2000-01-01T00:00:00Z")).body).toEqual([]);
    const refused = await usage("group_by=colour");
    expect(refused.status).toBe(422);
  });

  it("is refused by a storage that does not record usage", async () => {
    const storage = await openStorage({
      ...{ checkpointer_scheme: "memory", checkpointer_options: {}, max_queued_runs: 1 },
    });
    const { usage: _, ...without } = storage;
    const service = await openTestService({
      graphs: { chat },
      storage: { ...without, locks: storage.locks },
    });
    const { thread_id } = await service.threads.create({});
    const run = await service.runs.create(thread_id, { assistant_id: "chat", input });
    expect(run.status).toBe("success");
    await expect(service.usage()).rejects.toMatchObject({
      code: "unsupported_option",
      message: "the storage memory does not record usage",
    });
  });
});

describe("metrics", () => {
  it("count the known cost by graph and model", async () => {
    const { graph } = billed();
    const service = await openTestService({ graphs: { billed: graph }, settings: { prices, metrics: true } });
    await (
      await service.runs.waitStateless({ assistant_id: "billed", input })
    ).answer;
    const text = await service.metrics?.text();
    expect(text).toContain('graph_serve_cost_usd_total{graph="billed",model="cheap"} 0.000037');
    expect(text).toContain('graph_serve_cost_usd_total{graph="billed",model="dear"} 0.0028');
  });
});

describe("graph-serve usage", () => {
  async function opened() {
    const project = await createProject();
    onTestFinished(() => project.remove());
    const db = join(project.dir, "threads.db");
    const { graph } = billed();
    const settings = { checkpointer_scheme: "sqlite", checkpointer_uri: db, prices: { cheap: prices.cheap } };
    const service = await openTestService({ graphs: { billed: graph }, settings });
    const { url } = await serve(service);
    const { thread_id } = await service.threads.create({});
    await service.runs.create(thread_id, { assistant_id: "billed", input });
    const usage = (...argv: string[]) => cli(["usage", ...argv], { cwd: project.dir });
    return { usage, thread_id, places: { db: ["--db", db], url: ["--url", url] } };
  }

  itSqlite.each(["db", "url"] as const)("prints a table, JSON or CSV, with --%s", async (place) => {
    const { usage, thread_id, places } = await opened();
    const at = places[place];
    const { code, stdout, stderr } = await usage("--since", "1h", ...at);
    expect(code).toBe(0);
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["MODEL", "CALLS", "INPUT", "CACHED", "OUTPUT", "COST (USD)"],
      ["cheap", "1", "100", "40", "10", "0.000037"],
      ["dear", "2", "200", "0", "20", "unknown"],
      [""],
    ]);
    expect(stderr).toContain("the price of 2 calls is unknown: set `prices` in the configuration");
    const json = await usage("--by", "node,model", "--thread", thread_id.slice(0, 18), "--json", ...at);
    expect(JSON.parse(json.stdout)).toMatchObject({
      items: [{ node: "child:inner", model: "cheap" }, { node: "left" }, { node: "right" }],
      next: null,
    });
    const csv = await usage("--by", "user,model", "--csv", ...at);
    expect(csv.stdout.split("\n").slice(0, 2)).toEqual([
      "user,model,calls,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,reasoning_tokens,cost_usd,unpriced_calls",
      ",cheap,1,100,10,40,0,0,0.000037,0",
    ]);
  });

  itSqlite("refuses unknown groups and two formats", async () => {
    const { usage, places } = await opened();
    const group = await usage("--by", "modle", ...places.db);
    expect([group.code, group.stderr]).toEqual([2, expect.stringContaining('did you mean "model"?')]);
    const formats = await usage("--csv", "--json", ...places.db);
    expect([formats.code, formats.stdout + formats.stderr]).toEqual([
      2,
      expect.stringContaining("--csv and --json are two formats"),
    ]);
  });
});

describe("prices", () => {
  it.each([
    ['{ "m": { "input": -1, "output": 2 } }', "prices.m.input must be >= 0, it is -1"],
    ['{ "m": { "input": 1 } }', "prices.m must have required property 'output'"],
    ['{ "m": { "input": 1, "output": 2, "cached": 1 } }', 'unknown key "cached" in prices.m'],
    ['{ "m": 3 }', "prices.m must be an object, it is 3"],
  ])("%s is refused with its place in the configuration", async (text, message) => {
    const project = await createProject({
      "graph-server.config.json": `{\n  "graphs": {},\n  "prices": ${text}\n}\n`,
    });
    onTestFinished(() => project.remove());
    const { code, stderr } = await cli(["validate"], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/graph-server\.config\.json:3/);
  });
});
