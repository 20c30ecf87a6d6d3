/** What a thread waits for after an answer: nodes that ask again or fail, and other nodes that asked too. */
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { type Backend, onEveryBackend, openBackend } from "../helpers/backends.js";
import { startTestServer } from "../helpers/app.js";

const State = Annotation.Root({ answers: Annotation<unknown[]>() });

const builder = () =>
  new StateGraph(State)
    .addNode("ask", () => {
      const first = interrupt<string, unknown>("first?");
      if (first === "fail") throw new Error("refused");
      return { answers: [first, interrupt("second?")] };
    })
    .addEdge(START, "ask");

const flat = builder().compile({ name: "flat" });
const nested = new StateGraph(State)
  .addNode("inner", builder().compile({ name: "inner" }))
  .addEdge(START, "inner")
  .compile({ name: "nested" });

const asks = (name: string) => () => ({ answers: { [name]: interrupt<string, unknown>(name) } });
const parallel = new StateGraph(
  Annotation.Root({ answers: Annotation<object>({ reducer: (all, more) => ({ ...all, ...more }) }) }),
)
  .addNode("left", asks("left"))
  .addNode("right", asks("right"))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .compile({ name: "parallel" });

interface State {
  next: string[];
  tasks: { name: string; state: State | null; interrupts: { id: string; value: unknown }[] }[];
}

async function asked(backend: Backend, assistant_id: string) {
  const storage = await openBackend(backend);
  const { request } = await startTestServer({ graphs: { flat, nested, parallel }, storage });
  const { thread_id } = (await request("POST", "/threads", {})).body as { thread_id: string };
  const thread = `/threads/${thread_id}`;
  await request("POST", `${thread}/runs`, { assistant_id, input: {} });
  const get = async <T>(path = "") => (await request("GET", `${thread}${path}`)).body as T;
  const answer = (resume: unknown) =>
    request("POST", `${thread}/runs`, { assistant_id, command: { resume } });
  /** The answer of a run that has ended, from the storage. */
  const joined = (run: Awaited<ReturnType<typeof answer>>) =>
    get(`/runs/${(run.body as { run_id: string }).run_id}/join`);
  return { thread, request, get, answer, joined };
}

async function answered(backend: Backend, assistant_id: string, resume: string) {
  const thread = await asked(backend, assistant_id);
  await thread.answer(resume);
  return thread;
}

onEveryBackend("a node that asks a second question", (backend) => {
  it("is next, and a copy of its thread is interrupted", async () => {
    const { thread, request, get } = await answered(backend(), "flat", "one");
    const state = await get<State>("/state");
    expect(state.tasks).toMatchObject([{ interrupts: [{ value: "second?" }] }]);
    expect(state.next).toEqual(["ask"]);
    expect(await get()).toMatchObject({ status: "interrupted" });
    expect((await request("POST", `${thread}/copy`)).body).toMatchObject({ status: "interrupted" });
  });

  it("is next in a subgraph", async () => {
    const { get } = await answered(backend(), "nested", "one");
    const { next, tasks } = await get<State>("/state?subgraphs=true");
    expect(next).toEqual(["inner"]);
    expect(tasks[0]?.state?.tasks).toMatchObject([{ interrupts: [{ value: "second?" }] }]);
    expect(tasks[0]?.state?.next).toEqual(["ask"]);
  });

  it("is in the answer of the run that it was asked in, also after an edit and another run", async () => {
    const { thread, request, answer, joined } = await asked(backend(), "flat");
    const run = await answer("one");
    expect(await joined(run)).toMatchObject({ __interrupt__: [{ value: "second?" }] });
    await request("POST", `${thread}/state`, { values: { answers: ["edited"] } });
    expect(await joined(run)).toMatchObject({ __interrupt__: [{ value: "second?" }] });
    const { thread_id } = run.body as { thread_id: string };
    await request("POST", `/threads/${thread_id}/runs`, { assistant_id: "flat", input: {} });
    expect(await joined(run)).toMatchObject({ __interrupt__: [{ value: "second?" }] });
  });

  it("is next if it fails after the answer", async () => {
    const { get } = await answered(backend(), "flat", "fail");
    expect(await get()).toMatchObject({ status: "error" });
    expect((await get<State>("/state")).next).toEqual(["ask"]);
  });
});

onEveryBackend("an answer to one of two nodes", (backend) => {
  it("leaves the question of the other, which can be answered with false", async () => {
    const { get, answer, joined } = await asked(backend(), "parallel");
    const { tasks } = await get<State>("/state");
    const [question] = tasks.find(({ name }) => name === "left")?.interrupts ?? [];
    const run = await answer({ [question?.id ?? ""]: "yes" });
    expect(await joined(run)).toMatchObject({
      answers: { left: "yes" },
      __interrupt__: [{ value: "right" }],
    });
    expect(await get<State>("/state")).toMatchObject({ next: ["right"], interrupts: [{ value: "right" }] });
    expect(Object.values((await get<{ interrupts: object }>()).interrupts)).toMatchObject([
      [{ value: "right" }],
    ]);
    expect((await answer(false)).body).toMatchObject({ status: "success" });
    expect(await get()).toMatchObject({ values: { answers: { left: "yes", right: false } }, interrupts: {} });
    expect(await joined(run)).toEqual({ __interrupt__: [expect.objectContaining({ value: "right" })] });
  });
});
