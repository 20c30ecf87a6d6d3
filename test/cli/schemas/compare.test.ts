import { describe, expect, it } from "vitest";
import { compareSchemas } from "../../../src/cli/schemas/compare.js";
import type { SchemaKind } from "../../../src/cli/schemas/resolve.js";
import type { JsonObject } from "../../../src/models/common.js";

const object = (properties: JsonObject, required: string[] = [], more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required,
  ...more,
});
const text = { type: "string" };
const number = { type: "number" };
const nullable = { anyOf: [text, { type: "null" }] };

function resultOf(kind: SchemaKind, before: JsonObject | null, after: JsonObject | null): string {
  const { result, changes } = compareSchemas(kind, before, after);
  return [result, ...changes.map(({ level, path, message }) => `${level} ${path}: ${message}`)].join("; ");
}

describe("changes of the input schema", () => {
  it.each<[string, JsonObject, JsonObject, string]>([
    ["a new required key", object({}), object({ q: text }, ["q"]), "breaking"],
    ["a new optional key", object({}), object({ q: text }), "compatible"],
    ["a key made required", object({ q: text }), object({ q: text }, ["q"]), "breaking"],
    ["a key made optional", object({ q: text }, ["q"]), object({ q: text }), "compatible"],
    ["a removed key", object({ q: text }), object({}), "breaking"],
    ["a narrowed type", object({ q: nullable }), object({ q: text }), "breaking"],
    ["a widened type", object({ q: text }), object({ q: nullable }), "compatible"],
    ["a changed type", object({ q: text }), object({ q: number }), "breaking"],
    [
      "an enum with fewer values",
      object({ q: { enum: ["a", "b"] } }),
      object({ q: { enum: ["a"] } }),
      "breaking",
    ],
    [
      "an enum with more values",
      object({ q: { enum: ["a"] } }),
      object({ q: { enum: ["a", "b"] } }),
      "compatible",
    ],
    ["a tighter limit", object({ q: number }), object({ q: { ...number, minimum: 1 } }), "breaking"],
    ["a looser limit", object({ q: { ...text, maxLength: 5 } }), object({ q: text }), "compatible"],
    [
      "narrower array items",
      object({ q: { type: "array", items: nullable } }),
      object({ q: { type: "array", items: text } }),
      "breaking",
    ],
    [
      "an array that must not be empty",
      object({ q: { type: "array", items: text } }),
      object({ q: { type: "array", items: text, minItems: 1 } }),
      "breaking",
    ],
    [
      "a ban on additional keys",
      object({ q: text }),
      object({ q: text }, [], { additionalProperties: false }),
      "breaking",
    ],
    ["a new description", object({ q: text }), object({ q: { ...text, description: "Q" } }), "same"],
  ])("%s is classified", (_, before, after, expected) => {
    expect(compareSchemas("input", before, after).result).toBe(expected);
  });
});

describe("changes of the output schema", () => {
  it.each<[string, JsonObject, JsonObject, string]>([
    ["a removed key", object({ a: text }), object({}), "breaking"],
    ["a new key", object({}), object({ a: text }, ["a"]), "compatible"],
    ["a widened type", object({ a: text }), object({ a: nullable }), "breaking"],
    ["a narrowed type", object({ a: nullable }), object({ a: text }), "compatible"],
    ["a key made optional", object({ a: text }, ["a"]), object({ a: text }), "breaking"],
    ["a key made required", object({ a: text }), object({ a: text }, ["a"]), "compatible"],
    ["integers instead of numbers", object({ a: number }), object({ a: { type: "integer" } }), "compatible"],
  ])("%s is classified", (_, before, after, expected) => {
    expect(compareSchemas("output", before, after).result).toBe(expected);
  });
});

describe("changes of the state schema", () => {
  it("narrowing and widening a type are breaking", () => {
    expect(compareSchemas("state", object({ a: text }), object({ a: nullable })).result).toBe("breaking");
    expect(compareSchemas("state", object({ a: nullable }), object({ a: text })).result).toBe("breaking");
  });

  it("making a key required is compatible", () => {
    expect(compareSchemas("state", object({ a: text }), object({ a: text }, ["a"])).result).toBe(
      "compatible",
    );
  });
});

describe("messages and paths", () => {
  it("a nested change is reported with its path", () => {
    const list = (content: JsonObject) => object({ messages: { type: "array", items: object({ content }) } });
    expect(resultOf("input", list(nullable), list(text))).toBe(
      "breaking; breaking messages[].content: string | null changed to string (narrower)",
    );
  });

  it("references and recursive types are resolved", () => {
    const tree = (value: JsonObject): JsonObject => ({
      $ref: "#/$defs/Node",
      $defs: {
        Node: object({ value, children: { type: "array", items: { $ref: "#/$defs/Node" } } }),
      },
    });
    expect(resultOf("output", tree(text), tree(text))).toBe("same");
    expect(resultOf("output", tree(text), tree(nullable))).toMatch(
      /^breaking; breaking value: string changed to/,
    );
  });

  it("an added or removed schema is reported", () => {
    expect(resultOf("context", null, object({}))).toBe("compatible; compatible : schema added");
    expect(resultOf("context", object({}), null)).toMatch(/^breaking/);
    expect(resultOf("context", null, null)).toBe("same");
  });

  it("a type that becomes known is compatible", () => {
    const channels = object({ q: {}, n: number }, [], { "x-source": "channels" });
    const declared = object({ q: text, n: number }, ["q"]);
    expect(resultOf("input", channels, declared)).toBe(
      "compatible; compatible q: now required; compatible q: type is now known: string",
    );
    expect(resultOf("input", declared, channels)).toContain("type is no longer known; it was string");
  });
});
