import { START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ServedGraph } from "../../src/graphs/graph.js";
import { graphSchemas } from "../../src/graphs/schemas.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as functional } from "../fixtures/graphs/functional.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as annotation } from "../fixtures/graphs/schemas-annotation.js";
import { graph as stateSchema } from "../fixtures/graphs/schemas-state.js";
import { graph as zod4 } from "../fixtures/graphs/schemas-zod.js";
import { graph as zod3 } from "../fixtures/graphs/schemas-zod3.js";

/** A graph as the server holds it: bound by withConfig. */
const schemasOf = (graph: unknown) => graphSchemas((graph as ServedGraph).withConfig({}), "agent");

const messages = {
  type: "array",
  items: { type: "object" },
  description: "A list of chat messages",
  langgraph_type: "messages",
};

describe("declared schemas", () => {
  test("zod schemas are complete for each part", async () => {
    const schemas = await schemasOf(zod4);
    expect(schemas.graph_id).toBe("agent");
    expect(schemas.input_schema).toMatchObject({
      type: "object",
      properties: { question: { type: "string", description: "What to answer." } },
    });
    expect(schemas.output_schema).toMatchObject({
      properties: { answer: { type: "string" } },
      required: ["answer"],
    });
    expect(Object.keys(schemas.state_schema?.properties as object)).toEqual(["question", "answer", "notes"]);
    expect(schemas.context_schema).toMatchObject({
      properties: { tone: { enum: ["plain", "warm"], default: "plain" } },
    });
    expect(schemas.config_schema).toEqual(schemas.context_schema);
  });

  test("zod 3 schemas are supported", async () => {
    const { state_schema, context_schema } = await schemasOf(zod3);
    expect(state_schema).toMatchObject({
      properties: { question: { type: "string" } },
      required: ["question"],
    });
    expect(context_schema).toBeNull();
  });

  test.each([
    ["a StateSchema", stateSchema],
    ["createAgent's graph", agent.graph],
  ])("%s marks its messages", async (_, graph) => {
    const { input_schema } = await schemasOf(graph);
    expect(input_schema).toMatchObject({
      type: "object",
      properties: { messages: { langgraph_type: "messages" } },
    });
  });
});

describe("annotations", () => {
  test("types come only from default values", async () => {
    const { state_schema } = await schemasOf(annotation);
    expect(state_schema).toEqual({
      type: "object",
      title: "agent state",
      "x-source": "channels",
      properties: {
        messages,
        topic: {},
        tags: { type: "array" },
        ratio: { type: "number" },
        done: { type: "boolean" },
        title: { type: "string" },
        facts: { type: "object" },
      },
    });
  });

  test("input and output list their own keys", async () => {
    const { input_schema } = await schemasOf(annotation);
    expect(input_schema).toMatchObject({ title: "agent input", properties: { messages, topic: {} } });
    const { output_schema } = await schemasOf(hitl);
    expect(Object.keys(output_schema?.properties as object)).toEqual(["topic", "answer", "log"]);
  });

  test("MessagesAnnotation is recognised", async () => {
    const { input_schema, context_schema } = await schemasOf(chat);
    expect(input_schema).toMatchObject({ properties: { messages } });
    expect(context_schema).toBeNull();
  });
});

describe("unusual graphs", () => {
  const nothing = {
    input_schema: null,
    output_schema: null,
    state_schema: null,
    config_schema: null,
    context_schema: null,
  };

  test("a functional entrypoint has no known schema", async () => {
    expect(await schemasOf(functional)).toEqual({ graph_id: "agent", ...nothing });
  });

  test("a foreign graph has no known schema", async () => {
    expect(await graphSchemas({} as ServedGraph, "odd")).toEqual({ graph_id: "odd", ...nothing });
  });

  test("a type without a JSON form keeps the keys", async () => {
    const graph = new StateGraph(z.object({ at: z.date(), n: z.number() }))
      .addNode("one", () => ({ n: 1 }))
      .addEdge(START, "one")
      .compile();
    const { state_schema } = await schemasOf(graph);
    expect(Object.keys(state_schema?.properties as object)).toEqual(["at", "n"]);
  });

  test("a default that throws leaves the type open", async () => {
    const channels = {
      n: {
        initialValueFactory: () => {
          throw new Error("no default");
        },
      },
    };
    const graph = { channels, outputChannels: ["n"] } as unknown as ServedGraph;
    expect((await graphSchemas(graph, "odd")).output_schema).toMatchObject({ properties: { n: {} } });
  });
});
