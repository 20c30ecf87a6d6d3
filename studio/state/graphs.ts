/** Served graphs, and the drawing and schemas of the selected one. */
import { computed, signal } from "@preact/signals";
import type { Assistant, GraphDrawing, GraphSchema } from "../../src/models/assistant.js";
import { diagramOf } from "../../src/view/diagram.js";
import { withoutInnerEnds } from "../graph/tree.js";
import { ask } from "../api.js";
import { hello } from "./hello.js";
import { load, loading } from "./loading.js";

export const graphs = loading<string[]>();

export const loadGraphs = (): Promise<void> =>
  load(graphs, async () => {
    const { body } = await ask<Assistant[]>("POST", "/assistants/search", { body: { limit: 100 } });
    return [...new Set(body.map(({ graph_id }) => graph_id))];
  });

/**
 * The API lists only the default graph unless configured otherwise; `dev` lists all. Every graph can be run.
 */
export const graphIds = computed(() => [
  ...new Set([...(graphs.value.value ?? []), ...(hello.value?.graphs ?? [])]),
]);

export const drawing = loading<GraphDrawing>();
export const schemas = loading<GraphSchema>();
/** Graph of the loaded drawing and schemas. */
export const graphId = signal("");

export const diagram = computed(
  () => drawing.value.value && withoutInnerEnds(diagramOf(drawing.value.value)),
);
/** Node ids of the drawing; empty until it is loaded. */
export const drawn = computed(() => new Set(diagram.value?.nodes.map(({ id }) => id)));

let loaded = Promise.resolve();

/** Load the drawing and schemas of a graph, unless they are already loaded. */
export function openGraph(id: string): Promise<void> {
  if (id === graphId.value) return loaded;
  graphId.value = id;
  for (const part of [drawing, schemas]) part.value.value = undefined;
  loaded = id === "" ? Promise.resolve() : readGraph();
  return loaded;
}

/** Load them again after a hot reload. */
export async function readGraph(): Promise<void> {
  const id = graphId.value;
  const path = `/assistants/${encodeURIComponent(id)}`;
  const isStale = () => id !== graphId.value;
  await Promise.all([
    load(drawing, async () => (await ask<GraphDrawing>("GET", `${path}/graph?xray=true`)).body, isStale),
    load(schemas, async () => (await ask<GraphSchema>("GET", `${path}/schemas`)).body, isStale),
  ]);
}
