/**
 * Users with different kinds of scopes cannot place a thread in another user's list or take one over, on
 * every backend.
 */
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { expect, it, onTestFinished } from "vitest";
import { newId } from "../../../src/support/ids.js";
import type { Authenticate } from "../../../src/models/caller.js";
import type { ThreadFile } from "../../../src/models/thread-file.js";
import { openService } from "../../../src/service/open.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { graph as chat } from "../../fixtures/graphs/chat.js";
import { serve, type Answer } from "../../helpers/app.js";
import { keptStorage, type OnBackends, openBackend, withoutRows } from "../../helpers/backends.js";

const WORD = "pomegranate";

/** `owner ann` is a single user; `org north` is any member of that organization. */
const byKind: Authenticate = ({ headers }) => {
  const [kind = "", name = ""] = String(headers.user).split(" ");
  return { identity: String(headers.user), metadata: { [kind]: name } };
};

type Ask = (request: string, body?: unknown) => Promise<Answer>;

/** Starts a server with users that no other test uses. */
async function open(storage: Storage, users = names(), authenticate: Authenticate | undefined = byKind) {
  const service = await openService({ graphs: { chat }, storage, authenticate });
  const server = await serve(service);
  const as =
    (user: string): Ask =>
    (request, body) => {
      const [method = "", path = ""] = request.split(" ");
      return server.request(method, path, body, { user });
    };
  const stop = async () => {
    await server.close(0);
    await service.close(0);
  };
  onTestFinished(stop);
  const { mallory, north, ann } = users;
  return {
    users,
    service,
    stop,
    mallory: as(`owner ${mallory}`),
    ann: as(`owner ${ann}`),
    north: as(`org ${north}`),
    /** Metadata that marks a thread as owned by north. */
    planted: { org: north },
  };
}

const names = () => ({ mallory: newId(), ann: newId(), north: newId() });

const say = { assistant_id: "chat", input: { messages: [{ role: "user", content: WORD }] } };
const field = ({ body }: Answer, name: string) => (body as Record<string, unknown>)[name];
const idOf = (answer: Answer) => String(field(answer, "thread_id"));

/** Checks that the user cannot find, count, read or change the thread. */
async function expectHidden(ask: Ask, thread: string): Promise<void> {
  for (const body of [{ limit: 1000 }, { ids: [thread] }, { values: {} }, { metadata: {}, status: "idle" }]) {
    const { body: found } = await ask("POST /threads/search", body);
    expect((found as { thread_id: string }[]).map(({ thread_id }) => thread_id)).not.toContain(thread);
  }
  expect((await ask("POST /threads/count", { ids: [thread] })).body).toBe(0);
  for (const request of ["", "/state", "/history", "/runs"].map((path) => `GET /threads/${thread}${path}`))
    expect([request, (await ask(request)).status]).toEqual([request, 404]);
  expect((await ask(`PATCH /threads/${thread}`, { metadata: { x: 1 } })).status).toBe(404);
  expect((await ask(`POST /threads/${thread}/state`, { values: {} })).status).toBe(404);
  expect((await ask(`POST /threads/${thread}/runs`, say)).status).toBe(404);
  expect((await ask(`POST /threads/${thread}/copy`)).status).toBe(404);
}

/** Every way to request an id that is taken. */
async function expectTaken(ask: Ask, thread: string, checkpoint_id: string): Promise<void> {
  const run = { ...say, if_not_exists: "create" };
  for (const [request, body] of [
    ["POST /threads", { thread_id: thread }],
    ["POST /threads", { thread_id: thread.toUpperCase(), if_exists: "do_nothing" }],
    ["POST /threads", { thread_id: thread, supersteps: [{ updates: [{ values: {}, as_node: "model" }] }] }],
    ...["", "/stream", "/wait"].flatMap((path) => [
      [`POST /threads/${thread}/runs${path}`, run],
      [`POST /threads/${thread}/runs${path}`, { ...run, checkpoint_id }],
      [`POST /threads/${thread}/runs${path}`, { ...run, checkpoint_id: newId() }],
    ]),
  ] as [string, object][]) {
    const answer = await ask(request, body);
    expect(answer, request).toMatchObject({ status: 409, body: { code: "thread_exists" } });
    expect(answer.text).not.toContain(WORD);
  }
  await expectHidden(ask, thread);
}

const latest = async (ask: Ask, thread: string) =>
  (field(await ask(`GET /threads/${thread}/state`), "checkpoint") as { checkpoint_id: string }).checkpoint_id;

type Planted = Record<string, string>;

/** Every way to write another kind of scope into one's own thread. */
const PLANTS: Record<string, (ask: Ask, planted: Planted) => Promise<Answer>> = {
  "creating it": (ask, planted) => ask("POST /threads", { metadata: planted }),
  "a patch": async (ask, planted) => {
    const thread = idOf(await ask("POST /threads", {}));
    return ask(`PATCH /threads/${thread}`, { metadata: planted });
  },
  "creating it with supersteps": (ask, planted) => {
    const supersteps = [{ updates: [{ values: { messages: [] }, as_node: "model" }] }];
    return ask("POST /threads", { metadata: planted, supersteps });
  },
  "a run that creates it": (ask, planted) =>
    ask(`POST /threads/${newId()}/runs`, {
      ...say,
      if_not_exists: "create",
      metadata: planted,
      config: { metadata: planted, configurable: planted },
    }),
  "a copy": async (ask, planted) => {
    const thread = idOf(await ask("POST /threads", { metadata: planted }));
    return ask(`POST /threads/${thread}/copy`);
  },
  "a stateless run": async (ask, planted) => {
    const run = await ask("POST /runs/wait", { ...say, metadata: planted, on_completion: "keep" });
    expect(run.status).toBe(200);
    const [thread] = (await ask("POST /threads/search", {})).body as { thread_id: string }[];
    return ask(`PATCH /threads/${thread?.thread_id}`, { metadata: planted });
  },
};

export function scopes(on: OnBackends): void {
  on("thread scopes", (backend) => {
    it.each(Object.entries(PLANTS))("a foreign scope cannot be set by %s", async (_how, plant) => {
      const { mallory, north, planted, users } = await open(await keptStorage(backend()));
      const answer = await plant(mallory, planted);
      expect(answer.status).toBe(200);
      const thread = idOf(answer);
      await expectHidden(north, thread);
      const found = await mallory("POST /threads/search", {
        ids: [thread],
        metadata: { owner: users.mallory },
      });
      expect(found.body).toMatchObject([{ thread_id: thread }]);
      expect((await mallory(`POST /threads/${thread}/runs`, say)).status).toBe(200);
      await expectHidden(north, thread);
    });

    it("a thread without a scope gets the scope of its first writer", async () => {
      const storage = await keptStorage(backend());
      const { mallory, north, planted, users, service } = await open(storage);
      const make = async () => {
        const metadata = { owner: users.mallory, ...planted };
        return (await service.threads.create({ metadata })).thread_id;
      };
      const [read, patched, run, written] = [await make(), await make(), await make(), await make()];
      for (const ask of [mallory, north]) {
        expect((await ask(`GET /threads/${read}`)).status).toBe(200);
        expect((await ask("POST /threads/count", {})).body).toBe(4);
      }
      await north(`PATCH /threads/${patched}`, { metadata: { x: 1 } });
      await north(`POST /threads/${run}/runs`, say);
      await north(`POST /threads/${written}/state`, { values: say.input });
      for (const thread of [patched, run, written]) {
        await expectHidden(mallory, thread);
        expect((await north(`GET /threads/${thread}`)).status).toBe(200);
      }
      expect((await mallory("POST /threads/count", {})).body).toBe(1);
    });

    it("checkpoints keep their scope when the thread's row is lost", async () => {
      const storage = await keptStorage(backend());
      const first = await open(await withoutRows(storage));
      const { users, planted } = first;
      const thread = idOf(await first.ann("POST /threads", {}));
      await first.ann(`POST /threads/${thread}/runs`, {
        ...say,
        metadata: { owner: users.mallory, ...planted },
      });
      await first.ann(`POST /threads/${thread}/state`, { values: null });
      const checkpoint = await latest(first.ann, thread);
      await first.stop();
      const second = await open(await withoutRows(storage), users);
      for (const ask of [second.mallory, second.north]) await expectTaken(ask, thread, checkpoint);
      expect((await second.ann("POST /threads", { thread_id: thread })).status).toBe(200);
      expect((await second.ann(`GET /threads/${thread}/state`)).text).toContain(WORD);
      for (const ask of [second.mallory, second.north]) await expectTaken(ask, thread, checkpoint);
      await second.stop();
      const third = await open(await withoutRows(storage), users);
      const body = { ...say, if_not_exists: "create" };
      const { messages } = (await third.ann(`POST /threads/${thread}/runs/wait`, body)).body as {
        messages: [];
      };
      expect(messages).toHaveLength(4);
      expect((await third.ann(`DELETE /threads/${thread}`)).status).toBe(204);
      expect((await third.mallory("POST /threads", { thread_id: thread })).status).toBe(200);
      expect((await third.mallory(`GET /threads/${thread}/state`)).text).not.toContain(WORD);
    });

    it("checkpoints keep their scope after the thread was used without users", async () => {
      const storage = await keptStorage(backend());
      const first = await open(await withoutRows(storage));
      const thread = idOf(await first.ann("POST /threads", {}));
      await first.ann(`POST /threads/${thread}/runs`, say);
      const rows = await withoutRows(storage);
      const { service } = await open(rows);
      await service.threads.create({ thread_id: thread });
      await service.runs.create(thread, say);
      const { ann, mallory } = await open(rows, first.users);
      expect((await ann(`GET /threads/${thread}`)).status).toBe(200);
      await expectTaken(mallory, thread, newId());
    });

    it("checkpoints without a scope cannot be claimed by a user", async () => {
      const storage = await keptStorage(backend());
      const { service, stop } = await open(await withoutRows(storage));
      const { thread_id } = await service.threads.create({});
      await service.runs.create(thread_id, say);
      const checkpoint = (await service.state.get(thread_id)).checkpoint?.checkpoint_id ?? "";
      await stop();
      const { ann, mallory, users, service: later } = await open(await withoutRows(storage));
      await expectTaken(mallory, thread_id, checkpoint);
      await later.threads.create({ thread_id, metadata: { owner: users.ann } });
      expect((await ann(`GET /threads/${thread_id}/state`)).text).toContain(WORD);
      await expectTaken(mallory, thread_id, checkpoint);
    });

    it("the scope is read from the metadata of 0.1.0 checkpoints", async () => {
      const storage = await keptStorage(backend());
      const { ann, mallory, north, users, planted } = await open(await withoutRows(storage));
      const thread = newId();
      const { checkpointer } = storage;
      const config = { configurable: { thread_id: thread, checkpoint_ns: "" } };
      const metadata = { source: "loop" as const, step: 0, parents: {}, owner: users.ann };
      await checkpointer.put(config, { ...emptyCheckpoint(), id: uuid6(0) }, metadata, {});
      for (const ask of [mallory, north]) await expectTaken(ask, thread, newId());
      expect((await ann("POST /threads", { thread_id: thread, metadata: planted })).status).toBe(200);
      for (const ask of [mallory, north]) await expectTaken(ask, thread, newId());
    });

    it("supersteps and imports cannot take over the checkpoints of a lost thread", async () => {
      const storage = await keptStorage(backend());
      const first = await open(await withoutRows(storage));
      const thread = idOf(await first.ann("POST /threads", {}));
      await first.ann(`POST /threads/${thread}/runs`, say);
      const { ann, service } = await open(await withoutRows(storage), first.users);
      const supersteps = [{ updates: [{ values: {}, as_node: "nobody" }] }];
      const refused = await ann("POST /threads", { thread_id: thread, supersteps });
      expect(refused).toMatchObject({ status: 422, body: { code: "invalid_request" } });
      const { thread_id } = await service.threads.create({});
      const imported: ThreadFile = {
        format: "graph-serve/thread",
        version: 1,
        thread: await service.threads.get(thread_id),
        runs: [],
        states: [],
        subgraphs: [],
      };
      await expect(service.threads.restore(imported, thread)).rejects.toMatchObject({
        code: "thread_exists",
      });
      expect((await ann("POST /threads", { thread_id: thread })).status).toBe(200);
      expect((await ann(`GET /threads/${thread}/state`)).text).toContain(WORD);
    });
  });
}

export function scopeOfStatelessRun(): void {
  it("a stateless run is only visible to callers with exactly the same scope", async () => {
    const settings = { checkpointer_scheme: "memory", checkpointer_options: {} };
    const storage = await openBackend({ name: "memory", durable: false, cwd: ".", settings });
    const authenticate: Authenticate = ({ headers }) => ({
      identity: "x",
      metadata: JSON.parse(String(headers.user)) as Record<string, string>,
    });
    const service = await openService({ graphs: { chat }, storage, authenticate });
    onTestFinished(() => service.close(0));
    const { request } = await serve(service);
    const as = (user: object) => ({ user: JSON.stringify(user) });
    const [ann, wider] = [as({ org: "north", owner: "ann" }), as({ org: "north" })];
    const run = (await request("POST", "/runs", say, ann)).body as { run_id: string };
    const stream = (user: Record<string, string>) =>
      request("GET", `/runs/${run.run_id}/stream`, undefined, user);
    expect((await stream(ann)).text).toContain(WORD);
    expect((await stream(wider)).status).toBe(404);
  });
}
