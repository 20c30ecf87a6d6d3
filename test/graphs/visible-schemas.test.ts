import { START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ServedGraph } from "../../src/graphs/graph.js";
import { createOutputFilter } from "../../src/graphs/graph-output.js";
import { PASS_ALL } from "../../src/graphs/output-filter.js";
import { graphSchemas } from "../../src/graphs/schemas.js";
import { visibleSchemas } from "../../src/graphs/visible-schemas.js";

const State = z.object({
  shown: z.object({ default: z.string().default("fine") }),
  secret: z.string().default("hidden").describe("What is kept."),
  deep: z.array(z.object({ default: z.string().default("hidden") })).default([{ default: "hidden" }]),
});
const graph = new StateGraph({ state: State, output: State.pick({ shown: true }) })
  .addNode("one", () => ({}))
  .addEdge(START, "one")
  .compile() as unknown as ServedGraph;

const schemas = await graphSchemas(graph, "agent");

test("hidden keys keep their types and lose their defaults", async () => {
  const { state_schema, input_schema } = visibleSchemas(schemas, await createOutputFilter(graph));
  expect(JSON.stringify([state_schema, input_schema])).not.toContain("hidden");
  expect(state_schema?.properties).toMatchObject({
    secret: { type: "string", description: "What is kept." },
    deep: { type: "array", items: { properties: { default: { type: "string" } } } },
  });
});

test("keys of the output keep their defaults", async () => {
  const { state_schema, output_schema } = visibleSchemas(schemas, await createOutputFilter(graph));
  expect(state_schema?.properties).toMatchObject({ shown: { properties: { default: { default: "fine" } } } });
  expect(output_schema).toEqual(schemas.output_schema);
});

test("defaults outside the properties are removed", () => {
  const filter = { ...PASS_ALL, shows: (key: string) => key === "shown" };
  const odd = {
    default: { secret: "hidden" },
    $ref: "#/$defs/State",
    $defs: { State: { properties: { default: { type: "string", default: "hidden" } } } },
  };
  expect(visibleSchemas({ ...schemas, state_schema: odd }, filter).state_schema).toEqual({
    $ref: "#/$defs/State",
    $defs: { State: { properties: { default: { type: "string" } } } },
  });
});

test("without a filter the schemas are unchanged", () => {
  expect(visibleSchemas(schemas, PASS_ALL)).toBe(schemas);
});
