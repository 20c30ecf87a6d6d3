import { describe, expect, it } from "vitest";
import { mismatches } from "../../src/testing/cases/matcher.js";

const MESSAGE = { type: "ai", content: "hello there", id: "1" };

describe("matchers", () => {
  it.each([
    [1, 1, 2],
    [{ equals: { a: [1] } }, { a: [1] }, { a: [1, 2] }],
    [{ a: 1, b: 2 }, { a: 1, b: 2 }, { a: 1 }],
    [{ match: "^hel+o" }, "hello", "yellow"],
    [{ match: "/HELLO/i" }, "hello", "help"],
    [{ match: "1" }, "1", 1],
    [{ contains: "ell" }, "hello", "help"],
    [{ contains: "a" }, ["a", "b"], ["b"]],
    [{ contains: { type: "ai" } }, [MESSAGE], [{ ...MESSAGE, type: "human" }]],
    [{ contains: { content: "hello there" } }, MESSAGE, { type: "ai" }],
    [{ contains: ["a", "c"] }, ["a", "b", "c"], ["a", "b"]],
    [{ jsonSchema: { type: "array", items: { type: "number" } } }, [1, 2], ["1"]],
    [{ length: 2 }, ["a", "b"], "a"],
    [{ length: { gt: 1, lt: 4 } }, "abc", "abcd"],
    [{ absent: true }, undefined, null],
    [{ absent: false }, null, undefined],
    [{ lt: 3 }, 2, 3],
    [{ gt: 3 }, 4, 3],
    [{ gt: 1, lt: 3 }, 2, 4],
    [{ lt: 3 }, 2, "2"],
  ])("%j accepts %j and rejects %j", async (matcher, good, bad) => {
    expect(await mismatches(matcher, good)).toEqual([]);
    expect(await mismatches(matcher, bad)).not.toEqual([]);
  });

  it("a mismatch contains verb, expected and actual", async () => {
    expect(await mismatches({ contains: "x", length: 2 }, "ab")).toEqual([
      { verb: "contains", message: "does not contain the value", expected: "x", actual: "ab" },
    ]);
  });
});
