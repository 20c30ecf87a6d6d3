/** Drawing of the graph that a thread ran, or of its selected subgraph. */
import { computed } from "@preact/signals";
import type { GraphDrawing } from "../../src/models/assistant.js";
import { type Diagram, diagramOf } from "../../src/view/diagram.js";
import { ApiError, ask } from "../api.js";
import { withoutInnerEnds } from "../graph/tree.js";
import { historyDiagram } from "../components/history-diagram.js";
import { load, loading } from "./loading.js";
import { namespace, row, steps } from "./thread.js";
import { graphOf } from "./threads.js";

/** An undefined diagram means that the server has no drawing. */
const told = loading<{ of: string; diagram: Diagram | undefined }>();

/** Node names of a namespace such as `child:<id>|leaf:<id>`. */
export const namesOf = (ns: string): string =>
  ns
    .split("|")
    .filter((part) => part !== "" && !/^\d+$/.test(part))
    .map((part) => part.split(":", 1)[0])
    .join("|");

const wanted = computed(() => {
  const thread = row.value.value;
  const names = namesOf(namespace.value);
  const query = names === "" ? "" : `?namespace=${encodeURIComponent(names)}`;
  return thread && `${encodeURIComponent(graphOf(thread))}/graph${query}`;
});

/** Load the drawing. Call it in an effect. */
export function drawThread(): void {
  const of = wanted.value;
  if (of === undefined || told.value.peek()?.of === of) return;
  void load(
    told,
    async () => ({ of, diagram: await readDiagram(of) }),
    () => of !== wanted.peek(),
  );
}

async function readDiagram(of: string): Promise<Diagram | undefined> {
  if (of.startsWith("/")) return undefined;
  try {
    return withoutInnerEnds(diagramOf((await ask<GraphDrawing>("GET", `/assistants/${of}`)).body));
  } catch (error) {
    // The graph was removed, failed to load, or has no such subgraph any more.
    if (error instanceof ApiError && [404, 409, 422].includes(error.status)) return undefined;
    throw error;
  }
}

export const drawingError = told.error;

/** The drawing; undefined until it is known. `isSeen` means that it was derived from the history. */
export const drawing = computed(() => {
  const answer = told.value.value;
  if (answer === undefined || answer.of !== wanted.value) return undefined;
  return answer.diagram
    ? { diagram: answer.diagram, isSeen: false }
    : { diagram: historyDiagram(steps.value), isSeen: true };
});
