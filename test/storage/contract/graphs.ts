/** Small graphs that write checkpoints through the checkpointer under test. */
import { Annotation, DeltaChannel, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import type { Checkpointer } from "../../../src/storage/contract/checkpointer.js";

const append = (log: string[] = [], more: string[]) => log.concat(more);

/** plan -> ask (interrupts) -> done; the log records the nodes that ran. */
export function askingGraph(checkpointer: Checkpointer) {
  const State = Annotation.Root({ log: Annotation<string[]>({ reducer: append, default: () => [] }) });
  return new StateGraph(State)
    .addNode("plan", () => ({ log: ["planned"] }))
    .addNode("ask", () => ({ log: [`answer ${String(interrupt("really?"))}`] }))
    .addNode("done", () => ({ log: ["done"] }))
    .addEdge(START, "plan")
    .addEdge("plan", "ask")
    .addEdge("ask", "done")
    .addEdge("done", END)
    .compile({ checkpointer });
}

/** note and ask (interrupts) run in the same superstep, then done. */
export function parallelGraph(checkpointer: Checkpointer) {
  const State = Annotation.Root({
    n: Annotation<number>(),
    log: Annotation<string[]>({ reducer: append, default: () => [] }),
  });
  return new StateGraph(State)
    .addNode("note", () => ({ log: ["noted"] }))
    .addNode("ask", ({ n }) => ({ log: [`answer ${String(interrupt("really?"))} ${n}`] }))
    .addNode("done", () => ({ log: ["done"] }))
    .addEdge(START, "note")
    .addEdge(START, "ask")
    .addEdge("ask", "done")
    .addEdge("done", END)
    .compile({ checkpointer });
}

/** note and ask (interrupts) run in the same superstep; done waits for both. An edit as again runs ask once more. */
export function joiningGraph(checkpointer: Checkpointer, defer: boolean) {
  const State = Annotation.Root({ log: Annotation<string[]>({ reducer: append, default: () => [] }) });
  return new StateGraph(State)
    .addNode("note", () => ({ log: ["noted"] }))
    .addNode("ask", () => ({ log: [`answer ${String(interrupt("really?"))}`] }))
    .addNode("again", () => ({ log: [] }))
    .addNode("done", () => ({ log: ["done"] }), { defer })
    .addConditionalEdges(START, () => ["note", "ask"], ["note", "ask", "again"])
    .addEdge("again", "ask")
    .addEdge(["note", "ask"], "done")
    .compile({ checkpointer });
}

/** A log in a delta channel: checkpoints store its writes, and its full value only occasionally. */
export function deltaGraph(checkpointer: Checkpointer) {
  const log = () =>
    new DeltaChannel<string[], string[]>((all, writes) => all.concat(...writes), {
      snapshotFrequency: 5,
      initialValueFactory: () => [],
    });
  const State = Annotation.Root({ log: log as unknown as ReturnType<typeof Annotation<string[]>> });
  return new StateGraph(State)
    .addNode("one", () => ({ log: ["one"] }))
    .addNode("two", () => ({ log: ["two"] }))
    .addEdge(START, "one")
    .addEdge("one", "two")
    .addEdge("two", END)
    .compile({ checkpointer });
}

/** An outer graph whose inner graph interrupts. */
export function nestedGraph(checkpointer: Checkpointer) {
  const State = Annotation.Root({ log: Annotation<string[]>({ reducer: append, default: () => [] }) });
  const inner = new StateGraph(State)
    .addNode("ask", () => ({ log: [`answer ${String(interrupt("inner?"))}`] }))
    .addEdge(START, "ask")
    .addEdge("ask", END)
    .compile();
  return new StateGraph(State)
    .addNode("child", inner)
    .addEdge(START, "child")
    .addEdge("child", END)
    .compile({ checkpointer });
}
