/** Supersteps of the subgraphs that nodes ran. */
import type { SubgraphRef } from "../session/namespace.js";
import type { Printer } from "../terminal/print.js";
import { clipped, shownId } from "../terminal/text.js";
import { facts, type HistoryEntry } from "./entries.js";

interface WithEntry {
  entry: HistoryEntry;
}

type WithSubgraphs<T> = T & { subgraphs: SubgraphRef[] };

/**
 * Adds to each step the subgraphs of its own nodes. A step without a following step also has the subgraphs of its next
 * nodes, which were interrupted or failed.
 */
export async function* withSubgraphs<T extends WithEntry>(
  steps: AsyncIterable<T>,
  order: "newest first" | "oldest first",
): AsyncGenerator<WithSubgraphs<T>> {
  if (order === "newest first") yield* withNewestFirst(steps);
  else yield* withOldestFirst(steps);
}

async function* withNewestFirst<T extends WithEntry>(
  steps: AsyncIterable<T>,
): AsyncGenerator<WithSubgraphs<T>> {
  const parents = new Set<string>();
  for await (const step of steps) {
    const { id, parent, ran, pending } = step.entry;
    if (parent !== undefined && ran.length > 0) parents.add(parent);
    yield { ...step, subgraphs: parents.has(id) ? ran : [...ran, ...pending] };
  }
}

async function* withOldestFirst<T extends WithEntry>(
  steps: AsyncIterable<T>,
): AsyncGenerator<WithSubgraphs<T>> {
  // Waits for the following step only if that step decides what is shown.
  let waiting: T | undefined;
  for await (const step of steps) {
    if (waiting) yield withPending(waiting, step.entry.parent !== waiting.entry.id);
    waiting = undefined;
    if (step.entry.pending.length > 0) waiting = step;
    else yield { ...step, subgraphs: step.entry.ran };
  }
  if (waiting) yield withPending(waiting, true);
}

const withPending = <T extends WithEntry>(step: T, isLast: boolean): WithSubgraphs<T> => ({
  ...step,
  subgraphs: isLast ? [...step.entry.ran, ...step.entry.pending] : step.entry.ran,
});

/** A superstep of a subgraph, at any depth. */
export interface InnerStep<T> extends SubgraphRef {
  /** Nodes around it, from the outermost, with the node that ran the subgraph. */
  path: string[];
  step: T;
}

/** Reads the steps of one namespace. */
type ReadNamespace<T> = (namespace: string) => AsyncIterable<WithSubgraphs<T>>;

/** The supersteps of these subgraphs and of the subgraphs inside, each after the step of the node that ran it. */
export async function* innerSteps<T extends WithEntry>(
  subgraphs: readonly SubgraphRef[],
  read: ReadNamespace<T>,
  outer: readonly string[] = [],
): AsyncGenerator<InnerStep<T>> {
  for (const { name, namespace } of subgraphs) {
    const path = [...outer, name];
    for await (const step of read(namespace)) {
      if (isWorthShowing(step.entry)) yield { name, namespace, path, step };
      yield* innerSteps(step.subgraphs, read, path);
    }
  }
}

/** The input of a subgraph, and its start, repeat what the outer step shows. */
const isWorthShowing = ({ nodes, interrupts, errors }: HistoryEntry): boolean =>
  nodes.some((node) => !node.startsWith("__")) || interrupts > 0 || errors.length > 0;

/** The innermost part of a namespace, such as `pricing:1f1e57f6-9d32` on a terminal. */
export function shownNamespace(print: Printer, namespace: string): string {
  const [name = "", ...id] = (namespace.split("|").at(-1) ?? "").split(":");
  return id.length === 0 ? name : `${name}:${shownId(print, id.join(":"))}`;
}

const INDENT = "  ";

/** Prints steps of subgraphs, one line each, under a line with their namespace, indented by their depth. */
export class InnerLines {
  readonly #print: Printer;
  #namespace: string | undefined;

  constructor(print: Printer) {
    this.#print = print;
  }

  linesOf({ namespace, path, step: { entry } }: InnerStep<{ entry: HistoryEntry }>, room: number): string[] {
    const { cyan, dim } = this.#print.colors;
    const indent = INDENT.repeat(path.length);
    const isNew = namespace !== this.#namespace;
    this.#namespace = namespace;
    const text = [`step ${entry.step ?? "?"}`, ...facts(entry, this.#print.cwd)].join("  ");
    return [
      ...(isNew
        ? [indent + cyan(clipped(shownNamespace(this.#print, namespace), room - indent.length))]
        : []),
      indent + INDENT + dim(clipped(text, room - indent.length - INDENT.length)),
    ];
  }
}
