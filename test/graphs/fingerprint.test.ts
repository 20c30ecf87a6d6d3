import { Annotation, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Fingerprints } from "../../src/graphs/fingerprint.js";
import type { ServedGraph } from "../../src/graphs/graph.js";
import { type Change, release, type Stop } from "../fixtures/graphs/releases.js";

const versionOf = (graph: unknown, name?: string) => new Fingerprints(name).of(graph as ServedGraph);

const typed = (shape: z.ZodRawShape, nodes: readonly string[] = ["a", "b"]) => {
  const builder = new StateGraph(z.object(shape)) as unknown as StateGraph<object, object, object, string>;
  for (const name of nodes) builder.addNode(name, () => ({}));
  return builder.addEdge("__start__", "a").addEdge("a", "b").compile();
};

describe("the version of a graph", () => {
  it("is the same for the same graph, in whatever order its parts are declared", async () => {
    const version = await versionOf(typed({ one: z.string(), two: z.number() }));
    expect(version).toMatch(/^[0-9a-f]{12}$/);
    expect(await versionOf(typed({ two: z.number(), one: z.string() }, ["b", "a"]))).toBe(version);
  });

  it.each(["interrupt", "subgraph"] as const)(
    "differs after a node or an edge has changed: %s",
    async (stop: Stop) => {
      const changes: Change[] = ["none", "renamed", "removed", "added", "edge"];
      const versions = await Promise.all(changes.map((change) => versionOf(release(stop, change))));
      expect(new Set(versions).size).toBe(changes.length);
    },
  );

  it("differs after the type of a key, a reducer or the name of the code has changed", async () => {
    const last = Annotation.Root({ one: Annotation<string[]> });
    const joined = Annotation.Root({
      one: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
    });
    const ofState = (state: typeof last | typeof joined) =>
      versionOf(
        new StateGraph(state)
          .addNode("a", () => ({}))
          .addEdge("__start__", "a")
          .compile(),
      );
    expect(await ofState(last)).not.toBe(await ofState(joined));
    const graph = typed({ one: z.string() });
    expect(await versionOf(graph)).not.toBe(await versionOf(typed({ one: z.number() })));
    expect(await versionOf(graph, "1f3c")).not.toBe(await versionOf(graph));
  });

  it("is unknown for a graph that does not list its nodes", async () => {
    expect(await versionOf({ stream: () => undefined })).toBeUndefined();
  });
});
