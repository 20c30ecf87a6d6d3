import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { newId } from "../../src/support/ids.js";
import { openService } from "../../src/service/open.js";
import { openMemory } from "../../src/storage/memory/open.js";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { serve } from "../helpers/app.js";
import { expectDocumented } from "../helpers/documented.js";
import { allEvents } from "../helpers/sse.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { Database } from "../helpers/sqlite-database.js";

/** Starts a server with the installed prom-client package. */
async function open(settings = { metrics: true }) {
  const service = await openService({ graphs: { chat, fail, gate }, settings });
  const server = await serve(service);
  const thread = (await service.threads.create({})).thread_id;
  const scrape = async () => parseFigures((await server.request("GET", "/metrics")).text);
  /** The metrics whose names start with `prefix`; for a histogram, its count. */
  const figures = async (prefix: string): Promise<Record<string, number>> => {
    const found = (await scrape()).filter(({ name }) => name.startsWith(`graph_serve_${prefix}`));
    const shown = found.filter(({ name }) => !/_(bucket|sum|created)$/.test(name));
    return Object.fromEntries(
      shown.map(({ name, labels, value }): [string, number] => [
        name.replace("graph_serve_", "").replace(/_count$/, "") + labels,
        value,
      ]),
    );
  };
  return { server, thread, figures, scrape };
}

/** Simulates another process taking over the runs. */
function takeRuns(file: string): void {
  const database = new Database(file);
  database.prepare("UPDATE gs_runs SET owner = 'another', attempt = attempt + 1").run();
  database.close();
}

interface Figure {
  name: string;
  /** Labels in exposition format, such as `{graph="chat"}`, or an empty string. */
  labels: string;
  value: number;
}

/** Strict parser of the Prometheus text format: each line must be a known comment or a sample of a declared metric. */
function parseFigures(text: string): Figure[] {
  const types = new Map<string, string>();
  const figures: Figure[] = [];
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const [, declared, type] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (declared && type) {
      expect(types.has(declared), declared).toBe(false);
      types.set(declared, type);
    } else if (!/^# HELP \w+ \S.*$/.test(line)) {
      const sample = /^(\w+)((?:\{\w+="[^"\\\n]*"(?:,\w+="[^"\\\n]*")*\})?) (\S+)$/.exec(line);
      const [, name = "", labels = "", value] = sample ?? [];
      const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
      expect(types.has(family), line).toBe(true);
      expect(Number(value), line).toBeGreaterThanOrEqual(0);
      figures.push({ name, labels, value: Number(value) });
    }
  }
  return figures;
}

const say = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hi" }] } };

describe("/metrics", () => {
  it("the response has the content type of the Prometheus text format", async () => {
    const { server } = await open();
    const answer = await server.request("GET", "/metrics");
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expectDocumented("GET", "/metrics", answer);
  });

  it("other metrics are reported while the storage is unavailable", async () => {
    const away = () => Promise.reject(new StorageUnavailableError("is away"));
    const deadRuns = { list: away, count: away, revive: away, forget: away };
    const memory = { checkpointer_scheme: "memory", checkpointer_options: {}, max_queued_runs: 0 } as const;
    const storage = { ...(await openMemory(memory)), deadRuns };
    const service = await openService({ graphs: { chat }, settings: { metrics: true }, storage });
    const { status, text } = await (await serve(service)).request("GET", "/metrics");
    expect(status).toBe(200);
    expect(text).toMatch(/^graph_serve_runs_dead nan$/im);
    expect(text).toMatch(/^graph_serve_runs_active 0$/m);
  });

  it("runs and their tokens are counted", async () => {
    const { server, thread, figures } = await open();
    const run = await server.request("POST", `/threads/${thread}/runs`, say);
    await server.request("POST", `/threads/${thread}/runs`, { assistant_id: "fail", input: { x: 0 } });
    await server.request("POST", `/threads/${thread}/runs/wait`, say);
    expect(await figures("run")).toEqual({
      'runs_total{graph="chat",status="success"}': 2,
      'runs_total{graph="fail",status="error"}': 1,
      'run_duration_seconds{graph="chat",status="success"}': 2,
      'run_duration_seconds{graph="fail",status="error"}': 1,
      run_queue_seconds: 3,
      runs_active: 0,
    });
    const { usage } = run.body as { usage: { input_tokens: number; output_tokens: number } };
    expect(usage.input_tokens).toBeGreaterThan(0);
    const tokens = await figures("tokens");
    expect(tokens['tokens_total{graph="chat",kind="input"}']).toBeGreaterThanOrEqual(2 * usage.input_tokens);
    expect(tokens['tokens_total{graph="fail",kind="input"}']).toBe(0);
  });

  itSqlite.each([
    { counted: "requeued", what: "a run requeued at shutdown" },
    { counted: "lost", what: "a run taken over by another process", taken: true },
  ])("$what is counted with its own status", async ({ counted, taken = false }) => {
    const cwd = mkdtempSync(join(tmpdir(), "graph-serve-metrics-"));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    const stored = { checkpointer_scheme: "sqlite", checkpointer_uri: "store.sqlite" };
    const service = await openService({ graphs: { gate }, settings: { metrics: true, ...stored }, cwd });
    const { thread_id } = await service.threads.create({});
    const name = newId();
    await service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    if (taken) takeRuns(join(cwd, "store.sqlite"));
    await service.close(0);
    const text = (await service.metrics?.text()) ?? "";
    expect(text.match(/^graph_serve_runs_total.*$/gm)).toEqual([
      `graph_serve_runs_total{graph="gate",status="${counted}"} 1`,
    ]);
  });

  it("open streams and active runs are tracked", async () => {
    const { server, thread, figures } = await open();
    const name = newId();
    const body = { assistant_id: "gate", input: { gate: name } };
    const response = await server.fetch("POST", `/threads/${thread}/runs/stream`, body);
    await gateOf(name).entered;
    const asked = { prefer: "respond-async" };
    const { body: queued } = await server.request("POST", `/threads/${thread}/runs`, say, asked);
    expect(await figures("streams_open")).toEqual({ streams_open: 1 });
    expect(await figures("runs_active")).toEqual({ runs_active: 1 });
    const { run_id } = queued as { run_id: string };
    await server.request("POST", `/threads/${thread}/runs/${run_id}/cancel?wait=1`);
    gateOf(name).open();
    await allEvents(response);
    await expect.poll(() => figures("streams_open"), { timeout: 20_000 }).toEqual({ streams_open: 0 });
    expect(await figures("runs_")).toEqual({
      'runs_total{graph="chat",status="interrupted"}': 1,
      'runs_total{graph="gate",status="success"}': 1,
      runs_active: 0,
    });
    expect(await figures("run_duration")).toEqual({
      'run_duration_seconds{graph="gate",status="success"}': 1,
    });
  });

  it("a stream is no longer counted after its client disconnects", async () => {
    const { server, thread, figures } = await open();
    const name = newId();
    const gone = new AbortController();
    const body = { assistant_id: "gate", input: { gate: name }, on_disconnect: "continue" };
    await server.fetch("POST", `/threads/${thread}/runs/stream`, body, { signal: gone.signal });
    await gateOf(name).entered;
    expect(await figures("streams_open")).toEqual({ streams_open: 1 });
    gone.abort();
    await expect.poll(() => figures("streams_open"), { timeout: 20_000 }).toEqual({ streams_open: 0 });
    expect(await figures("runs_active")).toEqual({ runs_active: 1 });
    gateOf(name).open();
    await expect.poll(() => figures("runs_active"), { timeout: 20_000 }).toEqual({ runs_active: 0 });
    expect(await figures("streams_open")).toEqual({ streams_open: 0 });
  });

  it("storage calls are timed", async () => {
    const { server, thread, figures } = await open();
    await server.request("POST", `/threads/${thread}/runs`, say);
    await server.request("PUT", "/store/items", { namespace: ["a"], key: "k", value: {} });
    const calls = await figures("storage_seconds");
    for (const operation of ["threads.insert", "runs.insert", "checkpoints.put", "items.put"])
      expect(calls[`storage_seconds{operation="${operation}"}`]).toBeGreaterThan(0);
    expect(calls['storage_seconds{operation="runs.insert"}']).toBe(1);
  });

  it("the number of series does not grow with the number of threads", async () => {
    const { server, scrape } = await open();
    const runOn = async (count: number) => {
      for (let index = 0; index < count; index += 1) {
        const { body } = await server.request("POST", "/threads", {});
        const { thread_id } = body as { thread_id: string };
        await server.request("POST", `/threads/${thread_id}/runs/wait`, say);
        await server.request("POST", `/threads/${thread_id}/runs/stream`, say);
        await server.request("GET", `/threads/${thread_id}/state`);
      }
    };
    const series = async () => (await scrape()).map(({ name, labels }) => name + labels);
    await runOn(2);
    const few = await series();
    await runOn(20);
    const many = await series();
    // Periodic tasks add a few more storage operations, so series by operation are excluded.
    const byRequest = (all: string[]) => all.filter((each) => !each.includes("operation="));
    expect(byRequest(many)).toEqual(byRequest(few));
    const operations = many.flatMap((each) => /_count\{operation="(.*)"\}/.exec(each)?.[1] ?? []);
    expect(
      operations.filter((name) => !/^(threads|runs|owners|checkpoints|items|usage)\.[a-zA-Z]+$/.test(name)),
    ).toEqual([]);
    expect(many.join()).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
    const names = new Set(many.flatMap((each) => Array.from(each.matchAll(/(\w+)="/g), ([, name]) => name)));
    expect([...names].sort()).toEqual(["graph", "kind", "le", "operation", "status"]);
  });

  it("concurrent scrapes and runs do not interfere", async () => {
    const { server, thread, scrape } = await open();
    const runs = Array.from({ length: 10 }, () => server.request("POST", `/threads/${thread}/runs`, say));
    const scrapes = await Promise.all(Array.from({ length: 10 }, () => scrape()));
    await Promise.all(runs);
    for (const figures of scrapes) expect(figures.length).toBeGreaterThan(0);
    const counts = (await scrape()).filter(({ name }) => name === "graph_serve_run_duration_seconds_count");
    expect(counts.map(({ value }) => value)).toEqual([10]);
  });

  it("/metrics returns 404 while the setting is off", async () => {
    const { server } = await open({ metrics: false });
    const answer = await server.request("GET", "/metrics");
    expect(answer).toMatchObject({ status: 404, body: { code: "route_not_found" } });
    expectDocumented("GET", "/metrics", answer);
  });
});
