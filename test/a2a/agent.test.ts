/** Graphs served as Agent2Agent (A2A) agents, called through the official client. */
import { type Message, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import { type Client, ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { describe, expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { FramesLostError, type RunFrame } from "../../src/models/run-stream.js";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as custom } from "../fixtures/graphs/custom.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { CLASSIFIED, graph as vault } from "../fixtures/graphs/vault.js";
import { gateOf } from "../fixtures/gates.js";
import { startTestServer } from "../helpers/app.js";
import { byHeader } from "../helpers/two-users.js";

const graphs = { chat, custom, fail, gate, vault };
const start = (settings: Partial<Settings> = {}) =>
  startTestServer({ graphs, settings: { a2a: true, ...settings } });

/** Connects to one agent through its agent card. */
function connect(url: string, agent: string, headers: Record<string, string> = {}): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) =>
    fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } });
  const transports = [new JsonRpcTransportFactory({ fetchImpl })];
  return cardOf(url, agent, headers).then((card) =>
    new ClientFactory({ transports }).createFromAgentCard(card),
  );
}

async function cardOf(url: string, agent: string, headers: Record<string, string>) {
  const { AgentCard } = await import("@a2a-js/sdk");
  const answer = await fetch(`${url}/.well-known/agent-card.json?assistant_id=${agent}`, { headers });
  return AgentCard.fromJSON(await answer.json());
}

type Content = Message["parts"][number]["content"];
const text = (value: string): Content => ({ $case: "text", value });
const data = (value: unknown): Content => ({ $case: "data", value });

function send(
  content: Content,
  ids: Partial<Pick<Message, "contextId" | "taskId">> = {},
  returnImmediately = false,
) {
  const part = { content, metadata: undefined, filename: "", mediaType: "" };
  return {
    tenant: "",
    message: {
      messageId: newId(),
      contextId: "",
      taskId: "",
      ...ids,
      role: Role.ROLE_USER,
      parts: [part],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    metadata: undefined,
  };
}

const byId = (id: string) => ({ tenant: "", id });
const texts = (parts: Message["parts"] = []) =>
  parts.flatMap(({ content }) => (content?.$case === "text" ? [content.value] : []));
const outputOf = ({ artifacts }: Task) =>
  artifacts.map(({ parts }) => parts.map(({ content }) => content?.value as unknown));

async function collect(stream: AsyncGenerator<StreamResponse>): Promise<StreamResponse["payload"][]> {
  const payloads: StreamResponse["payload"][] = [];
  for await (const { payload } of stream) payloads.push(payload);
  return payloads;
}

describe("an A2A agent", () => {
  it("an agent card is readable by clients of both protocol versions", async () => {
    const { url, request } = await start({ graph_descriptions: { chat: "Says it again." } });
    const { body } = await request("GET", "/a2a/chat/.well-known/agent-card.json");
    expect(body).toMatchObject({
      name: "chat",
      description: "Says it again.",
      url: `${url}/a2a/chat`,
      protocolVersion: "0.3.0",
      supportedInterfaces: [
        { url: `${url}/a2a/chat`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { protocolVersion: "0.3" },
      ],
      skills: [{ id: "chat" }],
    });
    expect((await request("GET", "/.well-known/agent-card.json")).body).toEqual(body);
    expect((await request("GET", "/a2a/nobody/.well-known/agent-card.json")).status).toBe(404);
  });

  it("a message is answered and the next one continues the same context", async () => {
    const { url } = await start();
    const client = await connect(url, "chat");
    const first = (await client.sendMessage(send(text("hello")))) as Task;
    expect(first.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(outputOf(first)[0]?.[0]).toBe("You said: hello");
    const second = (await client.sendMessage(send(text("again"), { contextId: first.contextId }))) as Task;
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
    expect(outputOf(second)[0]?.[1]).toMatchObject({ messages: [{}, {}, {}, {}] });

    expect(outputOf(await client.getTask(byId(first.id)))).toEqual(outputOf(first));
  });

  it("a graph without messages accepts its input as data", async () => {
    const { url } = await start();
    const client = await connect(url, "custom");
    const task = (await client.sendMessage(send(data({ count: 1 })))) as Task;
    expect(outputOf(task)[0]?.[1]).toEqual({ count: 1, done: true });
    await expect(client.sendMessage(send(text("one")))).rejects.toThrow("send its input as data");
  });

  it("a failed task shows only the error message of the run", async () => {
    const { url } = await start();
    const task = (await (await connect(url, "fail")).sendMessage(send(data({ x: 1 })))) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
    expect(texts(task.status?.message?.parts)).toEqual(["kaboom"]);
  });

  it("a stream contains custom events, the output and the final status", async () => {
    const { url } = await start();
    const events = await collect((await connect(url, "custom")).sendMessageStream(send(data({ count: 1 }))));
    expect(events.map((event) => event?.$case)).toEqual([
      "task",
      "statusUpdate",
      "artifactUpdate",
      "statusUpdate",
    ]);
    const [, told, , end] = events;
    expect(told?.$case === "statusUpdate" && texts(told.value.status?.message?.parts)).toEqual([
      '{"progress":1}',
    ]);
    expect(end?.$case === "statusUpdate" && end.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });
});

describe("an A2A task", () => {
  it("a task that requires input resumes with the answer under the same id", async () => {
    const { url } = await start();
    const client = await connect(url, "vault");
    const asked = (await client.sendMessage(send(data({ topic: "cats" })))) as Task;
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(texts(asked.status?.message?.parts).join()).toContain("Publish cats?");
    expect((await client.getTask(byId(asked.id))).status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);

    const answered = (await client.sendMessage(send(text("yes"), { taskId: asked.id }))) as Task;
    expect(answered).toMatchObject({ id: asked.id, contextId: asked.contextId });
    expect(outputOf(answered)[0]?.[1]).toEqual({ topic: "cats", answer: "yes" });
    const last = await client.getTask(byId(asked.id));
    expect(last.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    await expect(client.sendMessage(send(text("more"), { taskId: asked.id }))).rejects.toThrow(
      "is not waiting for input",
    );
    expect(JSON.stringify([asked, answered, last])).not.toContain(CLASSIFIED);
  });

  it("a task started with returnImmediately can be followed and cancelled", async () => {
    const { url } = await start();
    const client = await connect(url, "gate");
    const name = newId();
    const task = (await client.sendMessage(send(data({ gate: name }), {}, true))) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    await gateOf(name).entered;
    expect((await client.getTask(byId(task.id))).status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const followed = collect(client.resubscribeTask(byId(task.id)));
    const cancelled = await client.cancelTask({ ...byId(task.id), metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const end = (await followed).at(-1);
    expect(end?.$case === "statusUpdate" && end.value.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(client.cancelTask({ ...byId(task.id), metadata: undefined })).rejects.toThrow("not running");
  });

  it("a task is cancelled when its client disconnects under on_disconnect cancel", async () => {
    const { url, service } = await start();
    const client = await connect(url, "gate");
    const name = newId();
    const abort = new AbortController();
    const call = client.sendMessage(send(data({ gate: name })), { signal: abort.signal });
    call.catch(() => undefined);
    await gateOf(name).entered;
    abort.abort();
    await gateOf(name).aborted;
    await expect.poll(async () => (await service.threads.search({})).items[0]?.status).toBe("idle");
  });
});

describe("A2A callers", () => {
  it("a user cannot see or continue the tasks and contexts of another user", async () => {
    const { url, request } = await startTestServer({
      graphs,
      settings: { a2a: true },
      authenticate: byHeader,
    });
    const [ann, bob] = [
      await connect(url, "chat", { user: "ann" }),
      await connect(url, "chat", { user: "bob" }),
    ];
    const { id, contextId } = (await ann.sendMessage(send(text("hello")))) as Task;
    await expect(bob.getTask(byId(id))).rejects.toThrow("does not exist");
    await expect(bob.cancelTask({ ...byId(id), metadata: undefined })).rejects.toThrow("does not exist");
    await expect(bob.sendMessage(send(text("hello"), { taskId: id }))).rejects.toThrow("does not exist");
    await expect(bob.sendMessage(send(text("hello"), { contextId }))).rejects.toThrow();
    expect((await request("POST", "/a2a/chat", {})).status).toBe(401);
  });

  it.each([
    ["SendMessage", { "A2A-Version": "1.0" }, "taskPushNotificationConfig"],
    ["message/send", {}, "pushNotificationConfig"],
  ])("push notifications requested by %s are rejected", async (method, headers, field) => {
    const { request } = await start();
    const isLegacy = method === "message/send";
    const message = isLegacy
      ? { kind: "message", messageId: newId(), role: "user", parts: [{ kind: "text", text: "hello" }] }
      : { messageId: newId(), role: "ROLE_USER", parts: [{ text: "hello" }] };
    const configuration = { acceptedOutputModes: [], [field]: { url: "http://169.254.169.254/" } };
    const call = { jsonrpc: "2.0", id: 1, method, params: { message, configuration } };
    const { body } = await request("POST", "/a2a/chat", call, headers);
    expect(body).toMatchObject({ error: { code: -32003 } });
    expect((await request("POST", "/threads/search", {})).body).toEqual([]);
  });

  it("a client without a version header is served as version 0.3", async () => {
    const { request } = await start();
    const message = {
      kind: "message",
      messageId: newId(),
      role: "user",
      parts: [{ kind: "text", text: "hello" }],
    };
    const call = { jsonrpc: "2.0", id: 1, method: "message/send", params: { message } };
    const { body } = await request("POST", "/a2a/chat", call);
    expect(body).toMatchObject({
      id: 1,
      result: {
        kind: "task",
        status: { state: "completed" },
        artifacts: [{ parts: [{ kind: "text", text: "You said: hello" }, { kind: "data" }] }],
      },
    });
    const configured = { message, configuration: { acceptedOutputModes: ["text/plain"] } };
    expect((await request("POST", "/a2a/chat", { ...call, params: configured })).body).toMatchObject({
      result: { status: { state: "completed" } },
    });
    const { id } = (body as { result: { id: string } }).result;
    const get = { jsonrpc: "2.0", id: 2, method: "tasks/get", params: { id } };
    expect((await request("POST", "/a2a/chat", get)).body).toMatchObject({ result: { id } });
    const stream = await request("POST", "/a2a/chat", { ...call, method: "message/stream" });
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    expect(stream.text).toContain('"final":true');
  });
});

describe("A2A tasks with lost frames", () => {
  it("a task still reports its final status and output when frames are lost", async () => {
    const { url, service } = await start();
    const { runs } = service;
    const streamAndWait = runs.streamAndWait.bind(runs);
    runs.streamAndWait = async (...call) => Object.assign(await streamAndWait(...call), { frames: lost() });
    const agent = await connect(url, "chat");
    const task = (await agent.sendMessage(send(text("hello")))) as Task;
    expect(Number(task.status?.state)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(JSON.stringify(task.artifacts)).toContain("You said: hello");
  });

  async function* lost(): AsyncGenerator<readonly RunFrame[]> {
    throw new FramesLostError();
  }
});

describe("invalid A2A requests", () => {
  const V1 = { "A2A-Version": "1.0" };
  const raw = (fields: object) => {
    const message = { messageId: "1", role: "ROLE_USER", parts: [{ text: "hello" }], ...fields };
    return { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
  };

  const legacy = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
  const sent = (...parts: object[]) => ({ kind: "message", messageId: "1", role: "user", parts });

  it.each([
    ["SendMessage", {}, "send the header A2A-Version: 1.0"],
    ["message/send", V1, "send no header A2A-Version, or 0.3"],
  ])("%s, of the other version, is refused with the header to send", async (method, headers, fix) => {
    const { request } = await start();
    const { body } = await request(
      "POST",
      "/a2a/chat",
      { jsonrpc: "2.0", id: 1, method, params: {} },
      headers,
    );
    expect(body).toMatchObject({
      id: 1,
      error: { code: -32601, message: expect.stringContaining(fix) as string },
    });
  });

  it.each([
    ["invalid JSON", "{", V1, -32700],
    ["an empty body", "", V1, -32602],
    ["a batch", "[]", V1, -32600],
    ["an unsupported version", "{}", { "A2A-Version": "9.9" }, -32009],
    ["an unknown method", { jsonrpc: "2.0", id: 1, method: "Nothing", params: {} }, V1, -32601],
    ["an unknown task", { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "../../x" } }, V1, -32001],
    ["an invalid context id", raw({ contextId: "x" }), V1, -32602],
    ["a file part", raw({ parts: [{ raw: "eA==" }] }), V1, -32005],
    ["a message without parts", raw({ parts: [] }), V1, -32602],
    ["a missing message", { jsonrpc: "2.0", id: 1, method: "SendMessage", params: {} }, V1, -32602],
    ["a file part without a file", legacy("message/send", { message: sent({ kind: "file" }) }), {}, -32602],
    ["a message of 0.3 without parts", legacy("message/send", { message: sent() }), {}, -32602],
    ["a push notification without params", legacy("tasks/pushNotificationConfig/set", {}), {}, -32602],
    ["ListTasks", { jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} }, V1, -32004],
  ])("%s is rejected with its error code", async (_what, body, headers, code) => {
    const { request } = await start();
    expect(await request("POST", "/a2a/chat", body, headers)).toMatchObject({
      status: 200,
      body: { error: { code } },
    });
  });

  it("oversized bodies, foreign origins and unknown graphs are rejected", async () => {
    const { request } = await start({ body_limit: 1000 });
    expect((await request("POST", "/a2a/chat", { text: "x".repeat(2000) })).status).toBe(413);
    expect((await request("POST", "/a2a/chat", {}, { Origin: "https://evil.example" })).status).toBe(403);
    expect((await request("POST", "/a2a/nobody", {})).status).toBe(404);
    expect((await request("GET", "/a2a/chat")).status).toBe(404);
  });

  it("A2A routes return 404 while the setting is off", async () => {
    const { request } = await startTestServer({ graphs });
    expect((await request("POST", "/a2a/chat", {})).status).toBe(404);
    expect((await request("GET", "/.well-known/agent-card.json")).status).toBe(404);
  });

  it("internal errors are not exposed to clients", async () => {
    const { request, service } = await start();
    service.threads.create = () => Promise.reject(new Error("postgres://user:word@host is away"));
    const { text } = await request("POST", "/a2a/chat", raw({}), V1);
    expect(text).toContain("internal error");
    expect(text).not.toContain("postgres");
  });
});
