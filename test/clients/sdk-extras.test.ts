import { describe, expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { newId } from "../../src/support/ids.js";
import { clientOf, NOBODY, openClient, says } from "./open.js";
import { Client } from "@langchain/langgraph-sdk";

describe("assistants.getSubgraphs", () => {
  it("accepts a namespace", async () => {
    const { client } = await openClient();
    const nested = await client.assistants.getSubgraphs("subgraph", {
      namespace: "child|leaf",
      recurse: true,
    });
    expect(Object.keys(nested)).toEqual(["child|leaf"]);
    expect(await client.assistants.getSubgraphs("subgraph", { namespace: "child|leaf" })).toEqual({});
    expect(await client.assistants.getSubgraphs("subgraph", { namespace: "none" })).toEqual({});
  });
});

describe("threads.prune", () => {
  it("deletes threads", async () => {
    const { client } = await openClient();
    const [one, two] = [await client.threads.create(), await client.threads.create()];
    expect(await client.threads.prune([one.thread_id, one.thread_id, NOBODY])).toEqual({ pruned_count: 1 });
    await expect(client.threads.get(one.thread_id)).rejects.toThrow("404");
    expect((await client.threads.get(two.thread_id)).thread_id).toBe(two.thread_id);
  });

  it("keeps only the latest state", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "chat", { input: says("one") });
    const before = await client.threads.getState(thread_id);
    expect((await client.threads.getHistory(thread_id)).length).toBeGreaterThan(1);
    expect(await client.threads.prune([thread_id], { strategy: "keep_latest" })).toEqual({ pruned_count: 1 });
    expect(await client.threads.getHistory(thread_id)).toHaveLength(1);
    expect((await client.threads.getState(thread_id)).values).toEqual(before.values);
    await client.runs.wait(thread_id, "chat", { input: says("two") });
  });

  it("skips a busy thread", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const name = newId();
    const run = client.runs.wait(thread_id, "gate", { input: { gate: name } });
    await gateOf(name).entered;
    expect(await client.threads.prune([thread_id], { strategy: "keep_latest" })).toEqual({ pruned_count: 0 });
    gateOf(name).open();
    expect(await run).toMatchObject({ gate: name });
  });
});

describe("a client with an API key", () => {
  const settings = { api_keys: ["key-of-the-chat-page"] };

  it("is accepted, and a client without a key is rejected", async () => {
    const { server } = await openClient({ settings });
    const client = new Client({ apiUrl: server.url, apiKey: "key-of-the-chat-page" });
    const { thread_id } = await client.threads.create();
    expect(await client.runs.wait(thread_id, "steps", { input: { n: 0 } })).toMatchObject({ n: 10 });
    await expect(clientOf(server.url).threads.get(thread_id)).rejects.toThrow("401");
  });
});
