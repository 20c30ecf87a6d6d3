/** Converts a diagram to Mermaid and Graphviz. */
import type { ThreadState } from "../../models/state.js";
import { type Diagram, type DiagramNode, nodeLabel, type NodeMark } from "../../view/diagram.js";
import type { Client } from "../../client/client.js";
import { walkStates } from "../../client/walk.js";

const FILLS = { done: "#d5e8d4", next: "#ffe6a3" } as const;
const isEnd = ({ id }: DiagramNode): boolean => id === "__start__" || id === "__end__";

/** Mermaid. Any name is safe: nodes are identified by number and labels are quoted. */
export function toMermaid({ nodes, edges }: Diagram): string {
  const numbers = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  const boxes = nodes.map((node) => {
    const text = mermaidText(nodeLabel(node));
    const box = isEnd(node) ? `(["${text}"])` : `["${text}"]`;
    return `  ${numbers.get(node.id)}${box}${node.mark ? `:::${node.mark}` : ""}`;
  });
  const arrows = edges.map(({ source, target, conditional, labels }) => {
    const label = labels.length > 0 ? `|"${mermaidText(labels.join(", "))}"|` : "";
    return `  ${numbers.get(source)} ${conditional ? "-.->" : "-->"}${label} ${numbers.get(target)}`;
  });
  const marks = (["done", "next"] as const)
    .filter((mark) => nodes.some((node) => node.mark === mark))
    .map((mark) => `  classDef ${mark} fill:${FILLS[mark]},color:#000`);
  return ["flowchart TD", ...boxes, ...arrows, ...marks].join("\n");
}

export function toDot({ nodes, edges }: Diagram): string {
  const boxes = nodes.map((node) => {
    const fill = node.mark ? `, style=filled, fillcolor="${FILLS[node.mark]}"` : "";
    return `  ${dotText(node.id)} [label=${dotText(nodeLabel(node))}, shape=${isEnd(node) ? "oval" : "box"}${fill}];`;
  });
  const arrows = edges.map(({ source, target, conditional, labels }) => {
    const attributes = [
      ...(conditional ? ["style=dashed"] : []),
      ...(labels.length > 0 ? [`label=${dotText(labels.join(", "))}`] : []),
    ];
    const suffix = attributes.length > 0 ? ` [${attributes.join(", ")}]` : "";
    return `  ${dotText(source)} -> ${dotText(target)}${suffix};`;
  });
  return ["digraph {", "  rankdir=TB;", ...boxes, ...arrows, "}"].join("\n");
}

/** Escapes special characters as Mermaid entities. */
function mermaidText(text: string): string {
  return text.replace(/[^\p{L}\p{N} _:.,✓▸-]/gu, (char) => `#${char.codePointAt(0)};`);
}

function dotText(text: string): string {
  return `"${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replace(/[\r\n]+/g, "\\n")}"`;
}

// Progress of a thread: executed nodes and next nodes.

export interface GraphProgress {
  done: string[];
  next: string[];
}

/** @throws NotFoundError (`thread_not_found`) */
export async function threadProgress(client: Client, threadId: string): Promise<GraphProgress> {
  const done = new Set<string>();
  /** Checkpoints that the graph continued from. New input instead skips the nodes that were next. */
  const continued = new Set<string | null | undefined>();
  let latest: ThreadState | undefined;
  for await (const state of walkStates(client, threadId)) {
    const hasRun = continued.has(state.checkpoint?.checkpoint_id);
    for (const { name, result } of state.tasks) if (hasRun || result != null) done.add(name);
    if (state.metadata.source === "loop") continued.add(state.parent_checkpoint?.checkpoint_id);
    latest ??= state;
  }
  const next = latest?.next ?? [];
  if (latest && next.length === 0) done.add("__end__");
  return { done: [...done].filter((name) => !next.includes(name)), next };
}

/** The mark of each node; nodes of a subgraph (`child:model`) get the mark of the subgraph's node. */
export function marksOf({ done, next }: GraphProgress, ids: readonly string[]): Map<string, NodeMark> {
  const marks = new Map<string, NodeMark>();
  for (const id of ids) {
    const [outer = id] = id.split(":");
    if (next.includes(id) || next.includes(outer)) marks.set(id, "next");
    else if (done.includes(id) || done.includes(outer)) marks.set(id, "done");
  }
  return marks;
}
