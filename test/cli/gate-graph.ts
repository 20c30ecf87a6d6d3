/** A graph with a node that reports that it is running, then waits until the run is aborted. */
export const gateGraphSource = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";

export const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("wait", async (_state, config) => {
    config.writer?.("inside");
    await new Promise((_resolve, reject) => {
      config.signal?.addEventListener("abort", () => reject(config.signal?.reason), { once: true });
    });
    return { n: 2 };
  })
  .addEdge(START, "wait")
  .compile();
`;
