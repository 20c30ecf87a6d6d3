/** Positions of nodes and edges in the drawing of a graph. */
import { describe, expect, it } from "vitest";
import type { Diagram } from "../../src/view/diagram.js";
import { layoutOf, type PlacedNode } from "../../studio/parts/layout.js";

const graph = (...edges: [string, string][]): Diagram => ({
  nodes: [...new Set(edges.flat())].map((id) => ({ id })),
  edges: edges.map(([source, target]) => ({ source, target, conditional: false, labels: [] })),
});

const overlaps = (a: PlacedNode, b: PlacedNode) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe("the layout of a graph", () => {
  const loop = graph(["start", "model"], ["model", "tools"], ["tools", "model"], ["model", "end"]);
  const fan = graph(
    ...["one", "two", "a_node_with_quite_a_long_name", "four"].flatMap((id): [string, string][] => [
      ["start", id],
      [id, "join"],
    ]),
    ["start", "join"],
  );

  it.each([
    ["a loop", loop],
    ["a fan-out", fan],
    ["a self-loop", graph(["a", "a"], ["a", "b"])],
    ["a single node", { nodes: [{ id: "alone" }], edges: [] }],
    ["no nodes", { nodes: [], edges: [] }],
  ] as [string, Diagram][])(
    "with %s places all nodes and edges inside the drawing without overlap",
    (_title, diagram) => {
      const { nodes, edges, width, height } = layoutOf(diagram);
      expect(nodes.map(({ id }) => id).sort()).toEqual(diagram.nodes.map(({ id }) => id).sort());
      expect(edges).toHaveLength(diagram.edges.length);
      for (const node of nodes) {
        expect(node.x).toBeGreaterThanOrEqual(0);
        expect(node.x + node.width).toBeLessThanOrEqual(width);
        expect(node.y + node.height).toBeLessThanOrEqual(height);
        expect(nodes.filter((other) => other !== node && overlaps(node, other))).toEqual([]);
      }
      for (const { path } of edges) {
        const numbers = [...path.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number);
        expect(numbers.every((number) => number >= 0 && number <= Math.max(width, height))).toBe(true);
      }
    },
  );

  it("runs from top to bottom", () => {
    const at = new Map(layoutOf(loop).nodes.map(({ id, y }) => [id, y]));
    expect(at.get("start")).toBeLessThan(at.get("model") ?? 0);
    expect(at.get("model")).toBeLessThan(at.get("tools") ?? 0);
  });
});
