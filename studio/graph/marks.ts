/** Marks of nodes that show the progress of a step or run. */
export type Mark = "failed" | "asks" | "running" | "next" | "ran";

/** Ids of the nodes with each mark; a node may have several. */
export type Progress = Readonly<Record<Mark, ReadonlySet<string>>>;

/** Marks, most urgent first. */
export const MARKS: readonly Mark[] = ["failed", "asks", "running", "next", "ran"];

/** What a node did, as its second line shows it. */
export interface NodeFacts {
  /** Such as `1.2 s · 96 tokens`. */
  text: string;
  /** How often it ran. */
  count: number;
}

/** The most urgent mark of a node or, if it is a folded subgraph, of the nodes in it. */
export function markOf(id: string, progress: Partial<Progress> | undefined): Mark | undefined {
  const inside = `${id}:`;
  return MARKS.find((mark) => {
    const ids = progress?.[mark];
    return ids !== undefined && (ids.has(id) || [...ids].some((each) => each.startsWith(inside)));
  });
}
