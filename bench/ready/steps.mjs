import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

/** The graph g2 of ../graphs.ts. */
export const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode("step", ({ n }) => ({ n: n + 1 }))
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < 10 ? "step" : END), ["step", END])
  .compile();
