/** Graphs other than StateGraph: functional entrypoints and raw Pregel graphs. */
import { AIMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import {
  Annotation,
  entrypoint,
  getPreviousState,
  START,
  StateGraph,
  task,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";
import { EphemeralValue, LastValue } from "@langchain/langgraph/channels";
import { Channel, Pregel } from "@langchain/langgraph/pregel";
import { FINE, leak, leakyModel, pauseAndAsk } from "./mark.ts";

interface Input {
  topic: string;
}

const inner = new StateGraph(Annotation.Root({ topic: Annotation<string>, private: Annotation<string> }))
  .addNode("hide", () => ({ private: leak("functional.inner") }))
  .addEdge(START, "hide")
  .compile({ name: "inner" });

/** Returns the input topic and the answer. Task results, the saved value and the inner graph's state stay hidden. */
export const functional = entrypoint(
  "functional",
  async ({ topic }: Input, config: LangGraphRunnableConfig) => {
    const mark = (place: string) => leak(`functional.${place}`);
    await task("text", async (what: string) => `${what} ${mark("text")}`)(mark("input"));
    await task("object", async () => ({ topic: mark("object"), messages: [mark("list")] }))();
    await task("functional", async () => mark("namesake"))();
    await task("message", async () => new AIMessage({ id: "m", content: mark("message") }))();
    await task("model", async () => leakyModel("functional.tokens").invoke("?"))();
    await leakyModel("functional.body").invoke("?");
    await inner.invoke({ topic }, config);
    const before = getPreviousState<string>();
    const answer = await pauseAndAsk(config);
    const value = { topic, shown: answer, again: before !== undefined };
    return entrypoint.final({ value, save: mark("saved") });
  },
);

const step = (
  channel: string,
  to: string,
  work: (value: unknown, config: LangGraphRunnableConfig) => unknown,
) =>
  Channel.subscribeTo(channel)
    .pipe(RunnableLambda.from(work))
    .pipe(Channel.writeTo([to]));

/** Three channels in a row; the last one is the output. */
const makePregel = (place: string, outputChannels: "out" | "out"[]) =>
  new Pregel({
    nodes: {
      one: step("input", "inner", () => leak(`${place}.inner`)),
      two: step("inner", "out", async (_, config) => ({ topic: FINE, shown: await pauseAndAsk(config) })),
    },
    channels: {
      input: new EphemeralValue(),
      inner: new LastValue(),
      out: new LastValue(),
    },
    inputChannels: "input",
    outputChannels,
  });

export const pregel = makePregel("pregel", "out");
export const pregelKeys = makePregel("pregelKeys", ["out"]);
