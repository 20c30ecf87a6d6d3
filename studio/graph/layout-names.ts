/** Names in a graph, shortened to fit. */

const MOST_CHARACTERS = 32;

/** Name of a node or subgraph without the subgraphs around it. */
export const nameOf = (id: string): string => {
  const name = id.slice(id.lastIndexOf(":") + 1).replace(/^__(start|end)__$/, "$1");
  return name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS - 1)}…` : name;
};

export const isEnd = (id: string): boolean => /^__(start|end)__$/.test(id);

export const labelText = (labels: readonly string[]): string => {
  const text = labels.join(", ");
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
};
