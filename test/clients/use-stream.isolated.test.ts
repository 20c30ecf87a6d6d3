/** `useStream` of the SDK's React package against the real server. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { deferred } from "../helpers/deferred.js";
import { mount, textOf, type Mounted } from "./mount.js";
import { openWatched } from "./watched.js";

// The SDK also logs every error to the console.
beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

/** A component connected to `assistantId`, on a new or a given thread. */
async function open(
  assistantId: string,
  given: Partial<Awaited<ReturnType<typeof openWatched>>> & { threadId?: string } = {},
) {
  const watched = given.client ? (given as Awaited<ReturnType<typeof openWatched>>) : await openWatched();
  const threads: string[] = [];
  const created = deferred();
  const view = await mount({
    apiUrl: watched.server.url,
    assistantId,
    // A `threadId` key, even with the value undefined, prevents the hook from creating its own thread.
    ...(given.threadId !== undefined && { threadId: given.threadId }),
    fetchStateHistory: true,
    onThreadId: (id: string) => threads.push(id),
    onCreated: () => created.resolve(),
  });
  const thread = () => watched.client.threads.get(given.threadId ?? threads[0] ?? "");
  return { ...watched, view, threads, thread, created: created.promise };
}

const human = (content: string) => ({ messages: [{ type: "human" as const, content }] });

const texts = ({ stream }: Mounted) => stream.messages.map(textOf);

/** Submits a message and waits until its answer is the last message. */
async function say(view: Mounted, content: string): Promise<void> {
  await view.stream.submit(human(content));
  await view.until(
    (stream) => !stream.isLoading && textOf(stream.messages.at(-1)) === `You said: ${content}`,
  );
}

const branchesOf = ({ stream }: Mounted) =>
  stream.messages.map(
    (message, index) => stream.getMessagesMetadata(message, index)?.branchOptions?.length ?? 0,
  );

describe("a conversation", () => {
  it("is shown over several turns", async () => {
    const { view, threads, thread } = await open("chat");
    await say(view, "one");
    await say(view, "two");
    await say(view, "three");
    expect(texts(view)).toEqual(["one", "You said: one", "two", "You said: two", "three", "You said: three"]);
    expect(view.texts).toEqual(expect.arrayContaining(["You said:", "You said: one"]));
    expect(threads).toHaveLength(1);
    expect(await thread()).toMatchObject({ status: "idle" });
    expect(view.stream.error).toBeUndefined();
    expect(view.stream.interrupt).toBeUndefined();
  });

  it("is loaded on a page opened later", async () => {
    const first = await open("chat");
    await say(first.view, "one");
    const { view } = await open("chat", { ...first, threadId: first.threads[0] });
    await view.until((stream) => stream.messages.length === 2);
    await say(view, "two");
    expect(texts(view)).toEqual(["one", "You said: one", "two", "You said: two"]);
  });

  it("has no branches without edits", async () => {
    const { view } = await open("chat");
    for (const turn of ["one", "two", "three", "four"]) {
      await say(view, turn);
      expect(branchesOf(view)).toEqual(view.stream.messages.map(() => 0));
    }
  });
});

describe("regenerate", () => {
  it("creates a branch of the answer", async () => {
    const { view } = await open("chat");
    await say(view, "one");
    await say(view, "two");
    const old = view.stream.messages[3];
    if (!old) throw new Error("two turns must produce four messages");
    const { firstSeenState } = view.stream.getMessagesMetadata(old) ?? {};
    await view.stream.submit(undefined, { checkpoint: firstSeenState?.parent_checkpoint });
    await view.until((stream) => !stream.isLoading && stream.messages[3]?.id !== old.id);

    expect(texts(view)).toEqual(["one", "You said: one", "two", "You said: two"]);
    expect(branchesOf(view)).toEqual([0, 0, 0, 2]);
    const [branch] = view.stream.getMessagesMetadata(view.stream.messages[3] ?? old)?.branchOptions ?? [];
    view.stream.setBranch(branch ?? "");
    await view.until((stream) => stream.messages[3]?.id === old.id);
    expect(branchesOf(view)).toEqual([0, 0, 0, 2]);
  });

  it("creates a branch of an edited question", async () => {
    const { view } = await open("chat");
    await say(view, "one");
    await say(view, "two");
    const question = view.stream.messages[2];
    if (!question) throw new Error("two turns must produce four messages");
    const { firstSeenState } = view.stream.getMessagesMetadata(question) ?? {};
    await view.stream.submit(human("other"), { checkpoint: firstSeenState?.parent_checkpoint });
    await view.until((stream) => !stream.isLoading && textOf(stream.messages.at(-1)) === "You said: other");
    expect(texts(view)).toEqual(["one", "You said: one", "other", "You said: other"]);
    expect(branchesOf(view)[2]).toBe(2);
    await say(view, "more");
    expect(texts(view).slice(2)).toEqual(["other", "You said: other", "more", "You said: more"]);
  });
});

describe("an interrupt", () => {
  it("is shown, answered and removed", async () => {
    const { view, thread } = await open("hitl");
    await view.stream.submit({ topic: "cats" });
    await view.until((stream) => !stream.isLoading && stream.interrupt !== undefined);
    expect(view.stream.interrupt).toMatchObject({ value: { question: "Approve?", topic: "cats" } });
    expect(await thread()).toMatchObject({ status: "interrupted" });

    await view.stream.submit(null, { command: { resume: "yes" } });
    await view.until((stream) => !stream.isLoading && stream.values.answer === "yes");
    expect(view.stream.interrupt).toBeUndefined();
    expect(view.stream.values.log).toEqual(["planned", "answered yes", "finished"]);
    expect(await thread()).toMatchObject({ status: "idle", interrupts: {} });
  });

  it("is loaded on a page opened later", async () => {
    const first = await open("vault");
    await first.view.stream.submit({ topic: "cats" });
    const { view, thread } = await open("vault", { ...first, threadId: first.threads[0] });
    await view.until((stream) => stream.interrupt !== undefined);
    expect(view.stream.interrupt).toMatchObject({ value: { question: "Publish cats?" } });
    await view.stream.submit(null, { command: { resume: "no" } });
    await view.until((stream) => !stream.isLoading && stream.values.answer === "no");
    expect(await thread()).toMatchObject({ status: "idle" });
  });
});

describe("an error", () => {
  it("is shown with its message", async () => {
    const { view, thread } = await open("fail");
    await view.stream.submit({ x: 0 });
    await view.until((stream) => !stream.isLoading && stream.error !== undefined);
    expect(view.stream.error).toMatchObject({ name: "RangeError", message: "kaboom" });
    expect(await thread()).toMatchObject({ status: "error" });
  });

  it("is loaded on a page opened later", async () => {
    const first = await open("fail");
    await first.view.stream.submit({ x: 0 });
    const { view } = await open("fail", { ...first, threadId: first.threads[0] });
    await view.until((stream) => stream.error !== undefined);
    expect(view.stream.error).toMatchObject({ name: "RangeError", message: "kaboom" });
  });

  it("of a rejected request is shown", async () => {
    const { view } = await open("nobody");
    await view.stream.submit(human("tea"));
    await view.until((stream) => !stream.isLoading && stream.error !== undefined);
    expect(String(view.stream.error)).toContain("404");
  });
});

describe("stop", () => {
  it("leaves the thread idle for the next run", async () => {
    const { view, thread, client, created, next, threads } = await open("gate");
    const running = view.stream.submit({ gate: "use stop" });
    await Promise.all([created, gateOf("use stop").entered]);
    const settled = next("settled");
    await view.stream.stop();
    await Promise.all([running, settled]);
    await view.until((stream) => !stream.isLoading);
    expect(view.stream.error).toBeUndefined();
    expect(await client.runs.list(threads[0] ?? "")).toMatchObject([{ status: "interrupted" }]);
    expect(await thread()).toMatchObject({ status: "idle" });

    gateOf("use stop next").open();
    await view.stream.submit({ gate: "use stop next" });
    await view.until((stream) => !stream.isLoading && stream.values.log?.at(-1) === "after use stop next");
    expect(gateOf("use stop").passes).toBe(0);
  });
});

describe("multitaskStrategy interrupt", () => {
  // The hook aborts its own stream and posts immediately: the server may still be releasing the first run.
  it("succeeds or is rejected, and does not block later runs", async () => {
    const { view, thread, client, created, threads } = await open("gate");
    const first = view.stream.submit({ gate: "use race" });
    await Promise.all([created, gateOf("use race").entered]);
    gateOf("use race 2").open();
    await view.stream.submit({ gate: "use race 2" }, { multitaskStrategy: "interrupt" });
    await first;
    const refused = view.stream.error !== undefined;
    if (refused) expect(String(view.stream.error)).toMatch(/HTTP 409.*thread_busy/);
    expect(gateOf("use race 2").passes).toBe(refused ? 0 : 1);

    gateOf("use race 3").open();
    await view.stream.submit({ gate: "use race 3" });
    await view.until((stream) => !stream.isLoading && stream.values.log?.at(-1) === "after use race 3");
    expect(await thread()).toMatchObject({ status: "idle" });
    const statuses = (await client.runs.list(threads[0] ?? "")).map(({ status }) => status);
    expect(statuses).toEqual(refused ? ["success", "interrupted"] : ["success", "success", "interrupted"]);
    expect(gateOf("use race").passes).toBe(0);
  });
});

describe("reconnectOnMount", () => {
  it("resumes a run where the page left it", async () => {
    const { server, next, client } = await openWatched();
    const { thread_id: threadId } = await client.threads.create();
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    };
    const options = { apiUrl: server.url, assistantId: "gate", threadId, reconnectOnMount: () => storage };
    const created = deferred();
    const left = await mount({ ...options, onCreated: () => created.resolve() });
    void left.stream.submit({ gate: "use reconnect" });
    await Promise.all([created.promise, gateOf("use reconnect").entered]);
    expect([...kept.keys()]).toEqual([`lg:stream:${threadId}`]);

    const view = await mount(options);
    await view.until((stream) => stream.isLoading && stream.values.log?.length === 1);
    const settled = next("settled");
    gateOf("use reconnect").open();
    await settled;
    await view.until((stream) => !stream.isLoading && stream.values.log?.length === 3);
    expect(view.stream.error).toBeUndefined();
    expect(await client.runs.list(threadId)).toMatchObject([{ status: "success" }]);
  });
});
