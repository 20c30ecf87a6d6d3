import { describe, expect, it } from "vitest";
import { parseGraphTarget } from "../../src/config/graph-target.js";

describe("graph targets", () => {
  it.each([
    ["./graph.ts", { path: "./graph.ts" }],
    ["./graph.ts:agent", { path: "./graph.ts", exportName: "agent" }],
    ["./graph.ts:$g_1", { path: "./graph.ts", exportName: "$g_1" }],
    ["C:\\work\\graph.ts", { path: "C:\\work\\graph.ts" }],
    ["C:\\work\\graph.ts:agent", { path: "C:\\work\\graph.ts", exportName: "agent" }],
    ["d:/agents/graph.ts:agent", { path: "d:/agents/graph.ts", exportName: "agent" }],
    ["./odd:folder/graph.ts", { path: "./odd:folder/graph.ts" }],
  ])("%s is split into path and export", (text, expected) => {
    expect(parseGraphTarget(text)).toEqual(expected);
  });
});
