/** The state keys of the shown graph or subgraph: how writes change them, and which are hidden from clients. */
import { computed, signal } from "@preact/signals";
import type { GraphSchema } from "../../src/models/assistant.js";
import { isRecord } from "../../src/models/json.js";
import { ask } from "../api.js";
import { shown } from "./shown.js";
import { namespace, row } from "./thread.js";
import { graphOf } from "./threads.js";

const schemas = signal<GraphSchema | undefined>(undefined);

/** Channels by state key; empty if unknown. */
export const channels = computed(() => schemas.value?.channels ?? {});

/** Keys that the graph declares; empty if unknown. */
export const declaredKeys = computed(() => {
  const { properties } = schemas.value?.state_schema ?? {};
  return isRecord(properties) ? Object.keys(properties) : Object.keys(channels.value);
});

/** Whether the page shows a value of this key that clients do not see. */
export const isHidden = (key: string): boolean =>
  shown.value === "all" && channels.value[key]?.visible === false;

/** Namespace of a subgraph without the ids of tasks. */
const staticName = (ns: string): string =>
  ns
    .split("|")
    .map((part) => part.split(":")[0] ?? "")
    .join("|");

/** Load the keys for the thread and subgraph of the address. Call it in an effect. */
export function readKeys(): void {
  const graph = row.value.value && graphOf(row.value.value);
  const ns = namespace.value;
  schemas.value = undefined;
  if (!graph) return;
  const path = `/assistants/${encodeURIComponent(graph)}`;
  const isStale = () => ns !== namespace.peek() || row.value.peek() === undefined;
  const take = (found: GraphSchema | undefined) => void (isStale() || (schemas.value = found));
  const name = staticName(ns);
  const read =
    ns === ""
      ? ask<GraphSchema>("GET", `${path}/schemas`).then(({ body }) => take(body))
      : ask<Record<string, GraphSchema>>(
          "GET",
          `${path}/subgraphs/${encodeURIComponent(name)}?recurse=true`,
        ).then(({ body }) => take(body[name]));
  // The graph of a storage may be missing: its keys can still be edited by their values.
  read.catch(() => undefined);
}
