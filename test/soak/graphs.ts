/** Graphs of the soak test, in addition to the graphs of other tests. */
import { setTimeout as sleep } from "node:timers/promises";
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";

const Work = Annotation.Root({ ms: Annotation<number>, text: Annotation<string> });

/** Runs slowly unless it is aborted. */
const slow = new StateGraph(Work)
  .addNode("wait", async ({ ms }, { signal }: LangGraphRunnableConfig) => {
    await sleep(ms, undefined, { signal });
    return { text: "done" };
  })
  .addEdge(START, "wait")
  .addEdge("wait", END)
  .compile({ name: "slow" });

/** Streams and stores some hundred kilobytes. */
const large = new StateGraph(Work)
  .addNode("write", ({ ms }, { writer }: LangGraphRunnableConfig) => {
    const text = String(ms).repeat(20_000);
    for (let index = 0; index < 5; index += 1) writer?.({ index, text });
    return { text };
  })
  .addEdge(START, "write")
  .addEdge("write", END)
  .compile({ name: "large" });

export const graphs = { chat, fail, hitl, large, slow, subgraph };
