/** The newest official client, pinned to the protocol before and since version 2026-07-28. */
import { Client, StreamableHTTPClientTransport, type ElicitResult } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as custom } from "../fixtures/graphs/custom.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { gateOf } from "../fixtures/gates.js";
import { newId } from "../../src/support/ids.js";
import { startTestServer } from "../helpers/app.js";
import { byHeader } from "../helpers/two-users.js";

const graphs = { chat, custom, fail, gate, hitl };
const hello = { messages: [{ role: "user", content: "hello" }] };
const NEW = "2026-07-28";

type Mode = "legacy" | "auto" | { pin: string };
type Answer = (message: string) => ElicitResult | Promise<ElicitResult>;
interface Result {
  isError?: boolean;
  content: { text: string }[];
  structuredContent: { thread_id: string; status: string; output: object; interrupts?: { value: unknown }[] };
}

const start = () => startTestServer({ graphs, settings: { mcp: true } });

async function connect(url: string, mode: Mode, { answer, user }: { answer?: Answer; user?: string } = {}) {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode }, capabilities: answer ? { elicitation: {} } : {} },
  );
  if (answer)
    client.setRequestHandler("elicitation/create", ({ params }) =>
      answer((params as { message: string }).message),
    );
  const requestInit = user === undefined ? {} : { headers: { user } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown>, options?: object) =>
    (await client.callTool({ name, arguments: args }, options)) as unknown as Result;
  return { client, call };
}

describe.each<[string, Mode]>([
  ["before", "legacy"],
  ["since", { pin: NEW }],
  ["negotiated", "auto"],
])("a client of the protocol %s 2026-07-28", (era, mode) => {
  it("lists the tools and continues a conversation", async () => {
    const { url } = await start();
    const { client, call } = await connect(url, mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...Object.keys(graphs), "resume_thread"]);
    const first = await call("chat", hello);
    expect(first.content[0]?.text).toBe("You said: hello");
    const { thread_id } = first.structuredContent;
    const second = await call("chat", { ...hello, thread_id });
    expect(second.structuredContent).toMatchObject({ thread_id, status: "success" });
    expect(client.getNegotiatedProtocolVersion()).toBe(era === "before" ? "2025-11-25" : NEW);
  });

  it("answers the question of a graph", async () => {
    const { url } = await start();
    const answer = vi.fn<Answer>(() => ({ action: "accept", content: { answer: "yes" } }));
    const { call } = await connect(url, mode, { answer });
    const result = await call("hitl", { topic: "cats" });
    expect(result.structuredContent).toMatchObject({ status: "success", output: { answer: "yes" } });
    expect(answer.mock.calls).toEqual([[expect.stringContaining("Approve?")]]);
  });

  it.each<[string, Answer | undefined]>([
    ["does not support elicitation", undefined],
    ["declines", () => ({ action: "decline" })],
    ["answers with an invalid form", () => ({ action: "accept", content: { other: "yes" } })],
  ])("gets the thread to resume when it %s", async (_what, answer) => {
    const { url } = await start();
    const { call } = await connect(url, mode, answer && { answer });
    const { content, structuredContent } = await call("hitl", { topic: "cats" });
    expect(structuredContent).toMatchObject({
      status: "interrupted",
      interrupts: [{ value: { question: "Approve?", topic: "cats" } }],
    });
    const { thread_id } = structuredContent;
    expect(content.map(({ text }) => text).join("\n")).toMatch(/Approve\?[^]*resume_thread[^]*thread_id: /);
    const resumed = await call("resume_thread", { thread_id, answer: "soft" });
    expect(resumed.structuredContent).toMatchObject({ status: "success", output: { answer: "soft" } });
  });

  it("receives progress and errors, and reads threads", async () => {
    const { url } = await start();
    const { client, call } = await connect(url, mode);
    const onprogress = vi.fn();
    const { structuredContent } = await call("custom", { count: 2 }, { onprogress });
    expect(onprogress.mock.calls.map(([step]) => step as unknown)).toMatchObject([
      { progress: 1, message: '{"progress":1}' },
      { progress: 2, message: '{"progress":2}' },
    ]);
    expect(await call("fail", { x: 1 })).toMatchObject({ isError: true });
    expect(await call("chat", { ...hello, thread_id: newId() })).toMatchObject({ isError: true });
    const uri = `graph-serve://threads/${structuredContent.thread_id}`;
    expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri }] });
    await expect(client.readResource({ uri: "graph-serve://threads/x" })).rejects.toThrow("is not a UUID");
    await expect(call("nothing", {})).rejects.toThrow('tool "nothing" does not exist');
  });

  it("stops the run of a call that it cancels", async () => {
    const { url, service } = await start();
    const { call } = await connect(url, mode);
    const name = newId();
    const controller = new AbortController();
    const cancelled = call("gate", { gate: name }, { signal: controller.signal });
    await gateOf(name).entered;
    controller.abort();
    await expect(cancelled).rejects.toThrow();
    await gateOf(name).aborted;
    gateOf(name).open();
    await expect.poll(async () => (await service.threads.search({})).items[0]?.status).toBe("idle");
  });

  it("does not reach the threads of another user", async () => {
    const { url } = await startTestServer({ graphs, settings: { mcp: true }, authenticate: byHeader });
    const ann = await connect(url, mode, { user: "ann" });
    const { structuredContent } = await ann.call("hitl", { topic: "cats" });
    const { thread_id } = structuredContent;
    const answer: Answer = () => ({ action: "accept", content: { answer: "stolen" } });
    const bob = await connect(url, mode, { user: "bob", answer });
    expect(await bob.call("resume_thread", { thread_id, answer: "stolen" })).toMatchObject({ isError: true });
    const list = await bob.client.listResources();
    expect(list.resources).toEqual([]);
    await expect(bob.client.readResource({ uri: `graph-serve://threads/${thread_id}` })).rejects.toThrow();
  });
});

describe("a repeated call since 2026-07-28", () => {
  const repeated = (user: string, requestState: string, inputResponses: object) => ({
    headers: {
      user,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": NEW,
      "mcp-method": "tools/call",
      "mcp-name": "hitl",
    },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "hitl",
        arguments: { topic: "cats" },
        ...{ requestState, inputResponses },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": NEW,
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
        },
      },
    },
  });

  it("is refused for a thread of another user, for an old question and for an unknown state", async () => {
    const { url, request, service } = await startTestServer({
      ...{ graphs, settings: { mcp: true }, authenticate: byHeader },
    });
    const { call } = await connect(url, { pin: NEW }, { user: "ann" });
    const { thread_id } = (await call("hitl", { topic: "cats" })).structuredContent;
    const { interrupts } = await service.threads.get(thread_id);
    const [{ id = "" } = {}] = Object.values(interrupts).flat() as { id?: string }[];
    const yes = { [id]: { action: "accept", content: { answer: "yes" } } };
    const state = JSON.stringify({ thread_id });
    const ask = async (...[user, requestState, responses]: [string, string, object]) => {
      const { body, headers } = repeated(user, requestState, responses);
      return (await request("POST", "/mcp", body, headers)).body;
    };
    const error = { result: { isError: true } };
    expect(await ask("bob", state, yes)).toMatchObject(error);
    expect(await ask("ann", state, { other: yes[id] })).toMatchObject(error);
    expect(await ask("ann", "{}", yes)).toMatchObject(error);
    expect((await service.threads.get(thread_id)).status).toBe("interrupted");
    expect(await ask("ann", state, yes)).toMatchObject({
      result: { structuredContent: { thread_id, status: "success", output: { answer: "yes" } } },
    });
    expect(await ask("ann", state, yes)).toMatchObject(error);
  });

  it("a shutdown completes a call in progress and ends subscriptions", async () => {
    const server = await start();
    const { client, call } = await connect(server.url, { pin: NEW });
    await client.listen({ toolsListChanged: true });
    const name = newId();
    const result = call("gate", { gate: name });
    await gateOf(name).entered;
    const closed = server.close();
    gateOf(name).open();
    expect((await result).structuredContent.status).toBe("success");
    await closed;
  });
});
