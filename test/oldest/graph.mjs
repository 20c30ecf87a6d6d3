/** A graph as written on the oldest line: messages, a custom event, long-term memory and an interrupt. */
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const model = new FakeListChatModel({ responses: ["one two three"] });

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }, config) => {
    config.writer?.({ step: "model" });
    await config.store?.put(["notes"], "last", { text: messages.at(-1).content });
    return { messages: [await model.invoke(messages, config)] };
  })
  .addNode("ask", ({ messages }) =>
    messages[0].content === "ask" ? { messages: [{ role: "ai", content: interrupt("really?") }] } : {},
  )
  .addEdge(START, "model")
  .addEdge("model", "ask")
  .addEdge("ask", END)
  .compile();
