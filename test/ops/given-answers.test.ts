/** Answers of runs whose process crashed after it had given them: none reaches a second question. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { now } from "../../src/storage/rows/rows.js";
import type { RunRow } from "../../src/storage/contract/runs.js";
import type { Run } from "../../src/models/run.js";
import type { Thread } from "../../src/models/thread.js";
import { type TestServer, startTestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { replacing } from "../helpers/refusing.js";

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (log, more) => log.concat(more), default: () => [] }),
});
/** Asks two questions. */
const asking = (name: string) => () => {
  const first = interrupt<string, string>(`${name} first`);
  return { log: [`${name} ${first} ${interrupt<string, string>(`${name} second`)}`] };
};
const flow = new StateGraph(Log)
  .addNode("ask", asking("ask"))
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();
const child = new StateGraph(Log)
  .addNode("early", () => ({ log: ["early"] }))
  .addNode("ask", asking("ask"))
  .addEdge(START, "early")
  .addEdge("early", "ask")
  .addEdge("ask", END)
  .compile();
/** Two questions in two nodes of a subgraph. */
const stages = new StateGraph(Log)
  .addNode("first", () => ({ log: [interrupt<string, string>("ask first")] }))
  .addNode("second", () => ({ log: [interrupt<string, string>("ask second")] }))
  .addEdge(START, "first")
  .addEdge("first", "second")
  .addEdge("second", END)
  .compile();
const both = new StateGraph(Log)
  .addNode("one", asking("one"))
  .addNode("two", asking("two"))
  .addEdge(START, "one")
  .addEdge(START, "two")
  .compile();
const around = (inner: unknown) =>
  new StateGraph(Log)
    .addNode("inner", inner as typeof child)
    .addEdge(START, "inner")
    .addEdge("inner", END)
    .compile();
const called = new StateGraph(Log)
  .addNode("inner", async (state) => ({ log: (await child.invoke(state)).log }))
  .addEdge(START, "inner")
  .addEdge("inner", END)
  .compile();

const GRAPHS = { flow, both, nested: around(child), stages: around(stages), called };
interface Question {
  id: string;
  value: string;
}

onEveryBackend("an answer", (backend) => {
  const isKept = () => ["sqlite", "postgres", "mongodb"].includes(backend().name);

  /** A thread of a graph that waits for an answer. */
  async function asked(graph: keyof typeof GRAPHS) {
    const kept = await keptStorage(backend());
    let resumption: RunRow["resumption"];
    const insert: typeof kept.runs.insert = (row, ...more) => {
      ({ resumption } = row);
      return kept.runs.insert(row, ...more);
    };
    const storage = { ...kept, runs: replacing(kept.runs, { insert }) };
    const server = await startTestServer({ graphs: GRAPHS, storage });
    const { thread_id } = (await server.request("POST", "/threads", {})).body as Thread;
    const path = `/threads/${thread_id}`;
    const questions = async ({ request }: Pick<TestServer, "request">) => {
      const { tasks } = (await request("GET", `${path}/state`)).body as {
        tasks: { interrupts: Question[] }[];
      };
      return tasks.flatMap(({ interrupts }) => interrupts);
    };
    const run = async (body: object) => {
      const request = { assistant_id: graph, on_disconnect: "continue", ...body };
      const answer = await server.request("POST", `${path}/runs`, request);
      expect(answer.status, answer.text).toBe(200);
      return answer.body as Run;
    };
    await run({ input: { log: [] } });
    return {
      questions: () => questions(server),
      /**
       * Sends answers, leaves their run as after a crash that followed the end of the graph, and resumes it.
       * @param given the answers that the graph got before the crash; all by default
       * @returns the questions that are pending then
       */
      crash: async (
        answers: object,
        { given = answers, ...more }: { given?: object; strict_resume?: boolean } = {},
      ) => {
        const { run_id } = await run({ command: { resume: given }, ...more });
        const row = (await kept.runs.get(thread_id, run_id)) as RunRow;
        await kept.runs.delete(thread_id, run_id);
        await server.close(0);
        await server.service.close(0);
        const lost = { status: "running", state: "running", owner: "gone", attempt: 1, resumption } as const;
        const kwargs = { ...row.kwargs, command: { resume: answers } };
        await kept.runs.insert({ ...row, ...lost, kwargs }, { updated_at: now(), status: "busy" });
        const next = await startTestServer({ graphs: GRAPHS, storage: kept });
        await next.request("GET", `${path}/runs/${run_id}/join`);
        const { body } = await next.request("GET", `${path}/runs/${run_id}`);
        expect(body).toMatchObject({ status: "interrupted", error: null, attempt: 2 });
        return (await questions(next)).map(({ value }) => value);
      },
    };
  }

  it.each(["flow", "nested", "stages", "called"] as const)(
    "that was given once is not given again: %s",
    async (graph) => {
      if (!isKept()) return;
      const { crash } = await asked(graph);
      expect(await crash({ is: "yes" })).toEqual(["ask second"]);
    },
  );

  it("by interrupt id, to a strict run", async () => {
    if (!isKept()) return;
    const { crash, questions } = await asked("flow");
    const [one] = await questions();
    expect(await crash({ [String(one?.id)]: "yes" }, { strict_resume: true })).toEqual(["ask second"]);
  });

  it("is given to the questions that it has not reached", async () => {
    if (!isKept()) return;
    const { crash, questions } = await asked("both");
    const [one, two] = (await questions()).map(({ id }) => id);
    const answers = { [String(one)]: "1", [String(two)]: "2" };
    const given = { [String(one)]: "1" };
    expect((await crash(answers, { given })).sort()).toEqual(["one second", "two second"]);
  });

  it("to all of two questions is given once to each", async () => {
    if (!isKept()) return;
    const { crash } = await asked("both");
    expect((await crash({ is: "yes" })).sort()).toEqual(["one second", "two second"]);
  });
});
