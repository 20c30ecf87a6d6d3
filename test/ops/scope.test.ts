import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/models/caller.js";
import { recordingLogger, openTestService, readAll } from "../helpers/service.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as whoami } from "../fixtures/graphs/whoami.js";

const callerOf = (identity: string, scope: Caller["scope"] = { owner: identity }): Caller => ({
  user: { identity, role: "reader" },
  scope,
});
const ann = callerOf("ann");
const say = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hi" }] } };

async function open() {
  const service = await openTestService({ graphs: { chat, whoami } });
  return { service, asAnn: service.as(ann), asBob: service.as(callerOf("bob")) };
}

describe("the scope of a caller", () => {
  it("overrides the metadata of a new thread", async () => {
    const { asAnn } = await open();
    const { metadata } = await asAnn.threads.create({ metadata: { owner: "bob", topic: "x" } });
    expect(metadata).toEqual({ owner: "ann", topic: "x" });
  });

  it("is kept when the metadata is patched", async () => {
    const { asAnn } = await open();
    const { thread_id } = await asAnn.threads.create({});
    const patched = await asAnn.threads.update(thread_id, { metadata: { owner: "bob", topic: "y" } });
    expect(patched.metadata).toEqual({ owner: "ann", topic: "y" });
  });

  it("is kept with any metadata that a run sends", async () => {
    const { service, asAnn, asBob } = await open();
    const { thread_id } = await asAnn.threads.create({});
    const run = await asAnn.runs.create(thread_id, {
      ...say,
      metadata: { owner: "bob", purpose: "test" },
      config: { metadata: { owner: "bob" }, configurable: { owner: "bob" } },
    });
    expect(run.metadata).toMatchObject({ owner: "ann", purpose: "test", graph_id: "chat" });
    expect((await service.threads.get(thread_id)).metadata.owner).toBe("ann");
    expect(await asBob.threads.count({})).toBe(0);
  });

  it("is copied with the thread", async () => {
    const { asAnn, asBob } = await open();
    const { thread_id } = await asAnn.threads.create({});
    await asAnn.runs.create(thread_id, say);
    const copy = await asAnn.threads.copy(thread_id);
    expect(copy.metadata.owner).toBe("ann");
    await expect(asBob.threads.get(copy.thread_id)).rejects.toThrow("does not exist");
  });

  it("is stamped on threads that runs create", async () => {
    const { asAnn, asBob } = await open();
    const thread_id = "0197f0a0-0000-7000-8000-00000000beef";
    const stream = await asAnn.runs.stream(thread_id, { ...say, if_not_exists: "create" });
    await readAll(stream);
    expect((await asAnn.threads.get(thread_id)).metadata.owner).toBe("ann");
    await expect(asBob.threads.get(thread_id)).rejects.toThrow("does not exist");
  });

  it("is that of the first caller when two create a thread concurrently", async () => {
    const { service, asAnn, asBob } = await open();
    const thread_id = "0197f0a0-0000-7000-8000-00000000feed";
    // Both requests pass the first check before either has the lock.
    const both = [asAnn, asBob].map((user) =>
      user.runs.create(thread_id, { ...say, if_not_exists: "create" }),
    );
    const [first, second] = await Promise.allSettled(both);
    expect(first?.status).toBe("fulfilled");
    expect(second).toMatchObject({ status: "rejected", reason: { code: "thread_exists" } });
    expect((await service.threads.get(thread_id)).metadata.owner).toBe("ann");
    expect(await service.runs.list(thread_id, {})).toHaveLength(1);
  });

  it("can be shared by several users", async () => {
    const { service } = await open();
    const team = { team: "north", level: 2 };
    const { thread_id } = await service.as(callerOf("ann", team)).threads.create({});
    expect((await service.as(callerOf("bob", team)).threads.get(thread_id)).metadata).toEqual(team);
    for (const scope of [
      { team: "north" },
      { level: 2 },
      { ...team, level: 3 },
      { ...team, level: "2" },
      { ...team, role: "admin" },
    ]) {
      const other = service.as(callerOf("carl", scope));
      expect(await other.threads.count({})).toBe(0);
      await expect(other.threads.get(thread_id)).rejects.toThrow("does not exist");
    }
    const turned = service.as(callerOf("dora", { level: 2, team: "north" }));
    expect(await turned.threads.count({})).toBe(1);
  });

  it("hides threads without a scope from every user", async () => {
    const { service, asAnn } = await open();
    const { thread_id } = await service.threads.create({});
    await expect(asAnn.threads.get(thread_id)).rejects.toThrow("does not exist");
    expect(await asAnn.threads.search({})).toMatchObject({ items: [], total: 0 });
    expect(await service.threads.count({})).toBe(1);
  });

  it("does not restrict operations of the server itself", async () => {
    const { service, asAnn } = await open();
    const { thread_id } = await asAnn.threads.create({ ttl: 1 });
    await service.sweep(new Date(Date.now() + 120_000).toISOString());
    await expect(asAnn.threads.get(thread_id)).rejects.toThrow("does not exist");
  });

  it("limits pruning to the caller's threads", async () => {
    const { service, asAnn, asBob } = await open();
    const mine = await asAnn.threads.create({});
    const other = await asBob.threads.create({});
    const thread_ids = [mine.thread_id, mine.thread_id.toUpperCase(), other.thread_id];
    expect(await asAnn.threads.prune({ thread_ids })).toEqual({ pruned_count: 1 });
    expect(await service.threads.count({})).toBe(1);
  });
});

describe("a graph", () => {
  const ask = { assistant_id: "whoami", input: {} };

  it("receives the authenticated user", async () => {
    const { asAnn } = await open();
    const { thread_id } = await asAnn.threads.create({});
    const { answer } = await asAnn.runs.wait(thread_id, ask);
    expect(await answer).toEqual({ user: ann.user, keys: ["langgraph_auth_user"] });
  });

  it("does not accept a forged user from the config", async () => {
    const { service, asAnn } = await open();
    const forged = { langgraph_auth_user: { identity: "bob" }, langgraph_auth_user_id: "bob" };
    const request = { ...ask, config: { configurable: forged } };
    const { thread_id } = await asAnn.threads.create({});
    expect(await (await asAnn.runs.wait(thread_id, request)).answer).toMatchObject({ user: ann.user });
    expect(await (await service.runs.wait(thread_id, request)).answer).toEqual({ user: null, keys: [] });
  });

  it("created by a factory receives the authenticated user", async () => {
    const seen: unknown[] = [];
    const factory = (config: { configurable?: Record<string, unknown> }) => {
      seen.push(config.configurable?.langgraph_auth_user);
      return whoami;
    };
    const service = await openTestService({ graphs: { whoami: factory } });
    const asAnn = service.as(ann);
    const { thread_id } = await asAnn.threads.create({});
    const forged = { langgraph_auth_user: { identity: "bob" } };
    await asAnn.runs.create(thread_id, { ...ask, config: { configurable: forged } });
    await asAnn.state.get(thread_id);
    await service.state.get(thread_id);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.pop()).toBeUndefined();
    expect(seen.every((user) => user === ann.user)).toBe(true);
  });

  it("created by a factory receives the access context and the user as second argument", async () => {
    const seen: unknown[] = [];
    const factory = (_config: unknown, runtime: unknown) => {
      seen.push(runtime);
      return chat;
    };
    const service = await openTestService({ graphs: { chat: factory } });
    const asAnn = service.as(ann);
    const during = async (work: () => Promise<unknown>) => {
      seen.length = 0;
      await work();
      return [...new Set(seen.map((runtime) => JSON.stringify(runtime)))];
    };
    const called = (access_context: string, user?: object) => JSON.stringify({ access_context, user });
    const { thread_id } = await asAnn.threads.create({});
    const say = { assistant_id: "chat", input: { messages: ["hi"] } };
    expect(await during(() => asAnn.runs.create(thread_id, say))).toContain(
      called("threads.create_run", ann.user),
    );
    expect(await during(() => asAnn.state.get(thread_id))).toEqual([called("threads.read", ann.user)]);
    const edit = { values: { messages: ["x"] } };
    expect(await during(() => asAnn.state.update(thread_id, edit))).toContain(
      called("threads.update", ann.user),
    );
    expect(await during(() => service.assistants.schemas("chat"))).toEqual([called("assistants.read")]);
  });

  it("does not leak user fields to clients or logs", async () => {
    const logger = recordingLogger();
    const service = await openTestService({ graphs: { chat }, logger });
    const asAnn = service.as({ user: { identity: "ann", token: "s3cret" }, scope: { owner: "ann" } });
    const { thread_id } = await asAnn.threads.create({});
    const stream = await asAnn.runs.stream(thread_id, {
      ...say,
      stream_mode: ["values", "updates", "debug", "tasks", "checkpoints", "messages-tuple", "events"],
    });
    const shown = [
      await readAll(stream),
      await asAnn.state.history(thread_id, {}),
      await asAnn.runs.list(thread_id, {}),
    ];
    expect(JSON.stringify([shown, await asAnn.threads.get(thread_id), logger.lines])).not.toContain("s3cret");
  });
});
