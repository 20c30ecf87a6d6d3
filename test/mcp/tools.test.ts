/** Graphs as MCP tools, called by the official client over HTTP. */
import { describe, expect, it, vi } from "vitest";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as custom } from "../fixtures/graphs/custom.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { CLASSIFIED, graph as vault } from "../fixtures/graphs/vault.js";
import { gateOf } from "../fixtures/gates.js";
import { newId } from "../../src/support/ids.js";
import type { Settings } from "../../src/config/settings.js";
import { callTool } from "../../src/mcp/call.js";
import type { CallerService } from "../../src/service/service.js";
import { startTestServer } from "../helpers/app.js";
import { recordingLogger } from "../helpers/service.js";
import { type Asked, connectHttp } from "./client.js";

const graphs = { chat, custom, fail, gate, hitl, vault };

const start = (settings: Partial<Settings> = {}) =>
  startTestServer({ graphs, settings: { mcp: true, ...settings } });

const hello = { messages: [{ role: "user", content: "hello" }] };

describe("MCP tools", () => {
  it("each graph is a tool with its schema and description, next to resume_thread", async () => {
    const { url } = await start({ graph_descriptions: { chat: "Says it again." } });
    const { client } = await connectHttp(url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...Object.keys(graphs), "resume_thread"]);
    expect(tools[0]).toMatchObject({
      description: "Says it again.",
      inputSchema: {
        type: "object",
        properties: { messages: { type: "array" }, thread_id: { type: "string" } },
      },
    });
    expect(client.getServerVersion()?.name).toBe("graph-serve");
  });

  it("a tool call runs the graph and continues the thread given by thread_id", async () => {
    const { url } = await start();
    const client = await connectHttp(url);
    const first = await client.call("chat", hello);
    expect(first.isError).toBeUndefined();
    expect(first.texts).toEqual(["You said: hello", `thread_id: ${first.data.thread_id}`]);
    expect(first.data).toMatchObject({ status: "success", output: { messages: [{}, { type: "ai" }] } });

    const { thread_id } = first.data;
    const second = await client.call("chat", { ...hello, thread_id });
    expect(second.data.thread_id).toBe(thread_id);
    expect(second.data.output.messages).toHaveLength(4);
  });

  it("a failed run returns only its error message", async () => {
    const { url } = await start();
    const client = await connectHttp(url);
    const answer = await client.call("fail", { x: 1 });
    const { thread_id } = answer.data;
    const error = { error: "RangeError", message: "kaboom" };
    expect(answer).toEqual({
      isError: true,
      texts: ["kaboom", `thread_id: ${thread_id}`],
      data: { thread_id, status: "error", output: {}, error },
    });
  });

  it("an invalid call returns an error and creates no thread", async () => {
    const { url, service } = await start();
    const client = await connectHttp(url);
    expect(await client.call("chat", { messages: [{ role: "nobody" }] })).toMatchObject({ isError: true });
    expect(await client.call("chat", { ...hello, thread_id: 7 })).toMatchObject({
      isError: true,
      texts: ["thread_id must be the id of a conversation"],
    });
    const thread_id = newId();
    expect(await client.call("chat", { ...hello, thread_id })).toMatchObject({
      isError: true,
      texts: [`thread "${thread_id}" does not exist`],
    });
    await expect(client.call("chatt", {})).rejects.toThrow('tool "chatt" does not exist');
    expect(await service.threads.count({})).toBe(0);
  });

  it("values outside the output schema are never returned", async () => {
    const { url } = await start();
    const client = await connectHttp(url, {
      onAsk: () => ({ action: "accept", content: { answer: "yes" } }),
    });
    const told: unknown[] = [];
    const answer = await client.call("vault", { topic: "cats" }, { onprogress: (step) => told.push(step) });
    expect(answer.data.output).toEqual({ topic: "cats", answer: "yes" });
    const { uri } = (await client.client.listResources()).resources[0] ?? { uri: "" };
    const read = await client.client.readResource({ uri });
    const { tools } = await client.client.listTools();
    expect(JSON.stringify([answer, told, read, tools])).not.toContain(CLASSIFIED);
  });
});

describe("MCP progress", () => {
  it("custom events and model tokens are sent as progress", async () => {
    const { url } = await start();
    const client = await connectHttp(url);
    const told: { progress: number; message?: string }[] = [];
    const onprogress = (step: { progress: number; message?: string }) => void told.push(step);
    await client.call("custom", { count: 2 }, { onprogress });
    expect(told).toEqual([
      { progress: 1, message: '{"progress":1}' },
      { progress: 2, message: '{"progress":2}' },
    ]);
    told.length = 0;
    await client.call("chat", hello, { onprogress });
    expect(told[0]).toMatchObject({ progress: 1, message: expect.stringMatching(/^You/) as string });
  });
});

describe("a cancelled MCP call", () => {
  it("a call cancelled by its client stops the run", async () => {
    const { url, service } = await start({ on_disconnect: "continue" });
    const client = await connectHttp(url);
    const name = newId();
    const abort = new AbortController();
    const call = client.call("gate", { gate: name }, { signal: abort.signal });
    await gateOf(name).entered;
    abort.abort("enough");
    await expect(call).rejects.toThrow("enough");
    await gateOf(name).aborted;
    await expect.poll(async () => (await service.threads.search({})).items[0]?.status).toBe("idle");
    expect(gateOf(name).passes).toBe(0);
  });

  it("a call whose run is cancelled through the API returns status cancelled", async () => {
    const { url, service } = await start();
    const client = await connectHttp(url);
    const name = newId();
    const call = client.call("gate", { gate: name });
    await gateOf(name).entered;
    const thread_id = (await service.threads.search({})).items[0]?.thread_id ?? "";
    await service.runs.cancelMany({ thread_id });
    expect(await call).toMatchObject({
      isError: true,
      texts: ["The run was cancelled.", `thread_id: ${thread_id}`],
      data: { status: "cancelled" },
    });
  });

  it.each([
    ["cancel", false],
    ["continue", true],
  ] as const)("a broken connection follows on_disconnect %s", async (on_disconnect, goesOn) => {
    const { url, service } = await start({ on_disconnect });
    const name = newId();
    const abort = new AbortController();
    const request = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "gate", arguments: { gate: name } },
    };
    const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    const body = JSON.stringify(request);
    const answer = await fetch(`${url}/mcp`, { method: "POST", body, headers, signal: abort.signal });
    await gateOf(name).entered;
    abort.abort();
    await answer.text().catch(() => undefined);
    if (!goesOn) await gateOf(name).aborted;
    gateOf(name).open();
    await expect.poll(async () => (await service.threads.search({})).items[0]?.status).toBe("idle");
    expect(gateOf(name).passes).toBe(goesOn ? 1 : 0);
  });
});

describe("an interrupt in an MCP tool", () => {
  it("an interrupt is answered through elicitation and the run resumes", async () => {
    const { url } = await start();
    const onAsk = vi.fn((_asked: Asked) => ({ action: "accept" as const, content: { answer: "yes" } }));
    const client = await connectHttp(url, { onAsk });
    const answer = await client.call("hitl", { topic: "cats" });
    expect(answer.data).toMatchObject({ status: "success", output: { answer: "yes" } });
    expect(
      onAsk.mock.calls.map(([{ message, requestedSchema }]) => ({ message, requestedSchema })),
    ).toMatchObject([
      { message: expect.stringContaining("Approve?") as string, requestedSchema: { required: ["answer"] } },
    ]);
  });

  it.each([
    ["does not support elicitation", undefined],
    ["declines", () => ({ action: "decline" as const })],
    ["answers with an invalid form", () => ({ action: "accept" as const, content: { other: "yes" } })],
  ])("a call returns the thread to resume when the client %s", async (_what, onAsk) => {
    const { url } = await start();
    const client = await connectHttp(url, onAsk && { onAsk });
    const { texts, data, isError } = await client.call("hitl", { topic: "cats" });
    expect(isError).toBeUndefined();
    expect(data).toMatchObject({
      status: "interrupted",
      interrupts: [{ value: { question: "Approve?", topic: "cats" } }],
    });
    expect(texts.join("\n")).toMatch(/Approve\?[^]*resume_thread[^]*thread_id: [0-9a-f-]{36}/);

    const { thread_id } = data;
    const resumed = await client.call("resume_thread", { thread_id, answer: "soft" });
    expect(resumed.data).toMatchObject({ thread_id, status: "success", output: { answer: "soft" } });
  });

  it("a call returns the thread to resume when the server shuts down before the answer", async () => {
    const server = await start();
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const onAsk = () => (asked(), new Promise<never>(() => {}));
    const client = await connectHttp(server.url, { onAsk });
    const call = client.call("hitl", { topic: "cats" });
    await isAsked;
    await Promise.all([
      server.close(),
      expect(call).resolves.toMatchObject({ data: { status: "interrupted" } }),
    ]);
  });

  it("resume_thread fails for an unknown thread and for one without a run", async () => {
    const { url, service } = await start();
    const client = await connectHttp(url);
    const { thread_id } = await service.threads.create({});
    expect(await client.call("resume_thread", { thread_id, answer: 1 })).toMatchObject({
      isError: true,
      texts: ["the thread has no run to continue"],
    });
    expect(await client.call("resume_thread", { thread_id: newId(), answer: 1 })).toMatchObject({
      isError: true,
    });
  });

  it("resume_thread fails without an answer, and for a thread that asks no question", async () => {
    const { url } = await start();
    const client = await connectHttp(url);
    const { thread_id } = (await client.call("hitl", { topic: "cats" })).data;
    expect(await client.call("resume_thread", { thread_id })).toMatchObject({
      isError: true,
      texts: ["answer is missing: pass the answer to the question of the thread"],
    });
    expect(await client.call("resume_thread", { thread_id, answer: "soft" })).toMatchObject({
      data: { status: "success", output: { answer: "soft" } },
    });
    expect(await client.call("resume_thread", { thread_id, answer: "loud" })).toMatchObject({
      isError: true,
      texts: [expect.stringContaining("the thread asks no question")],
    });
  });

  it("the log says that the thread of a rejected call could not be deleted", async () => {
    const logger = recordingLogger();
    const failing = (message: string) => vi.fn(() => Promise.reject(new Error(message)));
    const service = {
      logger,
      threads: { create: () => Promise.resolve({ thread_id: newId() }), delete: failing("disk full") },
      runs: { streamAndWait: failing("rejected") },
    } as unknown as CallerService;
    const call = { service, signal: new AbortController().signal, resume: "resume_thread" };
    await expect(
      callTool(call, { kind: "graph", graphId: "chat", threadId: undefined, input: {} }),
    ).rejects.toThrow("rejected");
    expect(logger.of("warn")).toEqual(["the thread of a rejected run could not be deleted"]);
  });
});
