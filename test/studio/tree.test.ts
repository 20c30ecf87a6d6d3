/** The rows of a value in the state tree, without a browser. */
import { describe, expect, it } from "vitest";
import { href, parsePlace } from "../../studio/address.js";
import { ancestorKeys, findInTree, pathKey, pathText, treeRows } from "../../studio/components/tree-rows.js";

const STATE = { messages: [{ id: "m1", content: "hello" }], "a.b": { deep: [1, null, "hello"] }, empty: {} };

describe("the rows of a state tree", () => {
  it("include the first level and all expanded values", () => {
    expect(treeRows(STATE, new Set()).map(({ path, size }) => [path, size])).toEqual([
      [["messages"], 1],
      [["a.b"], 1],
      [["empty"], 0],
    ]);
    const open = new Set([pathKey(["messages"]), pathKey(["messages", 0])]);
    expect(treeRows(STATE, open).map(({ path, depth }) => `${depth} ${pathText(path)}`)).toEqual([
      "1 messages",
      "2 messages[0]",
      "3 messages[0].id",
      "3 messages[0].content",
      '1 ["a.b"]',
      "1 empty",
    ]);
  });

  it("include only own properties, up to a limited depth", () => {
    expect(treeRows(JSON.parse('{"__proto__": {"x": 1}}'), new Set()).map(({ path }) => path)).toEqual([
      ["__proto__"],
    ]);
    let deep: unknown = "end";
    for (let depth = 0; depth < 5000; depth += 1) deep = [deep];
    const keys = Array.from({ length: 300 }, (_, depth) =>
      pathKey(Array.from({ length: depth + 1 }, () => 0)),
    );
    expect(treeRows(deep, new Set(keys))).toHaveLength(200);
    expect(findInTree(deep, "end")).toEqual([]);
  });

  it("are found by key and text, with the ancestors to expand", () => {
    expect(findInTree(STATE, "HELLO").map(pathText)).toEqual(["messages[0].content", '["a.b"].deep[2]']);
    expect(findInTree(STATE, "deep").map(pathText)).toEqual(['["a.b"].deep']);
    expect(ancestorKeys(["a.b", "deep", 2])).toEqual(['["a.b"]', '["a.b","deep"]']);
  });
});

describe("Studio URLs", () => {
  it("are parsed back as written for any ids", () => {
    for (const id of ["plain", "a/b?c#d%", "ü \u202e", "%zz"]) {
      const address = href(["threads", id], { tab: "state", q: "a&b=c", none: undefined, empty: "" });
      expect(parsePlace(address)).toEqual({ path: ["threads", id], query: { tab: "state", q: "a&b=c" } });
    }
    expect(parsePlace("")).toEqual({ path: [], query: {} });
    expect(parsePlace("#/threads/%zz")).toEqual({ path: ["threads", "%zz"], query: {} });
  });
});
