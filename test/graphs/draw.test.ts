import { describe, expect, test } from "vitest";
import { drawGraph, graphSummary, subgraphSchemas } from "../../src/graphs/draw.js";
import type { ServedGraph } from "../../src/graphs/graph.js";
import { PASS_ALL } from "../../src/graphs/output-filter.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as annotation } from "../fixtures/graphs/schemas-annotation.js";
import { graph as functional } from "../fixtures/graphs/functional.js";
import { graph as parent } from "../fixtures/graphs/subgraph.js";
import { graph as steps } from "../fixtures/graphs/steps.js";

const served = (graph: unknown) => (graph as ServedGraph).withConfig({});
const bound = (graph: unknown) => ({
  id: "agent",
  assistantId: "agent",
  graph: served(graph),
  filter: PASS_ALL,
});

describe("drawing", () => {
  test("nodes and edges are plain JSON", async () => {
    const drawing = await drawGraph(served(steps), { xray: false });
    expect(drawing.nodes.map(({ id, type }) => [id, type])).toEqual([
      ["__start__", "schema"],
      ["step", "runnable"],
      ["__end__", "schema"],
    ]);
    expect(drawing.nodes[1]?.data).toMatchObject({ name: "step" });
    expect(drawing.edges).toEqual([
      { source: "__start__", target: "step", conditional: false },
      { source: "step", target: "step", conditional: true },
      { source: "step", target: "__end__", conditional: true },
    ]);
    expect(JSON.parse(JSON.stringify(drawing))).toEqual(drawing);
  });

  test("every edge says whether it is conditional", async () => {
    const { edges } = await drawGraph(served(functional), { xray: false });
    expect(edges.map(({ conditional }) => conditional)).toEqual([false, false]);
  });

  test.each([
    [false, ["__start__", "child", "close", "__end__"]],
    [
      true,
      ["__start__", "child:inner_model", "child:leaf:leaf_start", "child:leaf:leaf_end", "close", "__end__"],
    ],
  ])("xray %s expands subgraphs accordingly", async (xray, ids) => {
    const { nodes } = await drawGraph(served(parent), { xray });
    expect(nodes.map(({ id }) => id)).toEqual(ids);
  });

  test.each([
    ["child", ["__start__", "inner_model", "leaf", "__end__"]],
    ["child|leaf", ["__start__", "leaf_start", "leaf_end", "__end__"]],
  ])("namespace %s draws only that subgraph", async (namespace, ids) => {
    const { nodes } = await drawGraph(served(parent), { xray: false, namespace });
    expect(nodes.map(({ id }) => id)).toEqual(ids);
  });

  test("an unknown namespace is rejected with the known ones", async () => {
    await expect(drawGraph(served(parent), { xray: false, namespace: "leaf" })).rejects.toMatchObject({
      code: "invalid_request",
      message: 'query.namespace: the graph has no subgraph "leaf": they are child, child|leaf',
    });
  });
});

describe("subgraphs", () => {
  test.each([
    [false, ["child"]],
    [true, ["child", "child|leaf"]],
  ])("recurse %s lists namespaces accordingly", async (recurse, namespaces) => {
    const schemas = await subgraphSchemas(bound(parent), "agent", { recurse });
    expect(Object.keys(schemas)).toEqual(namespaces);
    expect(schemas.child).toMatchObject({
      graph_id: "agent",
      input_schema: { properties: { messages: {} } },
    });
  });

  test("a namespace selects one subgraph", async () => {
    const schemas = await subgraphSchemas(bound(parent), "agent", {
      recurse: true,
      namespace: "child|leaf",
    });
    expect(Object.keys(schemas)).toEqual(["child|leaf"]);
  });

  test("a graph without subgraphs has none", async () => {
    expect(await subgraphSchemas(bound(steps), "agent", { recurse: true })).toEqual({});
  });
});

describe("summary", () => {
  test("start and end are omitted from the nodes", () => {
    expect(graphSummary(served(agent.graph))).toEqual({
      nodes: ["model_request", "tools"],
      inputKeys: ["messages"],
    });
  });

  test("input keys come from the input schema", () => {
    expect(graphSummary(served(annotation))).toEqual({ nodes: ["note"], inputKeys: ["messages", "topic"] });
  });

  test("a functional entrypoint has no input keys", () => {
    expect(graphSummary(served(functional))).toEqual({ nodes: ["functional"], inputKeys: [] });
  });
});
