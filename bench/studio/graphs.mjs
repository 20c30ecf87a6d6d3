/** Graphs to measure the Studio: a long thread, large states, a fast model. */
import { AIMessageChunk } from "@langchain/core/messages";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const Count = Annotation.Root({ n: Annotation(), to: Annotation() });
export const counter = new StateGraph(Count)
  .addNode("step", ({ n }) => ({ n: n + 1 }))
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n, to }) => (n < to ? "step" : END), ["step", END])
  .compile();

/** Ten steps of two seconds, as an agent that waits for its model. */
export const slow = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode("step", async ({ n }) => {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    return { n: n + 1 };
  })
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < 10 ? "step" : END), ["step", END])
  .compile();

/** A megabyte in 6,000 rows; every row changes with each step. */
const rows = (round) =>
  Array.from({ length: 6000 }, (_, id) => ({
    id,
    round: (id + round) % 7,
    text: `row ${id} `.padEnd(120, "·"),
  }));
export const wide = new StateGraph(Annotation.Root({ rows: Annotation() }))
  .addNode("fill", () => ({ rows: rows(0) }))
  .addNode("change", () => ({ rows: rows(1) }))
  .addEdge(START, "fill")
  .addEdge("fill", "change")
  .addEdge("change", END)
  .compile();

const TOKENS = 2000;
const MS_A_TOKEN = 5;

class FastModel extends FakeStreamingChatModel {
  async *_streamResponseChunks(_messages, _options, runManager) {
    const { ChatGenerationChunk } = await import("@langchain/core/outputs");
    const begin = performance.now();
    for (let count = 1; count <= TOKENS; count += 1) {
      const due = begin + count * MS_A_TOKEN - performance.now();
      if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
      const text = count % 20 === 0 ? `**${count}**\n\n` : `word ${count} `;
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) });
      yield chunk;
      // Without this, all words arrive together at the end.
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}
const model = new FastModel({});
export const fast = new StateGraph(MessagesAnnotation)
  .addNode("write", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, "write")
  .addEdge("write", END)
  .compile();
