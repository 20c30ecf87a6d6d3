import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("reply", () => ({ messages: [new AIMessage("Fine, thank you.")] }))
  .addEdge(START, "reply")
  .addEdge("reply", END)
  .compile();
