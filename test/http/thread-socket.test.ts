/** Thread events and commands over a WebSocket. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { openStorage } from "../../src/storage/open.js";
import { gateOf } from "../fixtures/gates.js";
import { graphs } from "../clients/open.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { deferred } from "../helpers/deferred.js";
import { EVERY_CHANNEL, isLast, openEvents, type ThreadEvent } from "../helpers/thread-events.js";
import { byHeader } from "../helpers/two-users.js";

const says = (content: string) => ({ messages: [{ role: "user", content }] });
const newThread = (): string => crypto.randomUUID();

type Message = Partial<ThreadEvent> & { type: string; id?: number | null; error?: string } & {
  result?: Record<string, unknown>;
};

function open(server: TestServer, thread: string, headers: Record<string, string> = {}) {
  const url = `${server.url.replace("http", "ws")}/threads/${thread}/stream/events`;
  const socket = new WebSocket(url, { headers });
  onTestFinished(() => socket.terminate());
  const messages: Message[] = [];
  const watchers = new Set<() => void>();
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    expect(isBinary).toBe(false);
    messages.push(JSON.parse(data.toString()) as Message);
    for (const watch of [...watchers]) watch();
  });
  const until = (seen: (message: Message) => boolean) =>
    new Promise<Message>((resolve) => {
      const look = () => {
        const found = messages.find(seen);
        if (!found) return;
        watchers.delete(look);
        resolve(found);
      };
      watchers.add(look);
      look();
    });
  let last = 0;
  const send = (method: string, params: object = {}) => {
    const id = (last += 1);
    socket.send(JSON.stringify({ id, method, params }));
    return until((message) => message.id === id);
  };
  return { socket, messages, until, send, opened: once(socket, "open"), closed: once(socket, "close") };
}

const events = (messages: readonly Message[]) =>
  messages.filter(({ type }) => type === "event") as (Message & ThreadEvent)[];

describe("a WebSocket", () => {
  it("a subscription sends the same events as an HTTP stream, after its response", async () => {
    const server = await startTestServer({ graphs });
    const thread = newThread();
    const { send, until, messages, opened } = open(server, thread);
    await opened;
    const stream = await openEvents(server, thread);
    const subscribed = await send("subscription.subscribe", { channels: EVERY_CHANNEL });
    expect(subscribed.result).toEqual({ subscription_id: expect.any(String) as string, replayed_events: 0 });
    const { result } = await send("run.start", { assistant_id: "subgraph", input: says("hi") });
    await until(
      (message) => message.type === "event" && isLast(String(result?.run_id))(message as ThreadEvent),
    );
    const streamed = await stream.until(isLast());
    expect(events(messages)).toEqual(streamed);
    expect((await send("state.get")).result).toHaveProperty("values");
  });

  it("a late subscription replays events, and overlapping subscriptions send each new event once", async () => {
    const server = await startTestServer({ graphs });
    const thread = newThread();
    const { send, until, messages, opened } = open(server, thread);
    await opened;
    const run = async (content: string) => {
      const { result } = await send("run.start", { assistant_id: "chat", input: says(content) });
      return until(
        (message) => message.type === "event" && isLast(String(result?.run_id))(message as ThreadEvent),
      );
    };
    const channels = ["lifecycle", "values"];
    const { result } = await send("run.start", { assistant_id: "chat", input: says("hi") });
    const stream = await openEvents(server, thread, { channels });
    const streamed = await stream.until(isLast(String(result?.run_id)));
    const late = await send("subscription.subscribe", { channels });
    expect(late.result?.replayed_events).toBe(streamed.length);
    await until((message) => message.type === "event" && isLast()(message as ThreadEvent));
    expect(messages.indexOf(late)).toBe(messages.findIndex(({ type }) => type === "event") - 1);
    expect(events(messages)).toEqual(streamed);

    // This subscription missed the earlier values, so all of them are replayed.
    const values = streamed.filter(({ method }) => method === "values");
    const again = await send("subscription.subscribe", { channels: ["values"] });
    expect(again.result?.replayed_events).toBe(values.length);
    await expect.poll(() => events(messages.slice(messages.indexOf(again)))).toEqual(values);

    const told = messages.length;
    await run("more");
    const ids = events(messages.slice(told)).map(({ event_id }) => event_id);
    expect(ids.length).toBeGreaterThan(2);
    expect(ids).toEqual([...new Set(ids)]);
    const { subscription_id } = again.result as { subscription_id: string };
    expect((await send("subscription.unsubscribe", { subscription_id })).result).toEqual({});
    expect(await send("subscription.unsubscribe", { subscription_id })).toMatchObject({
      type: "error",
      error: "no_such_subscription",
    });
  });

  it("consecutive subscriptions replay as one, with the end of the run last", async () => {
    const server = await startTestServer({ graphs });
    const thread = newThread();
    const { send, until, messages, opened } = open(server, thread);
    await opened;
    const { result } = await send("run.start", { assistant_id: "chat", input: says("hi") });
    const ended = isLast(String(result?.run_id));
    await (await openEvents(server, thread)).until(ended);
    const answers = [
      ["lifecycle", "input"],
      ["values", "messages", "lifecycle"],
    ].map((channels) => send("subscription.subscribe", { channels }));
    await Promise.all(answers);
    await until((message) => message.type === "event" && ended(message as ThreadEvent));
    await send("state.get");
    const told = events(messages);
    expect(told.filter(({ method }) => method === "values").length).toBeGreaterThan(1);
    expect(told.filter(ended)).toEqual([told.at(-1)]);
  });

  it("the end of a run is sent after all its other events, across subscriptions", async () => {
    const server = await startTestServer({ graphs });
    const { send, until, messages, opened } = open(server, newThread());
    await opened;
    await send("subscription.subscribe", { channels: ["lifecycle"] });
    await send("subscription.subscribe", { channels: ["messages", "values"] });
    const { result } = await send("run.start", { assistant_id: "chat", input: says("word ".repeat(300)) });
    await until(
      (message) => message.type === "event" && isLast(String(result?.run_id))(message as ThreadEvent),
    );
    await send("state.get");
    const told = events(messages);
    expect(told.filter(({ method }) => method === "messages").length).toBeGreaterThan(300);
    expect(isLast(String(result?.run_id))(told.at(-1) as ThreadEvent)).toBe(true);
  });

  it("an invalid message is answered with an error and the socket stays open", async () => {
    const server = await startTestServer({ graphs });
    const { socket, messages, until, send, opened } = open(server, newThread());
    await opened;
    socket.send("{");
    await until(({ id }) => id === null);
    socket.send("null");
    socket.send(JSON.stringify({ id: 7 }));
    await until(({ id }) => id === 7);
    expect(messages.map(({ error }) => error)).toEqual(Array(3).fill("invalid_argument"));
    const wrong = await send("subscription.subscribe", { channels: ["vlaues"] });
    expect(wrong).toMatchObject({ type: "error", error: "invalid_argument" });
    expect(await send("run.stop")).toMatchObject({ error: "unknown_command" });
  });

  it.each([
    ["an invalid thread id", "mine", {}, 4422],
    ["another user's thread", undefined, { user: "anna" }, 4404],
  ])("a socket for %s is closed with a 44xx code", async (_, given, headers, code) => {
    const server = await startTestServer({ graphs, authenticate: byHeader });
    const user = { user: "ann" };
    const { body } = await server.request("POST", "/threads", {}, user);
    const thread = given ?? (body as { thread_id: string }).thread_id;
    const { closed } = open(server, thread, { ...user, ...headers });
    expect((await closed)[0]).toBe(code);
  });

  it.each([
    ["an unauthenticated client", {}, 401],
    ["a page of another origin", { user: "ann", origin: "https://evil.example" }, 403],
    ["a foreign Host header", { user: "ann", host: "evil.example" }, 403],
  ])("a socket is refused to %s", async (_, headers, status) => {
    const server = await startTestServer({ graphs, authenticate: byHeader });
    const url = `${server.url.replace("http", "ws")}/threads/${newThread()}/stream/events`;
    const socket = new WebSocket(url, { headers });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toContain(String(status));
  });

  it("sockets are accepted on their own route only, and plain requests return 404", async () => {
    const server = await startTestServer({ graphs });
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/ok`);
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toContain("200");
    const plain = await server.request("GET", `/threads/${newThread()}/stream/events`);
    expect(plain).toMatchObject({ status: 404, body: { code: "route_not_found" } });
  });

  it("a socket closes when its thread is deleted or the server shuts down", async () => {
    const server = await startTestServer({ graphs });
    const thread = newThread();
    const one = open(server, thread);
    const idle = open(server, newThread());
    await Promise.all([one.opened, idle.opened]);
    await one.send("subscription.subscribe", { channels: ["values"] });
    await one.send("run.start", { assistant_id: "chat", input: says("hi") });
    await one.until(({ method }) => method === "values");
    await expect.poll(async () => (await server.request("DELETE", `/threads/${thread}`)).status).toBe(204);
    expect((await one.closed)[0]).toBe(1001);
    const name = newThread();
    await idle.send("run.start", { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    await Promise.all([server.close(0), idle.closed]);
  });

  it("upgrade requests for other protocols are served as plain HTTP", async () => {
    const server = await startTestServer({ graphs });
    const { port } = new URL(server.url);
    const body = JSON.stringify({ metadata: { topic: "upgrade" } });
    const socket = connect(Number(port), "127.0.0.1");
    const head = [
      "POST /threads HTTP/1.1",
      `Host: 127.0.0.1:${port}`,
      "Connection: Upgrade, HTTP2-Settings",
      "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABkAAQAAP__",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, 10)}`);
    socket.write(body.slice(10));
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answer.toString()).toContain('"topic":"upgrade"');
    socket.destroy();
  });
});

describe("messages that a WebSocket rejects", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const start = (config: string) =>
    `{"id":1,"method":"run.start","params":{"assistant_id":"agent","input":{"messages":[]},"config":{"configurable":{"a":${config}}}}}`;

  it.each([
    ["nested too deeply", start(nested(5000)), "nested deeper than 200"],
    ["with a NUL character", start('"x\\u0000"'), "NUL character"],
    ["with too many values", start(`[${"{},".repeat(300_000)}1]`), "more than 500,000 values"],
    ["of invalid JSON", "{", "not valid JSON"],
  ])("a message %s is rejected and the thread stays idle", async (_kind, text, reason) => {
    const server = await startTestServer({ graphs });
    const thread = newThread();
    const { socket, send, until, opened } = open(server, thread);
    await opened;
    socket.send(text);
    const refused = await until(({ type }) => type === "error");
    expect(refused).toMatchObject({ error: "invalid_argument" });
    expect(JSON.stringify(refused)).toContain(reason);
    const { result } = await send("run.start", { assistant_id: "subgraph", input: says("hi") });
    const run = await server.request("GET", `/threads/${thread}/runs/${String(result?.run_id)}/join`);
    expect(run.status).toBe(200);
  });

  it("commands are executed in order, one at a time", async () => {
    const server = await startTestServer({ graphs });
    const { socket, messages, until, opened } = open(server, newThread());
    await opened;
    const ids = Array.from({ length: 300 }, (_, at) => at + 1);
    for (const id of ids) socket.send(JSON.stringify({ id, method: "state.get", params: {} }));
    await until(({ id }) => id === 300);
    expect(messages.map(({ id }) => id)).toEqual(ids);
  });

  it("1,000 commands are executed one at a time, and the socket is paused while more than 100 wait", async () => {
    const storage = await openStorage({
      checkpointer_scheme: "memory",
      checkpointer_options: {},
      max_queued_runs: 100,
    });
    const server = await startTestServer({ graphs, storage });
    const thread = newThread();
    const { socket, messages, until, send, opened } = open(server, thread);
    await opened;
    await send("run.start", { assistant_id: "chat", input: says("hi") });
    await expect
      .poll(async () => (await server.request("GET", `/threads/${thread}`)).body)
      .toMatchObject({ status: "idle" });
    const paused = vi.spyOn(WebSocket.prototype, "pause");
    onTestFinished(() => paused.mockRestore());
    const gate = deferred();
    const read = storage.checkpointer.getTuple.bind(storage.checkpointer);
    let inProgress = 0;
    let most = 0;
    storage.checkpointer.getTuple = async (config) => {
      most = Math.max(most, (inProgress += 1));
      await gate.promise;
      return read(config).finally(() => (inProgress -= 1));
    };
    const ids = Array.from({ length: 1000 }, (_, at) => at + 1000);
    for (const id of ids) socket.send(JSON.stringify({ id, method: "state.get", params: {} }));
    await expect.poll(() => inProgress).toBeGreaterThan(0);
    await expect.poll(() => paused.mock.contexts.some((each) => (each as WebSocket).isPaused)).toBe(true);
    expect((await server.request("GET", "/ok")).status).toBe(200);
    expect([inProgress, most, messages.filter(({ id }) => ids.includes(id ?? 0))]).toEqual([1, 1, []]);
    gate.resolve();
    await until(({ id }) => id === ids.at(-1));
    expect(most).toBe(1);
    expect(messages.flatMap(({ id }) => (ids.includes(id ?? 0) ? [id] : []))).toEqual(ids);
    expect(paused.mock.contexts.every((each) => !(each as WebSocket).isPaused)).toBe(true);
  });
});
