import { MessagesZodMeta, MessagesZodState, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { registry } from "@langchain/langgraph/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { minimalInput } from "../../src/testing/smoke.js";
import type { ServedGraph } from "../../src/graphs/graph.js";
import { graphSchemas } from "../../src/graphs/schemas.js";

const graphOf = (state: unknown, context?: unknown) =>
  new StateGraph(state as never, context as never)
    .addNode("one", (() => ({})) as never)
    .addEdge(START, "one")
    .compile() as unknown as ServedGraph;
const schemasOf = (state: unknown, context?: unknown) => graphSchemas(graphOf(state, context), "agent");
const stateOf = async (state: unknown) => (await schemasOf(state)).state_schema as Record<string, never>;

describe("a zod 4 type without a JSON form", () => {
  test.each([
    ["z.date()", z.date()],
    ["z.bigint()", z.bigint()],
    ["z.custom()", z.custom<string>((value) => value === "x")],
    ["z.instanceof(URL)", z.instanceof(URL)],
    ["z.map()", z.map(z.string(), z.number())],
    ["z.set()", z.set(z.string())],
    ["z.bigint()", z.bigint().default(1n)],
    ["z.transform()", z.transform((value) => String(value))],
    ["z.date()", z.date().optional()],
  ])("%s does not affect the types of other keys", async (name, type) => {
    const { properties, required } = await stateOf(z.object({ odd: type, n: z.number() }));
    expect(properties).toEqual({ odd: { "x-unknown": name }, n: { type: "number" } });
    expect(required).toContain("n");
  });

  test("may be nested in objects, lists and unions", async () => {
    const inner = z.object({ at: z.date(), title: z.string() });
    const { properties } = await stateOf(
      z.object({ inner, list: z.array(inner), either: z.union([z.date(), z.string()]) }),
    );
    const known = { properties: { at: { "x-unknown": "z.date()" }, title: { type: "string" } } };
    expect(properties).toMatchObject({
      inner: known,
      list: { items: known },
      either: { anyOf: [{ "x-unknown": "z.date()" }, { type: "string" }] },
    });
  });

  test("any and unknown are known types, as is the input of a transform", async () => {
    const { properties } = await stateOf(
      z.object({ any: z.any(), maybe: z.unknown().optional(), size: z.string().transform((s) => s.length) }),
    );
    expect(properties).toEqual({ any: {}, maybe: {}, size: { type: "string" } });
  });

  test("is handled in input, output and context schemas", async () => {
    const State = z.object({ at: z.date(), n: z.number() });
    const schemas = await schemasOf(State, z.object({ since: z.date(), tone: z.string() }));
    const properties = { at: { "x-unknown": "z.date()" }, n: { type: "number" } };
    expect(schemas).toMatchObject({
      input_schema: { properties },
      output_schema: { properties, required: ["at", "n"] },
      context_schema: { properties: { since: { "x-unknown": "z.date()" }, tone: { type: "string" } } },
    });
    expect(schemas.input_schema).not.toHaveProperty("required");
    expect(schemas.input_schema).not.toHaveProperty("x-source");
  });
});

describe("messages in a zod 4 schema", () => {
  test("LangGraph's zod 3 messages are supported", async () => {
    const { input_schema, state_schema } = await schemasOf(
      z.object({ n: z.number(), messages: MessagesZodState.shape.messages as never, last: z.string() }),
    );
    for (const schema of [input_schema, state_schema])
      expect(schema?.properties).toMatchObject({
        n: { type: "number" },
        messages: { langgraph_type: "messages", type: "array" },
        last: { type: "string" },
      });
    expect(Object.keys(state_schema?.properties as object)).toEqual(["n", "messages", "last"]);
    expect(state_schema?.required).toEqual(["n", "last"]);
  });

  test("metadata in LangGraph's registry is kept", async () => {
    const messages = z.custom<object[]>().register(registry, MessagesZodMeta as never);
    const note = z.date().register(registry, { jsonSchemaExtra: { langgraph_nodes: ["one"] } });
    const { properties } = await stateOf(z.object({ messages, note, n: z.number() }));
    expect(properties).toMatchObject({
      messages: { langgraph_type: "messages" },
      note: { langgraph_nodes: ["one"], "x-unknown": "z.date()" },
      n: { type: "number" },
    });
    expect(minimalInput((await schemasOf(z.object({ messages, note }))).input_schema)).toEqual({
      input: { messages: [{ role: "user", content: "hello" }] },
    });
  });
});

test("the schema of an object with refinements can be derived repeatedly", async () => {
  const graph = graphOf(z.object({ n: z.number(), at: z.date() }).refine(() => true));
  const first = await graphSchemas(graph, "agent");
  expect(first.state_schema).toMatchObject({
    properties: { n: { type: "number" }, at: { "x-unknown": "z.date()" } },
    required: ["n", "at"],
  });
  expect(await graphSchemas(graph, "agent")).toEqual(first);
});

test("zod 3 types without a JSON form are named", async () => {
  const { properties } = await stateOf(
    z3.object({
      at: z3.date(),
      url: z3.instanceof(URL),
      call: z3.function(),
      any: z3.any(),
      inner: z3.object({ url: z3.instanceof(URL).optional(), n: z3.number() }),
    }),
  );
  expect(properties).toMatchObject({
    at: { type: "string", format: "date-time" },
    url: { "x-unknown": "z.custom()" },
    call: { "x-unknown": "z.function()" },
    any: {},
    inner: { properties: { url: { "x-unknown": "z.custom()" }, n: { type: "number" } } },
  });
});

test("a StateSchema has all its keys", async () => {
  const { input_schema, state_schema } = await schemasOf(
    new StateSchema({ n: z.number(), at: z.date(), list: z.array(z.date()) }),
  );
  for (const schema of [input_schema, state_schema])
    expect(schema?.properties).toMatchObject({
      n: { type: "number" },
      at: { "x-unknown": "z.date()" },
      list: { type: "array", items: { "x-unknown": "z.date()" } },
    });
});

test("a declaration that cannot be read keeps its keys and the reason", async () => {
  const graph = graphOf(z.object({ n: z.number() }));
  const broken = Object.assign(Object.create(graph) as object, {
    _metaRegistry: {
      getExtendedChannelSchemas: () => {
        throw new Error("no such registry");
      },
    },
  });
  const { state_schema } = await graphSchemas(broken as unknown as ServedGraph, "agent");
  expect(state_schema).toMatchObject({
    properties: { n: {} },
    "x-source": "channels",
    "x-unknown": expect.stringContaining("its declaration cannot be converted to JSON schema") as string,
  });
});
