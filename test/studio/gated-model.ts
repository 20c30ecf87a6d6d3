/** A model that streams word by word and pauses at a gate. */
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { FakeModel } from "../fixtures/fake-model.js";
import { gateOf } from "../fixtures/gates.js";

export class GatedModel extends FakeModel {
  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const gate = /gate (\S+)/.exec(messages.at(-1)?.text ?? "")?.[1];
    let count = 0;
    for await (const chunk of super._streamResponseChunks(messages, options, runManager)) {
      yield chunk;
      count += 1;
      // A token is reported once the next one is requested.
      if (count === 3 && gate !== undefined) await gateOf(gate).wait(options.signal, false);
    }
  }
}

const model = new GatedModel((messages) => `first words of **an answer** to ${messages.at(-1)?.text}`);

/** Answers a message. For `gate NAME`, the answer pauses until that gate opens. */
export const gatedChat = new StateGraph(MessagesAnnotation)
  .addNode("write", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode("close", () => ({}))
  .addEdge(START, "write")
  .addEdge("write", "close")
  .addEdge("close", END)
  .compile({ name: "chat" });
