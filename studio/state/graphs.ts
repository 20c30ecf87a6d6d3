/** The graphs that can be run, and one of them in full: its drawing and its schemas. */
import { computed, signal } from "@preact/signals";
import type { Assistant, GraphDrawing, GraphSchema } from "../../src/models/assistant.js";
import { diagramOf } from "../../src/view/diagram.js";
import { ask } from "../api.js";
import { hello } from "./hello.js";
import { load, loading } from "./loading.js";

export const graphs = loading<string[]>();

export const loadGraphs = (): Promise<void> =>
  load(graphs, async () => {
    const { body } = await ask<Assistant[]>("POST", "/assistants/search", { body: { limit: 100 } });
    return [...new Set(body.map(({ graph_id }) => graph_id))];
  });

/** The interface lists only the default graph, unless configured otherwise; `dev` lists all. Every graph can be run. */
export const graphIds = computed(() => [
  ...new Set([...(graphs.value.value ?? []), ...(hello.value?.graphs ?? [])]),
]);

export const drawing = loading<GraphDrawing>();
export const schemas = loading<GraphSchema>();
/** The graph that these are of. */
export const graphId = signal("");

export const diagram = computed(() => drawing.value.value && diagramOf(drawing.value.value));
/** Ids of the nodes of the drawing; none while it is not there. */
export const drawn = computed(() => new Set(diagram.value?.nodes.map(({ id }) => id)));

let loaded = Promise.resolve();

/** Read what is to be known of a graph; once, as long as it is the same. */
export function openGraph(id: string): Promise<void> {
  if (id === graphId.value) return loaded;
  graphId.value = id;
  for (const part of [drawing, schemas]) part.value.value = undefined;
  loaded = id === "" ? Promise.resolve() : readGraph();
  return loaded;
}

/** Read it again after a reload. */
export async function readGraph(): Promise<void> {
  const id = graphId.value;
  const path = `/assistants/${encodeURIComponent(id)}`;
  const isStale = () => id !== graphId.value;
  await Promise.all([
    load(drawing, async () => (await ask<GraphDrawing>("GET", `${path}/graph?xray=true`)).body, isStale),
    load(schemas, async () => (await ask<GraphSchema>("GET", `${path}/schemas`)).body, isStale),
  ]);
}
