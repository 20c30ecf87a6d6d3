import { describe, expect, it } from "vitest";
import { toTypeScript, typeName } from "../../../src/cli/schemas/to-typescript.js";
import type { JsonObject } from "../../../src/models/common.js";
import { compile } from "../../helpers/compiler.js";

const convert = (schema: JsonObject) => toTypeScript([{ name: "T", schema }]);

const faults = (source: string) => compile(source, ["lib.es2023.d.ts"]);

describe("TypeScript types", () => {
  it.each<[JsonObject, string]>([
    [{ type: "integer" }, "number"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ const: true }, "true"],
    [{ type: "array", items: { type: ["string", "null"] } }, "(string | null)[]"],
    [{ type: "array", prefixItems: [{ type: "string" }, {}] }, "[string, unknown]"],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [{ type: "object", additionalProperties: false }, "Record<string, never>"],
    [{ anyOf: [{ type: "string" }, { type: "number" }, { type: "string" }] }, "string | number"],
    [{}, "unknown"],
  ])("schema %j becomes %s", (schema, expected) => {
    expect(convert(schema)).toBe(`export type T = ${expected};\n`);
  });

  it("object types keep keys, descriptions and optionality", () => {
    const schema = {
      type: "object",
      properties: {
        question: { type: "string", description: "What to\nanswer. */ }" },
        "odd-key": { type: "object", properties: { a: {} } },
      },
      required: ["question"],
    };
    expect(convert(schema)).toBe(
      [
        "export type T = {",
        "  /**",
        "   * What to",
        "   * answer. *\\/ }",
        "   */",
        "  question: string;",
        '  "odd-key"?: {',
        "    a?: unknown;",
        "  };",
        "};",
        "",
      ].join("\n"),
    );
  });

  it("a graph id becomes a type name", () => {
    expect(["my-agent", "agent", "2nd agent", "日本"].map(typeName)).toEqual([
      "MyAgent",
      "Agent",
      "Type2ndAgent",
      "Type",
    ]);
  });
});

describe("the TypeScript compiler", () => {
  const schema = {
    type: "object",
    properties: {
      messages: { type: "array", langgraph_type: "messages" },
      tree: { $ref: "#/$defs/node" },
      both: { allOf: [{ type: "object", properties: { a: { type: "string" } } }, { $ref: "#/$defs/node" }] },
      open: {
        type: "object",
        properties: { n: { type: "number" } },
        additionalProperties: { type: "string" },
      },
    },
    required: ["tree"],
    $defs: {
      node: {
        type: "object",
        properties: {
          value: { type: "number" },
          next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
        },
        required: ["value"],
      },
    },
  };
  const module = toTypeScript([
    { name: "AgentInput", schema },
    { name: "AgentState", schema },
  ]);

  it("the compiler accepts the module and valid values", () => {
    const use = `const ok: AgentInput = {
      messages: [{ role: "user", content: "hi" }],
      tree: { value: 1, next: { value: 2, next: null } },
      both: { a: "x", value: 1 },
      open: { n: 1, other: "x" },
    };`;
    expect(faults(module + use)).toEqual([]);
  });

  it("the compiler rejects values of other types", () => {
    expect(faults(`${module}const bad: AgentState = { tree: { value: "one" } };`)).toEqual([
      "Type 'string' is not assignable to type 'number'.",
    ]);
    expect(faults(`${module}const bad: AgentState = {};`)).toHaveLength(1);
  });
});
