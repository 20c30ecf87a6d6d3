/** Traces of runs, as a collector receives them from the official exporter. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { loadConfig } from "../../src/config/load.js";
import { openService } from "../../src/service/service.js";
import { serve } from "../helpers/app.js";
import { type Collector, startCollector } from "../helpers/collector.js";
import { recordingLogger } from "../helpers/service.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const traceparent = `00-${TRACE}-${CALLER}-01`;
const said = (text: string) => ({ messages: [{ role: "user", content: text }] });

async function open(settings: Parameters<typeof openService>[0]["settings"] = {}) {
  const logger = recordingLogger();
  const service = await openService({ graphs: { agent, chat, fail, hitl, subgraph }, settings, logger });
  const server = await serve(service);
  const { thread_id } = await service.threads.create({});
  const run = (body: object, headers: Record<string, string> = { traceparent }) =>
    server.request("POST", `/threads/${thread_id}/runs/wait`, body, headers);
  /** Closes the server, which sends all spans. */
  const close = () => server.close(0);
  return { server, service, thread_id, run, close, logger };
}

async function treeOf(collector: Collector, body: object): Promise<string[]> {
  const { run, close } = await open();
  await run(body);
  await close();
  return collector.tree(TRACE);
}

describe("a trace", () => {
  it("has the run, its nodes, models and tools below the request of the caller", async () => {
    const collector = await startCollector();
    const tree = await treeOf(collector, { assistant_id: "agent", input: said("2 + 3?") });
    expect(tree).toEqual([
      "POST /threads/{thread_id}/runs/wait (server)",
      "  invoke_workflow agent (internal)",
      "    model_request (internal)",
      "      chat FakeModel (client)",
      "    tools (internal)",
      "      execute_tool add (internal)",
      "    model_request (internal)",
      "      chat FakeModel (client)",
    ]);
    const [server] = collector.named("POST /threads/{thread_id}/runs/wait");
    expect(server?.parentSpanId).toBe(CALLER);
    expect(server?.attributes).toMatchObject({
      "http.request.method": "POST",
      "http.route": "/threads/{thread_id}/runs/wait",
      "http.response.status_code": 200,
    });
    const [tool] = collector.named("execute_tool add");
    expect(tool?.attributes).toEqual({
      ...{
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "add",
        "gen_ai.tool.call.id": "call_add",
      },
      ...{ "graph_serve.step": 2, "graph_serve.state": "done" },
    });
  });

  it("nests subgraphs", async () => {
    const collector = await startCollector();
    const tree = await treeOf(collector, { assistant_id: "subgraph", input: said("hello") });
    expect(tree.slice(2)).toEqual([
      "    child (internal)",
      "      invoke_agent child (internal)",
      "        inner_model (internal)",
      "          chat FakeModel (client)",
      "        leaf (internal)",
      "          invoke_agent leaf (internal)",
      "            leaf_start (internal)",
      "            leaf_end (internal)",
      "    close (internal)",
    ]);
  });

  it("identifies the run, and counts its tokens", async () => {
    const collector = await startCollector();
    const { run, service, thread_id, close } = await open();
    await run({ assistant_id: "chat", input: said("hello") });
    const [stored] = await service.runs.list(thread_id, {});
    await close();
    const [span] = collector.named("invoke_workflow chat");
    expect(span?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.agent.name": "chat",
      "gen_ai.conversation.id": thread_id,
      "graph_serve.run_id": stored?.run_id,
      "graph_serve.attempt": 1,
      "graph_serve.status": "success",
      "gen_ai.usage.input_tokens": stored?.usage?.input_tokens,
      "gen_ai.usage.output_tokens": stored?.usage?.output_tokens,
    });
  });

  it("continues with the answer to a question, and links the request of the answer", async () => {
    const collector = await startCollector();
    const { run, close } = await open();
    await run({ assistant_id: "hitl", input: { topic: "tea" } });
    const later = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };
    await run({ assistant_id: "hitl", command: { resume: "yes" } }, later);
    await close();
    const [asked, answered] = collector.named("invoke_workflow hitl");
    expect(asked?.attributes["graph_serve.status"]).toBe("interrupted");
    expect(asked?.status.code).not.toBe(2);
    expect(answered?.traceId).toBe(TRACE);
    expect(answered?.parentSpanId).toBe(asked?.parentSpanId);
    expect(answered?.links.map(({ traceId }) => traceId)).toEqual(["a".repeat(32)]);
    expect(collector.tree(TRACE)).toContain("    finish (internal)");
  });

  it("marks a failed run and its node, with the class of the error but not its message", async () => {
    const collector = await startCollector();
    const { run, close } = await open();
    await run({ assistant_id: "fail", input: { x: 1 } });
    await close();
    const [span] = collector.named("invoke_workflow fail");
    expect(span?.status.code).toBe(2);
    expect(span?.attributes).toMatchObject({ "error.type": "RangeError", "graph_serve.status": "error" });
    expect(collector.named("bad")[0]?.status.code).toBe(2);
    expect(collector.named("ok")[0]?.status.code).not.toBe(2);
    expect(JSON.stringify(collector.spans)).not.toContain("kaboom");
  });

  it("starts at the server without a traceparent, or with a malformed one", async () => {
    const collector = await startCollector();
    const { run, close } = await open();
    for (const bad of ["", "00-zz", `00-${"0".repeat(32)}-${CALLER}-01`, `ff-${TRACE}-${CALLER}-01`])
      await run({ assistant_id: "chat", input: said("hello") }, bad === "" ? {} : { traceparent: bad });
    await close();
    const servers = collector.named("POST /threads/{thread_id}/runs/wait");
    expect(servers.map(({ parentSpanId }) => parentSpanId ?? "")).toEqual(["", "", "", ""]);
    expect(new Set(servers.map(({ traceId }) => traceId)).size).toBe(4);
  });

  it("is stored in the metadata of the run", async () => {
    const collector = await startCollector();
    const { run, service, thread_id, close } = await open();
    await run({ assistant_id: "chat", input: said("hello") });
    const [stored] = await service.runs.list(thread_id, {});
    await close();
    const [server] = collector.named("POST /threads/{thread_id}/runs/wait");
    expect(stored?.metadata.traceparent).toBe(`00-${TRACE}-${server?.spanId}-01`);
  });
});

describe("content", () => {
  const secret = { assistant_id: "hitl", input: { topic: "canary-in-state" } };

  it("stays out of spans by default", async () => {
    const collector = await startCollector();
    const { run, close } = await open();
    await run(secret);
    await close();
    expect(collector.spans.length).toBeGreaterThan(3);
    expect(JSON.stringify(collector.spans)).not.toContain("canary");
  });

  it("is added by trace_content: the input, and the answer that clients see", async () => {
    const collector = await startCollector();
    const { run, close } = await open({ trace_content: true });
    await run(secret);
    await close();
    const [span] = collector.named("invoke_workflow hitl");
    expect(span?.attributes["gen_ai.input.messages"]).toBe('{"topic":"canary-in-state"}');
    expect(span?.attributes["gen_ai.output.messages"]).toContain("canary-in-state");
    // The hidden channel `secret` contains this text.
    expect(JSON.stringify(collector.spans)).not.toContain("plan for canary");
  });
});

describe("trace_keep", () => {
  it("exports failed runs only", async () => {
    const collector = await startCollector();
    const { run, close } = await open({ trace_keep: ["error", "slow:1000s"] });
    await run({ assistant_id: "chat", input: said("hello") });
    await run({ assistant_id: "fail", input: { x: 1 } });
    await close();
    expect(collector.named("invoke_workflow chat")).toEqual([]);
    expect(collector.named("invoke_workflow fail")).toHaveLength(1);
  });

  it("refuses rules that do not exist", async () => {
    const loaded = loadConfig({ cwd: import.meta.dirname, env: { GRAPH_SERVE_TRACE_KEEP: "slow" } });
    await expect(loaded).rejects.toThrow(/GRAPH_SERVE_TRACE_KEEP/);
  });
});

describe("a collector", () => {
  it.each([
    ["that is down", () => 503],
    ["that limits requests", () => 429],
    ["that never answers", () => undefined],
  ])("%s delays no run", async (_, answer) => {
    await startCollector(answer);
    vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "100");
    const { run, close } = await open();
    for (let index = 0; index < 20; index++) {
      const { status, body } = await run({ assistant_id: "chat", input: said("hello") });
      expect(status).toBe(200);
      expect(body).toHaveProperty("messages");
    }
    await close();
  });

  it("needs an address", async () => {
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318");
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(openService({ graphs: { chat } })).rejects.toMatchObject({
      code: "config_invalid",
      message: 'OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" is not an HTTP URL',
      hint: "name the collector, for example http://localhost:4318, or remove the variable",
    });
  });

  it("is not used with OTEL_SDK_DISABLED, and without a collector runs have no traceparent", async () => {
    const collector = await startCollector();
    vi.stubEnv("OTEL_SDK_DISABLED", "true");
    const { run, service, thread_id, close } = await open();
    await run({ assistant_id: "chat", input: said("hello") });
    const [stored] = await service.runs.list(thread_id, {});
    await close();
    expect(collector.spans).toEqual([]);
    expect(stored?.metadata).not.toHaveProperty("traceparent");
  });
});
