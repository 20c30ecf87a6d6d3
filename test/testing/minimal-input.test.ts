import { describe, expect, it } from "vitest";
import { minimalInput } from "../../src/testing/smoke.js";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("minimalInput", () => {
  it.each([
    [object({ a: { type: "string" } }), { a: "hello" }],
    [object({ a: { type: "string" }, b: { type: "number" } }, { required: ["b"] }), { b: 1 }],
    [object({ a: { type: "number", exclusiveMinimum: 5 } }), { a: 5.5 }],
    [object({ a: { type: "integer", minimum: 3, maximum: 3 } }), { a: 3 }],
    [object({ a: { type: "integer", multipleOf: 7, minimum: 8 } }), { a: 14 }],
    [object({ a: { enum: ["x", "y"] }, b: { const: 4 }, c: { type: "boolean" } }), { a: "x", b: 4, c: true }],
    [object({ a: { anyOf: [{ pattern: "x", type: "string" }, { type: "null" }] } }), { a: null }],
    [object({ a: { type: "array", minItems: 2, items: { type: "integer" } } }), { a: [1, 1] }],
    [
      object({ a: { $ref: "#/$defs/A" } }, { $defs: { A: object({ b: { type: "string" } }) } }),
      { a: { b: "hello" } },
    ],
    [object({ a: { type: "string", minLength: 8 } }), { a: "hello he" }],
    [object({ a: { type: "string", format: "date" } }), { a: "2024-01-01" }],
    [object({ a: { type: "string", default: "d" }, b: { type: "number" } }), { b: 1 }],
    [object({ a: { type: "string", default: "d" } }), { a: "d" }],
    [
      object(
        { messages: { type: "array", langgraph_type: "messages" }, topic: {} },
        { "x-source": "channels" },
      ),
      { messages: [{ role: "user", content: "hello" }] },
    ],
    [object({ messages: {} }), { messages: [{ role: "user", content: "hello" }] }],
  ])("derives from %j a valid input", (schema, input) => {
    expect(minimalInput(schema)).toEqual({ input });
  });

  it.each([
    [null, "the graph declares no input schema"],
    [object({ topic: {} }, { "x-source": "channels" }), "the type of input.topic is unknown at run time"],
    [object({ a: { type: "string", pattern: "^x{9}$" } }), 'input.a must match the pattern "^x{9}$"'],
    [object({ a: { $ref: "#" } }), "is nested too deeply"],
  ])("returns a reason instead of an input for %j", (schema, why) => {
    expect(minimalInput(schema)).toEqual({ why: expect.stringContaining(why) as string });
  });
});
