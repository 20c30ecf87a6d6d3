import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawAscii } from "../../../src/cli/draw/ascii.js";
import type { Diagram, DiagramEdge } from "../../../src/view/diagram.js";
import { layered } from "../../../src/view/layers.js";
import { textWidth } from "../../../src/view/text.js";
import { traceDrawing } from "./trace.js";

/** Creates a diagram: `a > b` is an edge, `a ? b` a conditional edge. */
function diagram(ways: string[], ids?: string[]): Diagram {
  const edges = ways.map((way): DiagramEdge => {
    const [source = "", sign, target = ""] = way.split(" ");
    return { source, target, conditional: sign === "?", labels: [] };
  });
  const names = ids ?? [...new Set(edges.flatMap(({ source, target }) => [source, target]))];
  return { nodes: names.map((id) => ({ id })), edges };
}

const AGENT = ["__start__ > model", "model ? tools", "model ? __end__", "tools > model"];

describe("boxes", () => {
  it("an agent with tools is drawn", () => {
    expect(drawAscii(diagram(AGENT), 80)).toBe(
      `
        ┌───────────┐
        │ __start__ │
        └─────┬─────┘
              │
              ▼
          ┌───────┐
          │ model │
          └───┬───┘
      ┌╌╌╌╌╌╌╌┴╌╌╌╌╌╌┐
      ▼              ▼
┌───────────┐   ┌─────────┐
│   tools   │   │ __end__ │
│ ─↺ model  │   └─────────┘
└───────────┘

╌ conditional   ↺ goes back to`.slice(1),
    );
  });

  it("an edge that skips a layer is routed around it", () => {
    const text = drawAscii(diagram(["a > b", "b > c", "a ? c"]), 80);
    expect(traceDrawing(text, ["a", "b", "c"])).toEqual(["a > b", "a ? c", "b > c"]);
  });

  it("marks precede the names of nodes", () => {
    const { edges } = diagram(["a > b"]);
    const text = drawAscii(
      {
        nodes: [
          { id: "a", mark: "done" },
          { id: "b", mark: "next" },
        ],
        edges,
      },
      80,
    );
    expect(text).toContain("│ ✓ a │");
    expect(text).toContain("│ ▸ b │");
    expect(text).toContain("✓ done   ▸ next");
  });

  it("the labels of a conditional edge are listed", () => {
    const { nodes, edges } = diagram(["a ? b"]);
    const [edge] = edges;
    const text = drawAscii({ nodes, edges: edge ? [{ ...edge, labels: ["yes", "maybe"] }] : [] }, 80);
    expect(text).toContain("a ╌▶ b   on yes, maybe");
  });

  it("wide and hostile names are drawn safely", () => {
    const text = drawAscii(diagram(["a > 日本語", "日本語 > \u001b[31m"]), 80);
    expect(text).not.toContain("\u001b");
    expect(text).toContain("\\u001b[31m");
    const box = text.split("\n").filter((line) => line.includes("日本語"));
    expect(box.map(textWidth)).toEqual([textWidth(text.split("\n")[5] ?? "")]);
  });
});

describe("narrow terminals", () => {
  it("a graph wider than the terminal is drawn as a list", () => {
    expect(drawAscii(diagram(AGENT), 20)).toBe(
      [
        "__start__",
        "  └─▶ model",
        "model",
        "  ├╌▶ tools",
        "  └╌▶ __end__",
        "tools",
        "  └─▶ model",
        "__end__",
        "",
        "╌ conditional",
      ].join("\n"),
    );
  });
});

/** Random graphs with 2 to 15 nodes. */
const anyDiagram = fc.integer({ min: 2, max: 15 }).chain((size) => {
  const ids = Array.from({ length: size }, (_, index) => `n${index}`);
  const node = fc.constantFrom(...ids);
  return fc
    .uniqueArray(fc.tuple(node, fc.constantFrom(">", "?"), node), {
      maxLength: 24,
      selector: ([source, sign, target]) => `${source} ${sign} ${target}`,
    })
    .map((ways) => ({ ids, ways: ways.map((way) => way.join(" ")) }));
});

describe("random graphs", () => {
  it("the drawing has exactly the edges of the graph", () => {
    let drawn = 0;
    fc.assert(
      fc.property(anyDiagram, ({ ids, ways }) => {
        const graph = diagram(ways, ids);
        const text = drawAscii(graph, Infinity);
        if (!text.startsWith("n0\n") && text.includes("┌")) drawn += 1;
        const back = layered(graph).back;
        const expected = graph.edges.map((edge) => {
          const sign = back.includes(edge) ? "↺" : edge.conditional ? "?" : ">";
          return `${edge.source} ${sign} ${edge.target}`;
        });
        const plain = (lines: string[]) => lines.map((line) => line.replace(/ [>?] /, " - ")).sort();
        expect(plain(traceDrawing(text.split("\n\n")[0] ?? "", ids))).toEqual(plain(expected));
      }),
      { numRuns: 300 },
    );
    expect(drawn).toBeGreaterThan(295);
  });

  it("lines fit the width", () => {
    fc.assert(
      fc.property(anyDiagram, ({ ids, ways }) => {
        const lines = drawAscii(diagram(ways, ids), 40).split("\n");
        expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(40);
      }),
    );
  });
});
