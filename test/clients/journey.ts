/** A graph that streams about forty frames of every kind, waits at a gate halfway, and logs the nodes that ran. */
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { gateOf } from "../fixtures/gates.js";
import { FakeModel } from "../fixtures/fake-model.js";

const State = Annotation.Root({ ...MessagesAnnotation.spec, name: Annotation<string> });
type State = typeof State.State;

const visits = new Map<string, string[]>();

/** The nodes that ran for this name, in order, over all runs. */
export const visitsOf = (name: string): string[] => visits.get(name) ?? [];

const visit = (name: string, node: string) => visits.set(name, [...visitsOf(name), node]);

const model = new FakeModel(() => "one two three four five six seven eight nine ten eleven");

const child = new StateGraph(State)
  .addNode("inner", async ({ name, messages }: State) => {
    visit(name, "inner");
    return { messages: [await model.invoke(messages)] };
  })
  .addNode("last", ({ name }: State) => {
    visit(name, "last");
    return {};
  })
  .addEdge(START, "inner")
  .addEdge("inner", "last")
  .addEdge("last", END)
  .compile();

export const journey = new StateGraph(State)
  .addNode("talk", async ({ name, messages }: State, config: LangGraphRunnableConfig) => {
    visit(name, "talk");
    for (const step of [1, 2, 3]) config.writer?.({ step });
    return { messages: [await model.invoke(messages)] };
  })
  .addNode("wait", async ({ name }: State, config: LangGraphRunnableConfig) => {
    visit(name, "wait");
    await gateOf(name).wait(config.signal, false);
    config.writer?.({ open: true, text: "caf\u00e9 \u2028 \n" });
    return {};
  })
  .addNode("child", child)
  .addEdge(START, "talk")
  .addEdge("talk", "wait")
  .addEdge("wait", "child")
  .addEdge("child", END)
  .compile();

/** The result of `visitsOf` after one run. */
export const ONE_JOURNEY = ["talk", "wait", "inner", "last"];
