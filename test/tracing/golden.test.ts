/** The span tree of each shape of a graph, compared with the stored ones in test/tracing/golden. */
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { describe, expect, it } from "vitest";
import { openService } from "../../src/service/open.js";
import * as names from "../../src/tracing/names.js";
import { REQUESTS, spanTrees } from "../fixtures/graphs/span-trees.js";
import { serve } from "../helpers/app.js";
import { type Collector, type Received, startCollector } from "../helpers/collector.js";
import { withPostgres } from "../helpers/postgres.js";
import { settingsOf } from "../helpers/server-processes.js";

type Name = keyof typeof REQUESTS;
const GRAPHS = Object.keys(REQUESTS) as Name[];
/** Graphs that ask, and are then answered. */
const ASKING: readonly Name[] = ["hitl", "question"];

interface Node {
  name: string;
  kind: number;
  failed: boolean;
  attributes: Record<string, unknown>;
  /** Number of links, without those that are 0. */
  links?: number;
  spans?: Node[];
}

/** What the conventions require of each operation, besides `error.type` of failed spans. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  invoke_workflow: [names.AGENT, names.CONVERSATION],
  invoke_agent: [names.AGENT],
  chat: [names.PROVIDER, names.MODEL, names.CONVERSATION],
  execute_tool: [names.TOOL],
};

const missingIn = ({ name, status, attributes }: Received): string[] =>
  [...(REQUIRED[String(attributes[names.OPERATION])] ?? []), ...(status.code === 2 ? [names.ERROR_TYPE] : [])]
    .filter((required) => attributes[required] === undefined)
    .map((required) => `${name}: ${required}`);

const VARYING = new Set<string>([names.CONVERSATION, names.RUN, names.GRAPH_VERSION]);

/** Siblings that run in parallel have no order of their own. */
function treeBelow(spans: readonly Received[], parent: string): Node[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .map(({ name, kind, status, attributes, links, spanId }) => {
      const below = treeBelow(spans, spanId);
      const fixed = Object.entries(attributes).map(([key, value]) => [key, VARYING.has(key) ? "…" : value]);
      return {
        ...{ name, kind, failed: status.code === 2 },
        attributes: Object.fromEntries(fixed.sort()) as Record<string, unknown>,
        ...(links.length > 0 && { links: links.length }),
        ...(below.length > 0 && { spans: below }),
      };
    })
    .sort((a, b) => stepOf(a) - stepOf(b) || (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

const stepOf = ({ attributes }: Node): number => Number(attributes[names.STEP] ?? 0);

const CALLER = "00f067aa0ba902b7";
const traceOf = (graph: Name, n: number) =>
  (GRAPHS.indexOf(graph) * 16 + n + 1).toString(16).padStart(32, "0");

/** Runs every graph, each in a trace of its own, and returns the tree of each. */
async function treesOf(
  collector: Collector,
  mode: "wait" | "stream",
  settings: Parameters<typeof openService>[0]["settings"] = {},
): Promise<Record<Name, Node[]>> {
  const service = await openService({ graphs: spanTrees(), settings });
  const server = await serve(service);
  for (const graph of GRAPHS) {
    const { thread_id } = await service.threads.create({});
    const run = async (request: object) => {
      const headers = { traceparent: `00-${traceOf(graph, 0)}-${CALLER}-01` };
      const path = `/threads/${thread_id}/runs/${mode}`;
      const body = { assistant_id: graph, ...request };
      const response = await server.fetch("POST", path, body, { headers });
      await response.text();
    };
    await run(REQUESTS[graph]);
    if (ASKING.includes(graph)) await run({ command: { resume: "yes" } });
  }
  await server.close(0);
  const trees = GRAPHS.map((graph) => {
    const spans = collector.spans.filter(({ traceId }) => traceId === traceOf(graph, 0));
    return [graph, treeBelow(spans, CALLER)] as const;
  });
  return Object.fromEntries(trees) as Record<Name, Node[]>;
}

const file = (graph: string) => `./golden/${graph}.json`;
const textOf = (tree: unknown) => `${JSON.stringify(tree, null, 2)}\n`;

/** Without the names of routes, which differ. */
const belowRequest = (tree: readonly Node[]) => tree.flatMap(({ spans = [] }) => spans);

/** Renamed in version 0.1.0 of the conventions for generative AI, which the package does not have. */
const NEWER: readonly string[] = [names.CACHE_WRITE_TOKENS];

it("attributes are those of the conventions, or have the prefix graph_serve", () => {
  const known = new Set<unknown>([...Object.values(conventions), ...NEWER]);
  const own = Object.values<string>(names).filter((name) => !known.has(name));
  expect(own.filter((name) => !name.startsWith("graph_serve."))).toEqual([]);
  expect(NEWER.filter((name) => Object.values<unknown>(conventions).includes(name))).toEqual([]);
});

describe("span trees", () => {
  it("of runs that are awaited or streamed have the stored shape", async () => {
    const collector = await startCollector();
    const waited = await treesOf(collector, "wait");
    const attributes = new Set(collector.spans.flatMap((span) => Object.keys(span.attributes)));
    expect(collector.spans.flatMap(missingIn)).toEqual([]);
    collector.spans.splice(0);
    const streamed = await treesOf(collector, "stream");
    for (const graph of GRAPHS) {
      await expect(textOf(waited[graph])).toMatchFileSnapshot(file(graph));
      expect(belowRequest(streamed[graph]), graph).toEqual(belowRequest(waited[graph]));
    }
    expect([...attributes].filter((name) => !Object.values<string>(names).includes(name))).toEqual([]);
  });

  withPostgres("with a queue in postgres", (postgres) => {
    it("have a producer and a linked consumer", async () => {
      const collector = await startCollector();
      const settings = { ...settingsOf(postgres.options()), queue: "postgres" as const };
      const queued = await treesOf(collector, "wait", settings);
      for (const graph of GRAPHS)
        await expect(textOf(queued[graph])).toMatchFileSnapshot(file(`${graph}.queue`));
    });
  });
});
