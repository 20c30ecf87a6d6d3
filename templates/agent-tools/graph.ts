import { createAgent } from "langchain";
import { model } from "./model.js";
import { calculator, countWords } from "./tools.js";

/** Calls the model, runs the tools it asks for, and goes on until it answers without one. */
export const graph = createAgent({
  model,
  tools: [calculator, countWords],
  systemPrompt: "Use the tools to calculate and to count words. Never guess a number.",
});
