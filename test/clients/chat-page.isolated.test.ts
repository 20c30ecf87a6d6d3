/** User actions on a chat page with the real `useStream`: tools, reloads, several tabs. */
import { Client } from "@langchain/langgraph-sdk";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { startTestServer } from "../helpers/app.js";
import { deferred } from "../helpers/deferred.js";
import { journey, ONE_JOURNEY, visitsOf } from "./journey.js";
import { mount, textOf, type Mounted } from "./mount.js";

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

async function open() {
  const server = await startTestServer({ graphs: { agent, chat, fail, hitl, journey } });
  const client = new Client({ apiUrl: server.url, apiKey: null });
  const { thread_id: threadId } = await client.threads.create();
  return { server, client, threadId };
}

/** A sessionStorage that survives a reload of the page. */
function sessionStorage() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

type Opened = Awaited<ReturnType<typeof open>>;
type Options = Parameters<typeof mount>[0];

/** A page on the thread; closing it closes its connections. */
async function openPage({ server, threadId }: Opened, assistantId: string, options: Partial<Options> = {}) {
  const closed = new AbortController();
  const created = deferred();
  const view = await mount({
    client: new Client({
      apiUrl: server.url,
      apiKey: null,
      callerOptions: {
        maxRetries: 0,
        fetch: (url: string, init: RequestInit) =>
          fetch(url, {
            ...init,
            signal: AbortSignal.any([closed.signal, ...(init.signal ? [init.signal] : [])]),
          }),
      },
    }),
    assistantId,
    threadId,
    fetchStateHistory: true,
    onCreated: () => created.resolve(),
    ...options,
  });
  const close = () => {
    view.unmount();
    closed.abort();
  };
  return { view, created: created.promise, close };
}

/** The submit options of agent-chat-ui. */
const LIKE_THE_UI = {
  streamMode: ["values" as const],
  streamSubgraphs: true,
  streamResumable: true,
  onDisconnect: "continue" as const,
};

const human = (content: string) => ({ messages: [{ type: "human" as const, content, id: newId() }] });
const texts = ({ stream }: Mounted) => stream.messages.map(textOf);
/** The hook provides tool calls for states with messages; the type `Stream` does not include them. */
const toolCallsOf = ({ stream }: Mounted) => (stream as unknown as { toolCalls: unknown }).toolCalls;
const endsWith = (text: string) => (stream: Mounted["stream"]) =>
  !stream.isLoading && textOf(stream.messages.at(-1)) === text;

describe("tool calls", () => {
  it("tool calls are shown with their results", async () => {
    const opened = await open();
    const events: { event: string; name: string }[] = [];
    const { view } = await openPage(opened, "agent", { onToolEvent: (event) => events.push(event) });
    await view.stream.submit(human("What is 2 + 3?"), LIKE_THE_UI);
    await view.until(endsWith("The sum is 5"));
    expect(view.stream.messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "ai"]);
    expect(toolCallsOf(view)).toMatchObject([
      { call: { name: "add", args: { a: 2, b: 3 } }, result: { content: "5" }, state: "completed" },
    ]);
    expect(events.map(({ event, name }) => [event, name])).toEqual([
      ["on_tool_start", "add"],
      ["on_tool_end", "add"],
    ]);
    expect(view.stream.error).toBeUndefined();
  });

  it("tool calls are shown on a page opened later", async () => {
    const opened = await open();
    const first = await openPage(opened, "agent");
    await first.view.stream.submit(human("What is 2 + 3?"), LIKE_THE_UI);
    const { view } = await openPage(opened, "agent");
    await view.until(endsWith("The sum is 5"));
    expect(toolCallsOf(view)).toMatchObject([{ state: "completed", result: { content: "5" } }]);
  });
});

describe("a page reloaded during a run", () => {
  it("shows the whole conversation once", async () => {
    const opened = await open();
    const storage = sessionStorage();
    const reconnectOnMount = () => storage;
    const before = await openPage(opened, "journey", { reconnectOnMount });
    const name = newId();
    const submitted = before.view.stream.submit({ ...human("go"), name }, LIKE_THE_UI);
    await Promise.all([before.created, gateOf(name).entered]);
    before.close();
    await submitted;
    expect(storage.kept.size).toBe(1);

    const { view } = await openPage(opened, "journey", { reconnectOnMount });
    await view.until((stream) => stream.isLoading && stream.messages.length === 2);
    gateOf(name).open();
    await view.until((stream) => !stream.isLoading && stream.messages.length === 3);
    expect(texts(view)).toEqual(["go", expect.stringContaining("eleven"), expect.stringContaining("eleven")]);
    expect(view.stream.error).toBeUndefined();
    expect(visitsOf(name)).toEqual(ONE_JOURNEY);
    expect(await opened.client.runs.list(opened.threadId)).toMatchObject([{ status: "success" }]);
    expect(storage.kept.size).toBe(0);
  });

  it("shows a run that ended before the reload", async () => {
    const opened = await open();
    const storage = sessionStorage();
    const reconnectOnMount = () => storage;
    const before = await openPage(opened, "journey", { reconnectOnMount });
    const name = newId();
    const submitted = before.view.stream.submit({ ...human("go"), name }, LIKE_THE_UI);
    await Promise.all([before.created, gateOf(name).entered]);
    before.close();
    await submitted;
    const [{ run_id } = { run_id: "" }] = await opened.client.runs.list(opened.threadId);
    gateOf(name).open();
    await opened.client.runs.join(opened.threadId, run_id);

    const { view } = await openPage(opened, "journey", { reconnectOnMount });
    await view.until((stream) => !stream.isLoading && stream.messages.length === 3);
    expect(view.stream.error).toBeUndefined();
    expect(visitsOf(name)).toEqual(ONE_JOURNEY);
  });

  it("can stop the run", async () => {
    const opened = await open();
    const storage = sessionStorage();
    const reconnectOnMount = () => storage;
    const before = await openPage(opened, "journey", { reconnectOnMount });
    const name = newId();
    const submitted = before.view.stream.submit({ ...human("go"), name }, LIKE_THE_UI);
    await Promise.all([before.created, gateOf(name).entered]);
    before.close();
    await submitted;

    const { view } = await openPage(opened, "journey", { reconnectOnMount });
    await view.until((stream) => stream.isLoading && stream.messages.length === 2);
    await view.stream.stop();
    await gateOf(name).aborted;
    await expect
      .poll(async () => (await opened.client.runs.list(opened.threadId))[0]?.status, { timeout: 20_000 })
      .toBe("interrupted");
    expect(visitsOf(name)).toEqual(ONE_JOURNEY.slice(0, 2));
    gateOf(`${name} again`).open();
    await view.stream.submit({ ...human("again"), name: `${name} again` }, LIKE_THE_UI);
    await view.until(endsWith("one two three four five six seven eight nine ten eleven"));
    expect(visitsOf(`${name} again`)).toEqual(ONE_JOURNEY);
  });
});

describe("two tabs on one thread", () => {
  it("runs are executed in the order of submission", async () => {
    const opened = await open();
    const options = { fetchStateHistory: false };
    const [one, two] = [await openPage(opened, "journey", options), await openPage(opened, "chat", options)];
    const name = newId();
    const first = one.view.stream.submit({ ...human("from one"), name }, LIKE_THE_UI);
    await gateOf(name).entered;
    const second = two.view.stream.submit(human("from two"), {
      ...LIKE_THE_UI,
      multitaskStrategy: "enqueue",
    });
    await two.view.until((stream) => stream.isLoading);
    gateOf(name).open();
    await Promise.all([first, second]);
    await one.view.until((stream) => !stream.isLoading && stream.messages.length === 3);
    await two.view.until(endsWith("You said: from two"));
    expect(texts(two.view)).toEqual([...texts(one.view), "from two", "You said: from two"]);
    const runs = await opened.client.runs.list(opened.threadId);
    expect(runs.map(({ status, metadata }) => [status, metadata?.graph_id])).toEqual([
      ["success", "chat"],
      ["success", "journey"],
    ]);
    for (const { view } of [one, two]) expect(view.stream.error).toBeUndefined();
  });

  it("both tabs show the same run", async () => {
    const opened = await open();
    const [one, two] = [await openPage(opened, "journey"), await openPage(opened, "journey")];
    const name = newId();
    const first = one.view.stream.submit({ ...human("go"), name }, LIKE_THE_UI);
    await gateOf(name).entered;
    const [{ run_id } = { run_id: "" }] = await opened.client.runs.list(opened.threadId);
    const joined = two.view.stream.joinStream(run_id);
    await two.view.until((stream) => stream.isLoading && stream.messages.length === 2);
    gateOf(name).open();
    await Promise.all([first, joined]);
    for (const { view } of [one, two])
      await view.until((stream) => !stream.isLoading && stream.messages.length === 3);
    expect(texts(two.view)).toEqual(texts(one.view));
    expect(visitsOf(name)).toEqual(ONE_JOURNEY);
  });

  it("closing one tab does not affect the other", async () => {
    const opened = await open();
    const [one, two] = [await openPage(opened, "journey"), await openPage(opened, "journey")];
    const name = newId();
    const first = one.view.stream.submit({ ...human("go"), name }, LIKE_THE_UI);
    await gateOf(name).entered;
    const [{ run_id } = { run_id: "" }] = await opened.client.runs.list(opened.threadId);
    const joined = two.view.stream.joinStream(run_id);
    await two.view.until((stream) => stream.isLoading && stream.messages.length === 2);
    one.close();
    await first;
    gateOf(name).open();
    await joined;
    await two.view.until((stream) => !stream.isLoading && stream.messages.length === 3);
    expect(await opened.client.runs.list(opened.threadId)).toMatchObject([{ status: "success" }]);
  });

  it("an interrupt answered in one tab is resumed once", async () => {
    const opened = await open();
    const one = await openPage(opened, "hitl");
    await one.view.stream.submit({ topic: "cats" }, LIKE_THE_UI);
    await one.view.until((stream) => !stream.isLoading && stream.interrupt !== undefined);
    const two = await openPage(opened, "hitl");
    await two.view.until((stream) => stream.interrupt !== undefined);
    await two.view.stream.submit(null, { ...LIKE_THE_UI, command: { resume: "yes" } });
    await two.view.until((stream) => !stream.isLoading && stream.values.answer === "yes");
    expect(two.view.stream.interrupt).toBeUndefined();
    expect(two.view.stream.values.log).toEqual(["planned", "answered yes", "finished"]);
    expect(await opened.client.threads.get(opened.threadId)).toMatchObject({
      status: "idle",
      interrupts: {},
    });
  });

  it("a failed run in one tab does not block the next run in the other", async () => {
    const opened = await open();
    const one = await openPage(opened, "fail");
    await one.view.stream.submit({ x: 0 }, LIKE_THE_UI);
    await one.view.until((stream) => !stream.isLoading && stream.error !== undefined);
    expect(one.view.stream.error).toMatchObject({ name: "RangeError", message: "kaboom" });
    const two = await openPage(opened, "chat", { fetchStateHistory: false });
    await two.view.stream.submit(human("tea"), LIKE_THE_UI);
    await two.view.until(endsWith("You said: tea"));
    expect(await opened.client.threads.get(opened.threadId)).toMatchObject({ status: "idle", error: null });
  });
});
