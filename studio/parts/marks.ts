/** Marks of nodes that show the progress of a step or run. */
export type Mark = "failed" | "asks" | "running" | "next" | "ran";

/** Ids of the nodes with each mark; a node may have several. */
export type Progress = Readonly<Record<Mark, ReadonlySet<string>>>;
