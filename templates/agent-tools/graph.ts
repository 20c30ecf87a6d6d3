import { createAgent } from "langchain";
import { model } from "./model.js";
import { calculator, countWords } from "./tools.js";

/** Calls the model and runs the tools it requests, until it answers without a tool call. */
export const graph = createAgent({
  model,
  tools: [calculator, countWords],
  systemPrompt: "Use the tools to calculate and to count words. Never guess a number.",
});
