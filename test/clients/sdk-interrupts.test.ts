/** Interrupts in the streams of the official SDK's client. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import type { Interrupt, StreamMode } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { collect, dataOf, eventsOf, openClient } from "./open.js";

describe("an interrupt", () => {
  it("is streamed, answered and removed", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const streamMode: StreamMode[] = ["values", "updates"];
    const asked = await collect(
      client.runs.stream(thread_id, "hitl", { input: { topic: "cats" }, streamMode }),
    );
    const question = {
      __interrupt__: [{ id: expect.any(String) as string, value: { question: "Approve?", topic: "cats" } }],
    };
    expect(asked.slice(1).map(({ event, data }) => [event, data])).toEqual([
      ["values", { topic: "cats", log: [] }],
      ["updates", { plan: { log: ["planned"] } }],
      ["values", { topic: "cats", log: ["planned"] }],
      ["updates", question],
      ["values", question],
      ["end", expect.objectContaining({ status: "interrupted" })],
    ]);

    const command = { resume: "yes" };
    const answered = await collect(client.runs.stream(thread_id, "hitl", { command, streamMode }));
    expect(eventsOf(answered)).toEqual([
      "metadata",
      "values",
      "updates",
      "values",
      "updates",
      "values",
      "end",
    ]);
    expect(answered.at(-1)).toMatchObject({ data: { status: "success" } });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle", interrupts: {} });
  });

  it("at a breakpoint is an empty list", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const request = {
      input: {},
      interruptBefore: ["step"],
      streamMode: ["values", "updates"] as StreamMode[],
    };
    const chunks = await collect(client.runs.stream(thread_id, "steps", request));
    expect(dataOf(chunks, "updates")).toEqual([{ __interrupt__: [] }]);
    expect(dataOf(chunks, "values")).toEqual([{ __interrupt__: [] }]);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "interrupted" });
  });

  it("of several tasks of a superstep is in the answer of a waiting client, whichever asked last", async () => {
    const State = Annotation.Root({ ate: Annotation<string[]>({ reducer: (a, b) => [...a, ...b] }) });
    const asks = (what: string) => () => ({ ate: [`${what}: ${String(interrupt(what))}`] });
    const meals = new StateGraph(State)
      .addNode("lunch", asks("lunch"))
      .addNode("dinner", asks("dinner"))
      .addEdge(START, "lunch")
      .addEdge(START, "dinner")
      .addEdge("lunch", END)
      .addEdge("dinner", END)
      .compile();
    const { client } = await openClient({ graphs: { meals } });
    const { thread_id } = await client.threads.create();
    const asked = (answer: unknown) => (answer as { __interrupt__: Interrupt[] }).__interrupt__;
    const questions = asked(await client.runs.wait(thread_id, "meals", { input: { ate: ["bread"] } }));
    expect(questions.map(({ value }) => value).sort()).toEqual(["dinner", "lunch"]);

    const [first, second] = questions.map(({ id }) => String(id)) as [string, string];
    const answerTo = (id: string) =>
      client.runs.wait(thread_id, "meals", { command: { resume: { [id]: "soup" } } });
    expect(asked(await answerTo(first))).toEqual([questions[1]]);
    expect(await answerTo(second)).toEqual({
      ate: expect.arrayContaining(["bread", "lunch: soup", "dinner: soup"]) as string[],
    });
  });
});
