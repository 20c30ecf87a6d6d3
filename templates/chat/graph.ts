import { SystemMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { model } from "./model.js";

const INSTRUCTIONS = new SystemMessage("You are a friendly assistant. Answer briefly.");

/** Asks the model for the next message. The state contains the conversation without the instructions. */
async function reply(state: typeof MessagesAnnotation.State, config: RunnableConfig) {
  const answer = await model.invoke([INSTRUCTIONS, ...state.messages], config);
  return { messages: [answer] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("reply", reply)
  .addEdge(START, "reply")
  .addEdge("reply", END)
  .compile();
