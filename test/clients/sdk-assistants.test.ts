/** Assistants through the official SDK's client. */
import { describe, expect, it } from "vitest";
import { NOBODY, openClient } from "./open.js";

describe("client.assistants", () => {
  it("finds the one assistant", async () => {
    const { client } = await openClient({ settings: { assistant_name: "Echo" } });
    const [assistant, ...others] = await client.assistants.search();
    expect(others).toEqual([]);
    expect(assistant).toMatchObject({ graph_id: "chat", name: "Echo", metadata: { created_by: "system" } });
    expect(await client.assistants.get("chat")).toEqual(assistant);
    expect(await client.assistants.get(assistant?.assistant_id ?? "")).toEqual(assistant);
    expect(await client.assistants.count()).toBe(1);
    expect(await client.assistants.count({ graphId: "hitl" })).toBe(0);
    expect(await client.assistants.search({ name: "nobody" })).toEqual([]);
  });

  it("returns no next page", async () => {
    const { client } = await openClient();
    const page = await client.assistants.search({ limit: 1, includePagination: true });
    expect(page).toMatchObject({ assistants: [{ graph_id: "chat" }], next: null });
  });

  it("finds an assistant by its UUID for a run", async () => {
    const { client } = await openClient();
    const { assistant_id } = await client.assistants.get("chat");
    const { thread_id } = await client.threads.create();
    const input = { messages: "tea" };
    const run = await client.runs.create(thread_id, assistant_id.toUpperCase(), { input });
    expect(run).toMatchObject({ status: "success", metadata: { assistant_id, graph_id: "chat" } });
  });

  it("returns 404 for unknown ids", async () => {
    const { client } = await openClient();
    for (const id of ["nope", NOBODY]) {
      await expect(client.assistants.get(id)).rejects.toMatchObject({ status: 404 });
      await expect(client.assistants.getGraph(id)).rejects.toMatchObject({ status: 404 });
      await expect(client.assistants.getSchemas(id)).rejects.toMatchObject({ status: 404 });
      await expect(client.assistants.getSubgraphs(id)).rejects.toMatchObject({ status: 404 });
    }
  });
});

describe("client.assistants.getGraph", () => {
  it("returns nodes and edges", async () => {
    const { client } = await openClient();
    const { nodes, edges } = await client.assistants.getGraph("subgraph");
    expect(nodes.map(({ id }) => id)).toEqual(["__start__", "child", "close", "__end__"]);
    expect(edges).toContainEqual(expect.objectContaining({ source: "child", target: "close" }));
  });

  it.each([true, 1, 2])("expands subgraphs with xray %s", async (xray) => {
    const { client } = await openClient();
    const { nodes } = await client.assistants.getGraph("subgraph", { xray });
    expect(nodes.map(({ id }) => id)).toContain("child:inner_model");
  });
});

describe("client.assistants.getSchemas", () => {
  it("describes the state", async () => {
    const { client } = await openClient();
    const schemas = await client.assistants.getSchemas("hitl");
    expect(schemas).toMatchObject({
      graph_id: "hitl",
      output_schema: { type: "object", properties: { topic: {}, answer: {} } },
    });
    expect(Object.keys(schemas.output_schema?.properties ?? {})).not.toContain("secret");
  });
});

describe("client.assistants.getSubgraphs", () => {
  it("returns the subgraphs of the first level", async () => {
    const { client } = await openClient();
    const subgraphs = await client.assistants.getSubgraphs("subgraph");
    expect(Object.keys(subgraphs)).toEqual(["child"]);
    expect(subgraphs.child).toMatchObject({ state_schema: { type: "object" } });
    expect(await client.assistants.getSubgraphs("chat")).toEqual({});
  });

  it("returns nested subgraphs with recurse", async () => {
    const { client } = await openClient();
    const subgraphs = await client.assistants.getSubgraphs("subgraph", { recurse: true });
    expect(Object.keys(subgraphs).sort()).toEqual(["child", "child|leaf"]);
  });
});
