/** `trace` and `trace export`: the spans of stored runs, from the storage and from a server. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { openService } from "../../src/service/open.js";
import { cli, createProject } from "../cli/harness.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { gateOf } from "../fixtures/gates.js";
import { serve } from "../helpers/app.js";
import { startCollector } from "../helpers/collector.js";

const said = { messages: [{ role: "user", content: "2 + 3?" }] };
const TREE = [
  "invoke_workflow agent",
  "  model_request",
  "    chat FakeModel",
  "  tools",
  "    execute_tool add",
  "  model_request",
  "    chat FakeModel",
];

/** A server that has executed two runs without traces, on a SQLite file. */
async function opened() {
  const project = await createProject();
  onTestFinished(() => project.remove());
  const db = join(project.dir, "threads.db");
  const settings = { checkpointer_scheme: "sqlite", checkpointer_uri: db };
  const service = await openService({ graphs: { agent, fail, gate }, settings });
  const { url } = await serve(service);
  const { thread_id } = await service.threads.create({});
  const run = await service.runs.create(thread_id, { assistant_id: "agent", input: said });
  const failing = await service.threads.create({});
  const failed = await service.runs
    .create(failing.thread_id, { assistant_id: "fail", input: { x: 1 } })
    .catch(() => undefined);
  const places = { db: ["--db", db], url: ["--url", url] };
  const trace = (place: keyof typeof places, ...argv: string[]) =>
    cli(["trace", ...argv, ...places[place]], { cwd: project.dir });
  return { service, run, thread_id, failing, failed, trace };
}

describe.each(["db", "url"] as const)("trace with --%s", (place) => {
  it("shows the tree of spans of a run, with tokens, states and times", async () => {
    const { run, thread_id, trace } = await opened();
    const { code, stdout } = await trace(place, run.run_id.slice(0, 18));
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^run +${run.run_id}\\nthread +${thread_id}\\nstatus +success$`, "m"));
    const [, table = ""] = stdout.split("\n\n");
    const [head = "", ...rows] = table.trimEnd().split("\n");
    expect(head.split(/ {2,}/)).toEqual(["SPAN", "START", "TOOK", "STEP", "TOKENS", "STATE"]);
    expect(rows.map((row) => / *\S+ ?\w*/.exec(row)?.[0].trimEnd())).toEqual(TREE);
    expect(rows[2]).toMatch(/chat FakeModel +\+\d+ ms +\d+ ms +1 +\d+ in, \d+ out +done$/);
  });

  it("prints the tree as JSON, and marks what failed", async () => {
    const { failing, trace } = await opened();
    const { code, stdout } = await trace(place, "@last", "--json");
    const document = JSON.parse(stdout) as object;
    expect(code).toBe(0);
    expect(document).toMatchObject({
      ...{ thread_id: failing.thread_id, status: "error", trace_id: null },
      ...{ name: "invoke_workflow fail", kind: "internal", failed: true },
      attributes: { "gen_ai.operation.name": "invoke_workflow", "error.type": "error" },
      spans: expect.arrayContaining([
        expect.objectContaining({ name: "ok", failed: false, spans: [] }),
        expect.objectContaining({ name: "bad", failed: true }),
      ]) as unknown,
    });
  });
});

describe("trace", () => {
  it("says where a run without recorded tasks is executed", async () => {
    const { service, trace } = await opened();
    const { thread_id } = await service.threads.create({});
    const { run } = await service.runs.stream(thread_id, { assistant_id: "gate", input: { gate: "trace" } });
    await gateOf("trace").entered;
    const { run_id } = run;
    const { stderr } = await trace("db", run_id);
    expect(stderr).toContain(
      `the run has not ended: only its server has its tasks, graph-serve trace ${run_id} --url URL reads them`,
    );
    expect((await trace("url", run_id)).stdout).toMatch(/^ {2}wait .+running$/m);
    gateOf("trace").open();
  });
});

describe("trace export", () => {
  it("exports stored runs, and the same spans if it is repeated", async () => {
    const { run, trace } = await opened();
    const collector = await startCollector();
    const { code, stdout } = await trace("db", "export", "--since", "1h");
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^2 runs, \d+ spans exported to http:\/\/127\.0\.0\.1:\d+\n$/),
    ]);
    const traceId = run.run_id.replaceAll("-", "");
    const tree = collector.tree(traceId).map((line) => line.replace(/ \(.*/, ""));
    expect(tree).toEqual(TREE);
    const [root] = collector.named("invoke_workflow agent");
    expect(root?.attributes).toMatchObject({
      ...{ "graph_serve.run_id": run.run_id, "graph_serve.status": "success", "graph_serve.attempt": 1 },
      "gen_ai.usage.input_tokens": run.usage?.input_tokens,
    });
    expect(JSON.stringify(collector.spans)).not.toContain("2 + 3?");
    const first = collector.spans.splice(0);
    await trace("url", "export", "--since", "1h");
    const ids = (spans: typeof first) => spans.map(({ spanId }) => spanId).sort();
    expect(ids(collector.spans)).toEqual(ids(first));
    expect(new Set(ids(first)).size).toBe(first.length);
  });

  it("exports runs that their server has exported with the same ids of traces and spans", async () => {
    const collector = await startCollector();
    const { service, trace } = await opened();
    await service.close(0);
    const idsOfRuns = () =>
      collector.spans
        .splice(0)
        .filter(({ name }) => !name.startsWith("create_run"))
        .map(({ traceId, spanId, parentSpanId, name }) => [name, traceId, spanId, parentSpanId].join(" "))
        .sort();
    const live = idsOfRuns();
    const { stdout } = await trace("db", "export", "--since", "1h", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ runs: 2, spans: live.length });
    expect(idsOfRuns()).toEqual(live);
    expect(new Set(live).size).toBe(live.length);
  });

  it("exports the runs that are named, below the trace that started them", async () => {
    vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "100");
    const lost = await startCollector(() => 503);
    const { run, trace } = await opened();
    expect(lost.spans).toEqual([]);
    const collector = await startCollector();
    const { stdout } = await trace("db", "export", run.run_id, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ runs: 1, unfinished: 0, spans: TREE.length });
    const [root] = collector.named("invoke_workflow agent");
    expect(String(run.metadata.traceparent)).toBe(`00-${root?.traceId}-${root?.parentSpanId}-01`);
  });

  it.each([
    [429, "it limits requests or is overloaded (status 429, 502, 503 or 504)", "repeat the command later"],
    [401, "it answered with status 401", "OTEL_EXPORTER_OTLP_HEADERS"],
  ])("explains a collector that answers %i", async (status, why, hint) => {
    const { trace } = await opened();
    await startCollector(() => status);
    vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "200");
    const { code, stderr } = await trace("db", "export", "--since", "1h");
    expect(code).toBe(3);
    expect(stderr).toContain(why);
    expect(stderr).toContain(hint);
  });

  it("explains a collector that is down", async () => {
    const { trace } = await opened();
    const closed = createServer().listen(0, "127.0.0.1");
    await new Promise((listening) => closed.once("listening", listening));
    const { port } = closed.address() as AddressInfo;
    await new Promise((done) => closed.close(done));
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `http://127.0.0.1:${port}`);
    vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "200");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { code, stderr } = await trace("db", "export", "--since", "1h");
    expect(code).toBe(3);
    expect(stderr).toContain(`the collector at http://127.0.0.1:${port} did not accept the spans`);
    expect(stderr).toContain("ECONNREFUSED");
    expect(stderr).toContain("start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT");
  });

  it.each([
    [["export"], "no runs to export were named", "trace export --since 1h"],
    [["export", "--since", "1h", "0198c0de"], "--since selects runs by time", "remove one of them"],
    [
      ["export", "--since", "1h"],
      "OTEL_EXPORTER_OTLP_ENDPOINT is not set",
      "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318",
    ],
  ])("refuses %j, and says what to do", async (argv, why, hint) => {
    const { trace } = await opened();
    const { code, stderr } = await trace("db", ...argv);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
    expect(stderr).toContain(hint);
  });
});
