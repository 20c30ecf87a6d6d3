import * as dagre from "@dagrejs/dagre";
import { describe, expect, it } from "vitest";
import type { Diagram, DiagramEdge } from "../../src/view/diagram.js";
import { type Box, crossingsOf, type Point } from "../../studio/graph/geometry.js";
import { type GraphLayout, layoutOf, layoutSlices } from "../../studio/graph/layout.js";
import { boxesOf, withoutInnerEnds } from "../../studio/graph/tree.js";
import { CORPUS, graphOf } from "../helpers/graph-corpus.js";

const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** Whether a horizontal or vertical line runs through the box. */
const runsThrough = (a: Point, b: Point, { x, y, width, height }: Box) =>
  Math.max(a.x, b.x) > x + 1 &&
  Math.min(a.x, b.x) < x + width - 1 &&
  Math.max(a.y, b.y) > y + 1 &&
  Math.min(a.y, b.y) < y + height - 1;

const sameEnds = (one: DiagramEdge, other: DiagramEdge) =>
  one.source === other.source && one.target === other.target;

const segments = (points: readonly Point[]): [Point, Point][] =>
  points.slice(1).map((point, index) => [points[index] ?? point, point]);

/** The types of the package import without file extensions, which Node's resolution does not allow. */
const { Graph, layout } = dagre as unknown as {
  Graph: new (options: { multigraph: boolean }) => DagreGraph;
  layout: (graph: DagreGraph) => void;
};

interface DagreGraph {
  setGraph(label: { nodesep: number; ranksep: number }): void;
  setNode(id: string, label: { width: number; height: number }): void;
  setEdge(source: string, target: string, label: object, name: string): void;
  edge(edge: { v: string; w: string; name: string }): { points: Point[] };
}

/** Crossings of the same graph, without subgraphs, as dagre draws it. */
function dagreCrossings(diagram: Diagram): number {
  const { nodes, edges } = withoutInnerEnds(diagram);
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ nodesep: 16, ranksep: 42 });
  for (const { id } of nodes) graph.setNode(id, { width: 112, height: 44 });
  edges.forEach(({ source, target, labels }, index) => {
    const label = labels.length > 0 ? { width: 50, height: 18, labelpos: "c" } : {};
    graph.setEdge(source, target, label, String(index));
  });
  layout(graph);
  return crossingsOf(
    edges.map(({ source, target }, index) => ({
      source,
      target,
      points: graph.edge({ v: source, w: target, name: String(index) }).points,
    })),
  );
}

function expectSound(diagram: Diagram, drawn: GraphLayout): void {
  const { nodes, edges } = withoutInnerEnds(diagram);
  expect(drawn.nodes.map(({ id }) => id).sort()).toEqual(nodes.map(({ id }) => id).sort());
  expect(drawn.boxes.map(({ id }) => id).sort()).toEqual(boxesOf(diagram).sort());
  for (const edge of edges)
    expect(drawn.edges.some((each) => each.edges.some((one) => sameEnds(one, edge)))).toBe(true);
  const labels = drawn.edges.flatMap(({ label }) => (label ? [label] : []));
  const texts = labels.map(({ text }) => text).join(" ");
  for (const label of edges.flatMap((edge) => edge.labels)) expect(texts).toContain(label);
  const all: Box[] = [...drawn.nodes, ...drawn.boxes, ...labels];
  for (const { x, y, width, height } of all) {
    expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(drawn.width);
    expect(y + height).toBeLessThanOrEqual(drawn.height);
  }
  const blocks: Box[] = [...drawn.nodes, ...labels];
  const overlaps = blocks.flatMap((one, index) =>
    blocks.slice(index + 1).filter((other) => overlap(one, other)),
  );
  expect(overlaps).toEqual([]);
  for (const { points } of drawn.edges)
    for (const [from, to] of segments(points))
      expect(drawn.nodes.filter((node) => runsThrough(from, to, node))).toEqual([]);
}

describe("the layout of a graph", () => {
  it.each(CORPUS.map((each) => [each.title, each] as const))(
    "is readable: %s",
    (_title, { diagram, most }) => {
      const drawn = layoutOf(diagram);
      expectSound(diagram, drawn);
      expect(drawn.crossings).toBeLessThanOrEqual(most);
      expect(most).toBeLessThanOrEqual(dagreCrossings(diagram));
    },
  );

  it.each([
    ["a self-loop", graphOf("start -> a\na ~> a:again, end:enough")],
    ["a single node", { nodes: [{ id: "alone" }], edges: [] }],
    ["no nodes", { nodes: [], edges: [] }],
    ["two graphs without a connection", graphOf("a -> b\nc -> d")],
    ["a subgraph of one node", graphOf("start -> team/only\nteam/only -> end")],
  ])("is complete with %s", (_title, diagram) => {
    expectSound(diagram, layoutOf(diagram));
  });

  it("draws a self-loop as a loop beside its node, and a back edge beside all nodes", () => {
    const drawn = layoutOf(graphOf("start -> a\na -> a\na -> b\nb -> c\nc ~> a:again, end:done"));
    const [a] = drawn.nodes.filter(({ id }) => id === "a");
    const pointsOf = (source: string, target: string) =>
      drawn.edges.find((edge) => edge.source === source && edge.target === target)?.points ?? [];
    const right = (a?.x ?? 0) + (a?.width ?? 0);
    expect(pointsOf("a", "a").every(({ x }) => x >= right)).toBe(true);
    const outer = pointsOf("c", "a").map(({ x }) => x);
    const sides = drawn.nodes.flatMap(({ x, width }) => [x, x + width]);
    expect(Math.max(...outer) > Math.max(...sides) || Math.min(...outer) < Math.min(...sides)).toBe(true);
  });

  it("folds a subgraph to one node with the number of its nodes", () => {
    const diagram = graphOf("start -> team/one\nteam/one -> team/two\nteam/two -> end");
    const drawn = layoutOf(diagram, new Set(["team"]));
    expect(drawn.nodes.map(({ id, count }) => [id, count])).toEqual([
      ["__start__", 0],
      ["team", 2],
      ["__end__", 0],
    ]);
    expect(drawn.boxes).toEqual([]);
    expect(drawn.edges.map(({ source, target }) => [source, target])).toEqual([
      ["__start__", "team"],
      ["team", "__end__"],
    ]);
  });

  it("is computed in slices: at least one for each subgraph and each attempt", () => {
    const teams = Array.from({ length: 10 }, (_, team) => {
      const chain = Array.from({ length: 9 }, (_each, node) => `t${team}/n${node} -> t${team}/n${node + 1}`);
      return [`start -> t${team}/n0`, ...chain, `t${team}/n9 -> end`];
    });
    const diagram = graphOf(teams.flat().join("\n"));
    let count = 0;
    for (const _slice of layoutSlices(diagram)) count += 1;
    expect(count).toBeGreaterThanOrEqual(11);
  });

  it("lays out 300 nodes without overlap", () => {
    const lines = Array.from({ length: 299 }, (_, node) => `n${Math.floor(node / 3)} -> n${node + 1}`);
    const diagram = graphOf(lines.join("\n"));
    expectSound(diagram, layoutOf(diagram));
  });
});
