/** The schema builder returns what TypeBox returns. */
import { Type as TypeBox } from "@sinclair/typebox";
import { expect, it } from "vitest";
import { Type } from "../src/support/schema-builder.js";

type Builder = typeof Type;

const SAMPLES: Record<string, (type: Builder) => unknown> = {
  "a string": (type) => type.String({ minLength: 1, description: "text" }),
  "a string without options": (type) => type.String(),
  "an integer": (type) => type.Integer({ minimum: 0, default: 3 }),
  "a number": (type) => type.Number({ exclusiveMinimum: 0 }),
  "a boolean": (type) => type.Boolean({ default: false }),
  null: (type) => type.Null(),
  anything: (type) => type.Unknown({ description: "any" }),
  "an own schema": (type) => type.Unsafe<string>({ type: "string", enum: ["a", "b"] }),
  "an array": (type) => type.Array(type.String(), { minItems: 1 }),
  "a union": (type) => type.Union([type.String(), type.Null()], { description: "either" }),
  "an object": (type) =>
    type.Object({ a: type.String(), b: type.Optional(type.Integer()) }, { additionalProperties: false }),
  "an object of optional properties": (type) => type.Object({ b: type.Optional(type.Integer()) }),
  "an empty object": (type) => type.Object({}),
  "a partial object": (type) =>
    type.Partial(type.Object({ a: type.String(), b: type.Optional(type.Integer()) }, { title: "Whole" }), {
      title: "Part",
    }),
  "a record": (type) => type.Record(type.String(), type.Integer(), { description: "counts" }),
  "a record with a key pattern": (type) => type.Record(type.String({ pattern: "^x" }), type.Unknown()),
  "an intersection of objects": (type) =>
    type.Intersect([type.Object({ a: type.Null() })], { title: "Both" }),
  "an intersection of others": (type) => type.Intersect([type.String(), type.Unsafe({ minLength: 2 })]),
};

it.each(Object.entries(SAMPLES))("builds %s", (_what, build) => {
  expect(JSON.stringify(build(Type))).toBe(JSON.stringify(build(TypeBox as unknown as Builder)));
});
