/** A failed subgraph continues at the node that failed: on a copy of the thread, and after old checkpoints are deleted. */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { expect, it, onTestFinished } from "vitest";
import { openService } from "../../src/service/open.js";
import { serve } from "../helpers/app.js";
import { type Backend, keptStorage, onEveryBackend } from "../helpers/backends.js";

const State = Annotation.Root({ log: Annotation<string> });

/** A graph with a subgraph in a subgraph; its last node fails until `mend` is called. */
function brokenGraph() {
  const executed: string[] = [];
  let isBroken = true;
  const node =
    (name: string) =>
    ({ log }: typeof State.State) => {
      executed.push(name);
      if (name === "last" && isBroken) throw new Error("not yet");
      return { log: `${log} ${name}` };
    };
  const deep = new StateGraph(State)
    .addNode("third", node("third"))
    .addNode("last", node("last"))
    .addEdge(START, "third")
    .addEdge("third", "last")
    .addEdge("last", END)
    .compile();
  const inner = new StateGraph(State)
    .addNode("second", node("second"))
    .addNode("deep", deep)
    .addEdge(START, "second")
    .addEdge("second", "deep")
    .addEdge("deep", END)
    .compile();
  const graph = new StateGraph(State)
    .addNode("first", node("first"))
    .addNode("inner", inner)
    .addEdge(START, "first")
    .addEdge("first", "inner")
    .addEdge("inner", END)
    .compile();
  return { graph, executed, mend: () => (isBroken = false) };
}

async function failed(backend: Backend) {
  const { graph, executed, mend } = brokenGraph();
  const service = await openService({ graphs: { graph }, storage: await keptStorage(backend) });
  const server = await serve(service);
  onTestFinished(async () => {
    await server.close(0);
    await service.close(0);
  });
  const post = async (path: string, body: object = {}) => (await server.request("POST", path, body)).body;
  const { thread_id } = (await post("/threads")) as { thread_id: string };
  await post(`/threads/${thread_id}/runs/wait`, { assistant_id: "graph", input: { log: "in" } });
  expect(executed.splice(0)).toEqual(["first", "second", "third", "last"]);
  mend();
  /** Continues a thread, and returns the result and the nodes that it executed. */
  const resume = async (id: string) => {
    const result = await post(`/threads/${id}/runs/wait`, { assistant_id: "graph", input: null });
    return [result, executed.splice(0)];
  };
  return { thread_id, post, resume };
}

onEveryBackend("a failed subgraph", (backend) => {
  it("continues at the failed node on copies, and so does the original", async () => {
    const { thread_id, post, resume } = await failed(backend());
    const { thread_id: copy } = (await post(`/threads/${thread_id}/copy`)) as { thread_id: string };
    const { thread_id: second } = (await post(`/threads/${copy}/copy`)) as { thread_id: string };
    for (const id of [copy, second, thread_id])
      expect(await resume(id)).toEqual([{ log: "in first second third last" }, ["last"]]);
  });

  it("continues at the failed node after old checkpoints are deleted", async () => {
    const { thread_id, post, resume } = await failed(backend());
    const body = { thread_ids: [thread_id], strategy: "keep_latest" };
    expect(await post("/threads/prune", body)).toMatchObject({ pruned_count: 1 });
    expect(await resume(thread_id)).toEqual([{ log: "in first second third last" }, ["last"]]);
  });
});
