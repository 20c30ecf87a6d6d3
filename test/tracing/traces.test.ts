/** Traces of runs, as a collector receives them from the official exporter. */
import { Annotation, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { loadConfig } from "../../src/config/load.js";
import { openService } from "../../src/service/open.js";
import { serve } from "../helpers/app.js";
import { type Collector, startCollector } from "../helpers/collector.js";
import { deferred } from "../helpers/deferred.js";
import { recordingLogger } from "../helpers/service.js";
import { startReceiver, webhooks } from "../helpers/webhook-receiver.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { BillingModel } from "../fixtures/billing-model.js";
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

  it("includes the runs that the graph starts on its own server", async () => {
    const collector = await startCollector();
    const ask = async () => {
      await new Client().runs.wait(null, "chat", { input: said("hello") });
      return {};
    };
    const caller = new StateGraph(MessagesAnnotation).addNode("ask", ask).addEdge(START, "ask").compile();
    const service = await openService({ graphs: { caller, chat } });
    const server = await serve(service);
    const { thread_id } = await service.threads.create({});
    const body = { assistant_id: "caller", input: said("hello") };
    await server.request("POST", `/threads/${thread_id}/runs/wait`, body, { traceparent });
    await server.close(0);
    const traceIds = ["caller", "chat"].map(
      (graph) => collector.named(`invoke_workflow ${graph}`)[0]?.traceId,
    );
    expect(traceIds).toEqual([TRACE, TRACE]);
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
      "graph_serve.version": stored?.metadata.graph_version,
      "graph_serve.status": "success",
      "gen_ai.usage.input_tokens": stored?.usage?.input_tokens,
      "gen_ai.usage.output_tokens": stored?.usage?.output_tokens,
    });
  });

  it("has the provider, tokens and cost of each model call, and what failed", async () => {
    const collector = await startCollector();
    const model = new BillingModel("cheap", () => ({ input: 100, output: 10, cached: 40 }));
    const broken = new BillingModel("broken", () => {
      throw new RangeError("kaboom");
    });
    const calls = new StateGraph(MessagesAnnotation)
      .addNode("ask", async () => ({ messages: [await model.invoke("hello")] }))
      .addNode("fail", async () => ({ messages: [await broken.invoke("hello")] }))
      .addEdge(START, "ask")
      .addEdge("ask", "fail")
      .compile();
    const settings = { prices: { cheap: { input: 1, output: 2, cache_read: 0.5 } } };
    const service = await openService({ graphs: { calls }, settings });
    const { thread_id } = await service.threads.create({});
    await service.runs.create(thread_id, { assistant_id: "calls", input: said("hello") });
    await service.close(0);
    expect(collector.named("chat cheap")[0]?.attributes).toMatchObject({
      "gen_ai.provider.name": "acme",
      "gen_ai.conversation.id": thread_id,
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.usage.cache_read.input_tokens": 40,
      "graph_serve.cost_usd": 0.0001,
    });
    for (const name of ["chat broken", "fail", "invoke_workflow calls"]) {
      const [span] = collector.named(name);
      expect([span?.status.code, span?.attributes["error.type"]], name).toEqual([2, "RangeError"]);
    }
  });

  it("adds the earlier names of attributes if the environment asks for both", async () => {
    vi.stubEnv("OTEL_SEMCONV_STABILITY_OPT_IN", "http, gen_ai/dup");
    onTestFinished(() => void vi.unstubAllEnvs());
    const collector = await startCollector();
    const { run, close } = await open();
    await run({ assistant_id: "chat", input: said("hello") });
    await close();
    const [call] = collector.spans.filter(({ name }) => name.startsWith("chat "));
    const pairs = [
      ["gen_ai.system", "gen_ai.provider.name"],
      ["gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens"],
      ["gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens"],
    ] as const;
    for (const [earlier, name] of pairs) {
      expect(call?.attributes[name]).toBeDefined();
      expect(call?.attributes[earlier], earlier).toBe(call?.attributes[name]);
    }
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
    expect(collector.named("bad")[0]?.attributes["error.type"]).toBe("RangeError");
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

it("a webhook has the trace of its run, and none without traces", async () => {
  const receiver = await startReceiver();
  const traced = async () => {
    const { run, close } = await open({ webhooks });
    await run({ assistant_id: "chat", input: said("hello"), webhook: receiver.url });
    const { headers } = await receiver.next();
    await close();
    return headers.traceparent;
  };
  expect(await traced()).toBeUndefined();
  await startCollector();
  expect(await traced()).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
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

describe("the span of a run", () => {
  it("has the number of tasks that were not recorded", async () => {
    const collector = await startCollector();
    const State = Annotation.Root({
      log: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
    });
    const wide = new StateGraph(State)
      .addNode("work", () => ({ log: 1 }))
      .addConditionalEdges(START, () => Array.from({ length: 1005 }, () => new Send("work", {})))
      .compile();
    const service = await openService({ graphs: { wide } });
    const { thread_id } = await service.threads.create({});
    await service.runs.create(thread_id, { assistant_id: "wide", input: {} });
    await service.close(0);
    const [span] = collector.named("invoke_workflow wide");
    expect(span?.attributes["graph_serve.dropped_tasks"]).toBe(5);
    expect(collector.named("work")).toHaveLength(1000);
  });

  it("is exported for states with dates, and for bigints, which no client can be sent", async () => {
    const collector = await startCollector();
    const State = Annotation.Root({ value: Annotation<unknown> });
    const odd = new StateGraph(State)
      .addNode("only", ({ value }) => ({ value: value === "date" ? new Date(0) : 2n ** 64n }))
      .addEdge(START, "only")
      .compile();
    const service = await openService({ graphs: { odd }, settings: { trace_content: true } });
    for (const value of ["date", "bigint"]) {
      const { thread_id } = await service.threads.create({});
      await service.runs.create(thread_id, { assistant_id: "odd", input: { value } }).catch(() => undefined);
    }
    await service.close(0);
    const [date, bigint] = collector.named("invoke_workflow odd");
    expect(date?.attributes["gen_ai.output.messages"]).toBe('{"value":"1970-01-01T00:00:00.000Z"}');
    expect(bigint?.attributes).toMatchObject({
      "graph_serve.status": "error",
      "error.type": "UnserializableError",
    });
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

describe("a tracer provider of the user's program", () => {
  it("gets the spans; beside Sentry or dd-trace, the server warns once of double ones", async () => {
    const { trace } = await import("@opentelemetry/api");
    const sdk = await import("@opentelemetry/sdk-trace-base");
    const exporter = new sdk.InMemorySpanExporter();
    const spanProcessors = [new sdk.SimpleSpanProcessor(exporter)];
    trace.setGlobalTracerProvider(new sdk.BasicTracerProvider({ spanProcessors }));
    onTestFinished(() => {
      trace.disable();
      vi.unstubAllGlobals();
    });
    const warnings = async () => {
      const { run, close, logger } = await open();
      await run({ assistant_id: "chat", input: said("hello") });
      await close();
      return logger.of("warn").filter((line) => line.startsWith("traces:"));
    };
    expect(await warnings()).toEqual([]);
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toContain("invoke_workflow chat");
    vi.stubGlobal("_ddtrace", {});
    expect(await warnings()).toEqual([
      expect.stringContaining("dd-trace and graph-serve both export model calls"),
    ]);
    vi.stubGlobal("__SENTRY__", {});
    expect(await warnings()).toEqual([]);
  });
});

describe("a collector", () => {
  it("that holds the spans of a run delays neither its end nor the next run", async () => {
    const held = deferred();
    const received = deferred();
    const collector = await startCollector(async () => {
      received.resolve();
      await held.promise;
      return 200;
    });
    // Sends each span at once.
    vi.stubEnv("OTEL_BSP_SCHEDULE_DELAY", "1");
    const { run, close } = await open();
    expect((await run({ assistant_id: "chat", input: said("hello") })).status).toBe(200);
    await received.promise;
    expect((await run({ assistant_id: "chat", input: said("hello") })).status).toBe(200);
    expect(collector.spans).toEqual([]);
    held.resolve();
    await close();
    expect(collector.named("invoke_workflow chat")).toHaveLength(2);
  });

  it("receives JSON at the path and with the headers of the environment", async () => {
    const collector = await startCollector();
    const { OTEL_EXPORTER_OTLP_ENDPOINT: origin } = process.env;
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `${origin}/api/public/otel`);
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20cGs6c2s=,x-api-key=key");
    const { run, close } = await open();
    await run({ assistant_id: "chat", input: said("hello") });
    await close();
    expect(collector.requests[0]).toMatchObject({
      path: "/api/public/otel/v1/traces",
      headers: {
        ...{ "content-type": "application/json", authorization: "Basic cGs6c2s=" },
        "x-api-key": "key",
      },
    });
  });

  it("that limits requests: the spans are counted as dropped", async () => {
    await startCollector(() => 429);
    vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "100");
    const { run, service, close } = await open({ metrics: true });
    await run({ assistant_id: "chat", input: said("hello") });
    await close();
    expect(await service.metrics?.text()).toMatch(/graph_serve_spans_total\{outcome="dropped"\} [1-9]/);
  });

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
