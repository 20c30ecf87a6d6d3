/** User actions on pages built with `@langchain/react` 1, in two windows of one process. */
import type { BaseMessage } from "@langchain/core/messages";
import { Client } from "@langchain/langgraph-sdk";
import type { useStream as UseStreamHook } from "@langchain/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as asking } from "../fixtures/graphs/asking.js";
import { startTestServer } from "../helpers/app.js";
import { journey } from "./journey.js";
import { mountHook, type MountedHook } from "./mount.js";
import { graphs } from "./open.js";

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

interface State extends Record<string, unknown> {
  messages: BaseMessage[];
  answers?: string[];
}

type Stream = ReturnType<typeof UseStreamHook<State>>;
type Page = MountedHook<Stream>;

async function open() {
  const server = await startTestServer({ graphs: { ...graphs, agent, asking, journey } });
  const client = new Client({ apiUrl: server.url, apiKey: null });
  const page = (assistantId: string, threadId?: string): Promise<Page> =>
    mountHook(async () => {
      const { useStream } = await import("@langchain/react");
      const options = { apiUrl: server.url, assistantId, ...(threadId && { threadId }) };
      return () => useStream<State>(options);
    });
  return { server, client, page };
}

const human = (content: string) => ({ messages: [{ type: "human" as const, content }] });
const textsOf = ({ messages }: Stream) => messages.map(({ text }) => text);
const says =
  (...texts: string[]) =>
  (stream: Stream) =>
    !stream.isLoading && JSON.stringify(textsOf(stream)) === JSON.stringify(texts);

async function say(page: Page, content: string): Promise<void> {
  await page.stream.submit(human(content) as never);
  await page.until((stream) => !stream.isLoading && textsOf(stream).at(-1) === `You said: ${content}`);
}

describe("a conversation", () => {
  it("is shown over several turns", async () => {
    const { page, client } = await open();
    const view = await page("chat");
    await say(view, "one");
    await say(view, "two words");
    expect(textsOf(view.stream)).toEqual(["one", "You said: one", "two words", "You said: two words"]);
    expect(view.stream.error).toBeUndefined();
    const state = await client.threads.getState<State>(view.stream.threadId ?? "");
    expect(state.values.messages.map(({ content }) => content)).toEqual(textsOf(view.stream));
  });

  it("is loaded once on a page opened later", async () => {
    const { page } = await open();
    const first = await page("chat");
    await say(first, "one");
    const later = await page("chat", first.stream.threadId ?? "");
    await later.until(says("one", "You said: one"));
    await say(later, "two");
    expect(textsOf(later.stream)).toHaveLength(4);
  });

  it("shows tool calls with their results", async () => {
    const { page } = await open();
    const view = await page("agent");
    await view.stream.submit(human("2 and 3?") as never);
    await view.until((stream) => !stream.isLoading && textsOf(stream).at(-1) === "The sum is 5");
    expect(view.stream.toolCalls).toMatchObject([{ name: "add", args: { a: 2, b: 3 } }]);
    expect(view.stream.messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "ai"]);
  });

  it("shows subgraphs", async () => {
    const { page } = await open();
    const view = await page("subgraph");
    await view.stream.submit(human("hi") as never);
    await view.until((stream) => !stream.isLoading && textsOf(stream).at(-1) === "closed");
    expect([...view.stream.subgraphsByNode.keys()]).toContain("child");
  });

  it("shows the error of a failed run", async () => {
    const { page } = await open();
    const view = await page("fail");
    await view.stream.submit({ x: 0 });
    await view.until((stream) => !stream.isLoading && stream.error !== undefined);
    expect(String(view.stream.error)).toContain("kaboom");
  });
});

describe("interrupts", () => {
  it("are answered together, then one of a subgraph on another page", async () => {
    const { page } = await open();
    const view = await page("asking");
    await view.stream.submit(human("go") as never);
    await view.until((stream) => !stream.isLoading && stream.interrupts.length === 2);
    const [left, right] = view.stream.interrupts.map(({ id }) => String(id));
    await view.stream.respondAll({ [left!]: { ok: true }, [right!]: "no" });
    await view.until((stream) => !stream.isLoading && stream.interrupts.length === 1);
    expect(view.stream.interrupt?.value).toEqual({ from: "within", question: "within?" });
    const another = await page("asking", view.stream.threadId ?? "");
    await another.until((stream) => stream.interrupts.length === 1);
    await another.stream.respond(false, { interruptId: another.stream.interrupt?.id });
    await another.until((stream) => !stream.isLoading && stream.values.answers?.at(-1) === "within: false");
    expect(another.stream.interrupts).toEqual([]);
    const answers = [...new Set(another.stream.values.answers)].sort();
    expect(answers).toEqual(['left: {"ok":true}', 'right: "no"', "within: false"]);
  });

  it("are answered with respond()", async () => {
    const { page } = await open();
    const view = await page("hitl");
    await view.stream.submit({ topic: "tea" });
    await view.until((stream) => !stream.isLoading && stream.interrupts.length === 1);
    await view.stream.respond("yes");
    await view.until((stream) => !stream.isLoading && stream.values.answer === "yes");
  });
});

describe("during a run", () => {
  it("stop interrupts the run, and the next run succeeds", async () => {
    const { page, client } = await open();
    const view = await page("gate");
    const name = newId();
    const submitted = view.stream.submit({ gate: name });
    await gateOf(name).entered;
    await view.until(({ isLoading }) => isLoading);
    await view.stream.stop();
    await Promise.all([gateOf(name).aborted, submitted]);
    await view.until(({ isLoading }) => !isLoading);
    const thread = view.stream.threadId ?? "";
    await expect.poll(async () => (await client.runs.list(thread))[0]?.status).toBe("interrupted");
    const next = newId();
    gateOf(next).open();
    await view.stream.submit({ gate: next });
    await view.until(
      (stream) => !stream.isLoading && JSON.stringify(stream.values).includes(`after ${next}`),
    );
  });

  it("a reloaded page and another tab show the run to its end", async () => {
    const { page } = await open();
    const name = newId();
    const first = await page("journey");
    void first.stream.submit({ ...human("go"), name } as never);
    await gateOf(name).entered;
    await first.until(({ isLoading, threadId }) => isLoading && threadId !== null);
    const thread = first.stream.threadId ?? "";
    first.unmount();
    const [again, tab] = await Promise.all([page("journey", thread), page("journey", thread)]);
    for (const view of [again, tab])
      await view.until((stream) => stream.isLoading && stream.messages.length >= 1);
    gateOf(name).open();
    for (const view of [again, tab]) {
      await view.until((stream) => !stream.isLoading && stream.messages.length === 3);
      expect(textsOf(view.stream)[0]).toBe("go");
      expect(view.stream.error).toBeUndefined();
    }
  });

  it("a turn in one tab appears in the other", async () => {
    const { page } = await open();
    const first = await page("chat");
    await say(first, "one");
    const second = await page("chat", first.stream.threadId ?? "");
    await second.until(says("one", "You said: one"));
    // An idle page opens no stream.
    await say(second, "two");
    await first.until(says("one", "You said: one", "two", "You said: two"));
    await say(first, "three");
    await second.until((stream) => !stream.isLoading && textsOf(stream).at(-1) === "You said: three");
    expect(textsOf(second.stream)).toHaveLength(6);
  });
});

describe("an edited question", () => {
  it("is answered from the checkpoint before it", async () => {
    const { page, client } = await open();
    const view = await page("chat");
    await say(view, "one");
    await say(view, "two");
    const states = await client.threads.getHistory<State>(view.stream.threadId ?? "", { limit: 20 });
    const before = states.find(({ values, next }) => values.messages?.length === 2 && next.length === 0);
    const forkFrom = before?.checkpoint.checkpoint_id ?? "";
    await view.stream.submit(human("three") as never, { forkFrom });
    await view.until(says("one", "You said: one", "three", "You said: three"));
  });
});
