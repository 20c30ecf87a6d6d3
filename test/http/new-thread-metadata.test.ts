/** A thread created by a run gets the run's metadata on every backend, so that clients can search for it. */
import { expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { withPostgres } from "../helpers/postgres.js";
import { byHeader } from "../helpers/two-users.js";

const input = { messages: [{ role: "user", content: "hello" }] };

onEveryBackend("a thread created by a run", (backend) => {
  const open = async (more: Partial<Parameters<typeof startTestServer>[0]> = {}) => {
    const server = await startTestServer({
      graphs: { chat },
      storage: await keptStorage(backend()),
      ...more,
    });
    const user = newId();
    const send = async (path: string, body: object, headers?: Record<string, string>) => {
      const answer = await server.request("POST", path, body, headers);
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
      return answer.body;
    };
    const found = async (metadata: object, headers?: Record<string, string>) =>
      (await send("/threads/search", { metadata }, headers)) as { thread_id: string; metadata: object }[];
    return { server, user, send, found };
  };
  const run = (metadata: object, more: object = {}) => ({ assistant_id: "chat", input, metadata, ...more });
  const creating = { if_not_exists: "create" };

  it("the thread is found by the run's metadata, whichever route started the run", async () => {
    const { user, send, found } = await open();
    const metadata = { user, nested: { random: "123" } };
    const threads = [newId(), newId(), newId(), newId()];
    await send(`/threads/${threads[0]}/runs/wait`, run(metadata, creating));
    await send(`/threads/${threads[1]}/runs/stream`, run(metadata, creating));
    await send(`/threads/${threads[2]}/runs`, run(metadata, creating));
    const params = { assistant_id: "chat", input, metadata };
    await send(`/threads/${threads[3]}/commands`, { id: 1, method: "run.start", params });
    await send("/runs/wait", run(metadata, { on_completion: "keep" }));
    const all = await found({ user });
    expect(all).toHaveLength(5);
    expect(all.map(({ thread_id }) => thread_id)).toEqual(expect.arrayContaining(threads));
    expect(await found({ nested: { random: "123" }, user })).toHaveLength(5);
    const waited = await found({ user, graph_id: "chat" });
    expect(waited.find(({ thread_id }) => thread_id === threads[0])?.metadata).toEqual({
      ...metadata,
      graph_id: "chat",
      graph_version: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
      assistant_id: expect.any(String) as string,
    });
  });

  it("metadata of later runs is not added to the thread", async () => {
    const { user, send, found } = await open();
    const [made, existing] = [newId(), newId()];
    await send(`/threads/${made}/runs/wait`, run({ user }, creating));
    await send(`/threads/${made}/runs/wait`, run({ user: newId(), later: user }, creating));
    await send("/threads", { thread_id: existing, metadata: { own: user } });
    await send(`/threads/${existing}/runs/wait`, run({ later: user }, creating));
    expect((await found({ user })).map(({ thread_id }) => thread_id)).toEqual([made]);
    expect((await found({ own: user })).map(({ thread_id }) => thread_id)).toEqual([existing]);
    expect(await found({ later: user })).toEqual([]);
  });

  it("the thread has the metadata while its delayed run waits", async () => {
    if (backend().name === "a custom storage") return;
    const { user, send, found } = await open({ settings: { delayed_runs: true } });
    const thread = newId();
    await send(`/threads/${thread}/runs`, run({ user }, { ...creating, after_seconds: 3600 }));
    expect((await found({ user })).map(({ thread_id }) => thread_id)).toEqual([thread]);
  });

  it("the thread belongs to the caller even if the metadata names another owner", async () => {
    const { user, send, found } = await open({ authenticate: byHeader });
    const [ann, bob] = [{ user: `ann-${user}` }, { user: `bob-${user}` }];
    await send(`/threads/${newId()}/runs/wait`, run({ topic: user, owner: bob.user }, creating), ann);
    expect(await found({ topic: user }, bob)).toEqual([]);
    const [own, ...more] = await found({ topic: user }, ann);
    expect(more).toEqual([]);
    expect(own?.metadata).toMatchObject({ owner: ann.user });
  });
});

withPostgres("a thread created by a queued run", (postgres) => {
  it("the thread has the run's metadata before a worker claims the run", async () => {
    const { max_queued_runs: _, ...storage } = postgres.options();
    const settings = { ...storage, queue: "postgres", role: "api", stream: "postgres" } as const;
    const server = await startTestServer({ graphs: { chat }, settings });
    const thread = newId();
    const metadata = { user: newId() };
    const body = { assistant_id: "chat", input, metadata, if_not_exists: "create" };
    const run = await server.request("POST", `/threads/${thread}/runs`, body, {
      prefer: "respond-async",
    });
    expect(run.body).toMatchObject({ status: "pending" });
    const found = (await server.request("POST", "/threads/search", { metadata })).body;
    expect(found).toMatchObject([{ thread_id: thread, metadata }]);
  });
});
