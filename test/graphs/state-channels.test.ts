/** Kinds of channels in the schemas that clients get; the version of a graph does not depend on them. */
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { openTestService } from "../helpers/service.js";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  topic: Annotation<string>(),
  found: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
const inner = new StateGraph({ stateSchema: State, output: MessagesAnnotation })
  .addNode("look", () => ({ topic: "tea" }))
  .addEdge(START, "look")
  .compile();
const graph = new StateGraph({
  stateSchema: State,
  output: Annotation.Root({ found: State.spec.found, ...MessagesAnnotation.spec }),
})
  .addNode("inner", inner)
  .addEdge(START, "inner")
  .compile();

it("says how writes change each state key, and which keys clients see", async () => {
  const { assistants } = await openTestService({ graphs: { graph } });
  expect((await assistants.schemas("graph")).channels).toEqual({
    messages: { kind: "messages", visible: true },
    topic: { kind: "last_value", visible: false },
    found: { kind: "reducer", visible: true },
  });
  const { inner: subgraph } = await assistants.subgraphs("graph", { recurse: true });
  expect(subgraph?.channels).toEqual({
    messages: { kind: "messages", visible: true },
    topic: { kind: "last_value", visible: false },
    found: { kind: "reducer", visible: false },
  });
});
