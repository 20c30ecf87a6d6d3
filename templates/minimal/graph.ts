import { END, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";

/** The state of the graph: the caller sends `text`, and the two nodes fill in the rest. */
const State = z.object({
  text: z.string(),
  words: z.array(z.string()).default([]),
  summary: z.string().default(""),
});
type State = z.infer<typeof State>;

function split({ text }: State): Partial<State> {
  return { words: text.split(/\s+/).filter(Boolean) };
}

function summarize({ words }: State): Partial<State> {
  const longest = words.reduce((best, word) => (word.length > best.length ? word : best), "");
  return { summary: `${words.length} words, the longest is "${longest}"` };
}

export const graph = new StateGraph(State)
  .addNode("split", split)
  .addNode("summarize", summarize)
  .addEdge(START, "split")
  .addEdge("split", "summarize")
  .addEdge("summarize", END)
  .compile();
