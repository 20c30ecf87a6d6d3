import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError } from "../../src/errors.js";
import { newId } from "../../src/ids.js";
import { openService } from "../../src/service.js";
import { serve } from "../helpers/app.js";
import { expectDocumented } from "../helpers/documented.js";
import { allEvents } from "../helpers/sse.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";

/** A package of the interface of prom-client: each figure a line, of a histogram its count. */
const PROM_CLIENT = `
class Registry {
  figures = [];
  contentType = "text/plain; version=0.0.4; charset=utf-8";
  async metrics() { return this.figures.flatMap((figure) => figure.lines()).join("\\n") + "\\n"; }
}
class Figure {
  values = new Map();
  constructor(options) {
    if (!options.help) throw new Error("help is mandatory");
    this.options = options;
    for (const registry of options.registers) registry.figures.push(this);
  }
  add(labels, value) {
    const names = Object.keys(labels);
    for (const name of names) if (!this.options.labelNames.includes(name)) throw new Error("unknown label " + name);
    const text = names.map((name) => name + '="' + labels[name] + '"').join(",");
    const key = this.options.name + (text && "{" + text + "}");
    this.values.set(key, (this.values.get(key) ?? 0) + value);
  }
  lines() { return [...this.values].map(([key, value]) => key + " " + value); }
}
exports.Registry = Registry;
exports.Counter = class extends Figure { inc(labels, value = 1) { this.add(labels, value); } };
exports.Gauge = class extends Figure { inc() { this.add({}, 1); } dec() { this.add({}, -1); } };
exports.Histogram = class extends Figure {
  observe(labels, value) { if (!(value >= 0)) throw new Error("bad value"); this.add(labels, 1); }
};
`;

async function project(packageText?: string): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-metrics-")));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const folder = join(dir, "node_modules", "prom-client");
  await mkdir(folder, { recursive: true });
  if (packageText !== undefined) await writeFile(join(folder, "index.js"), packageText);
  return dir;
}

async function open(settings = { metrics: true }) {
  const cwd = await project(PROM_CLIENT);
  const service = await openService({ graphs: { chat, fail, gate }, cwd, settings });
  const server = await serve(service);
  const thread = (await service.threads.create({})).thread_id;
  /** The figures whose names begin so. */
  const figures = async (prefix: string): Promise<Record<string, number>> => {
    const { text } = await server.request("GET", "/metrics");
    const lines = text
      .trim()
      .split("\n")
      .map((line) => line.split(/ (?=[^ ]+$)/));
    const found = lines.filter(([name = ""]) => name.startsWith(`graph_serve_${prefix}`));
    return Object.fromEntries(
      found.map(([name = "", value]): [string, number] => [name.replace("graph_serve_", ""), Number(value)]),
    );
  };
  return { server, thread, figures };
}

const say = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hi" }] } };

describe("/metrics", () => {
  it("is what prom-client gives", async () => {
    const { server } = await open();
    const answer = await server.request("GET", "/metrics");
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expectDocumented("GET", "/metrics", answer);
  });

  it("counts runs and their tokens", async () => {
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

  it("follows streams and runs in flight", async () => {
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
    await expect.poll(() => figures("streams_open")).toEqual({ streams_open: 0 });
    expect(await figures("runs_")).toEqual({
      'runs_total{graph="chat",status="interrupted"}': 1,
      'runs_total{graph="gate",status="success"}': 1,
      runs_active: 0,
    });
    expect(await figures("run_duration")).toEqual({
      'run_duration_seconds{graph="gate",status="success"}': 1,
    });
  });

  it("times the storage", async () => {
    const { server, thread, figures } = await open();
    await server.request("POST", `/threads/${thread}/runs`, say);
    await server.request("PUT", "/store/items", { namespace: ["a"], key: "k", value: {} });
    const calls = await figures("storage_seconds");
    for (const operation of ["metadata.insertThread", "metadata.insertRun", "checkpoints.put", "items.put"])
      expect(calls[`storage_seconds{operation="${operation}"}`]).toBeGreaterThan(0);
    expect(calls['storage_seconds{operation="metadata.insertRun"}']).toBe(1);
  });

  it("is not there while the setting is off", async () => {
    const { server } = await open({ metrics: false });
    const answer = await server.request("GET", "/metrics");
    expect(answer).toMatchObject({ status: 404, body: { code: "route_not_found" } });
    expectDocumented("GET", "/metrics", answer);
  });

  it.each([
    ["that is missing", undefined, "the package prom-client is not installed"],
    ["that is broken", "throw new Error('no good');", "prom-client does not load: no good"],
  ])("a package %s is a configuration error", async (_what, text, message) => {
    const opening = openService({ graphs: { chat }, cwd: await project(text), settings: { metrics: true } });
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(message);
    if (text === undefined)
      await expect(opening).rejects.toMatchObject({
        hint: expect.stringContaining("npm install prom-client") as unknown,
      });
  });
});
