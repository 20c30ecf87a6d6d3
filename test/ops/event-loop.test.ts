/** Runs that never wait for anything share the event loop with everything else. */
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { StreamMode } from "../../src/models/run.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { openTestService } from "../helpers/service.js";
import { turnsDuring } from "../helpers/turns.js";

/** Milliseconds of computing that a run does in all, and in one superstep or token. */
const WORK = 300;
const STEP = 2;
const STEPS = WORK / STEP;

function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** As many supersteps as there is to do. */
const steps = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("step", ({ n }) => {
    compute(STEP);
    return { n: n + 1 };
  })
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < STEPS ? "step" : END), ["step", END])
  .compile({ name: "steps" });

/** Each of its tokens is computed in place. */
class BusyModel extends FakeModel {
  override async *_streamResponseChunks(...call: Parameters<FakeModel["_streamResponseChunks"]>) {
    for await (const chunk of super._streamResponseChunks(...call)) {
      compute(STEP);
      yield chunk;
    }
  }
}

const model = new BusyModel(() => "word ".repeat(STEPS).trim());
const tokens = new StateGraph(MessagesAnnotation)
  .addNode("answer", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile({ name: "tokens" });

describe("a run that never waits", () => {
  it.each<[string, StreamMode, object]>([
    ["steps", "values", { n: 0 }],
    ["steps", "updates", { n: 0 }],
    ["tokens", "messages", { messages: [{ role: "user", content: "go on" }] }],
    ["tokens", "messages-tuple", { messages: [{ role: "user", content: "go on" }] }],
  ])("%s, streamed as %s, lets others in", { timeout: 60_000 }, async (graph, mode, input) => {
    const service = await openTestService({ graphs: { steps, tokens } });
    const { thread_id } = await service.threads.create({});
    const { frames } = await service.runs.stream(thread_id, {
      assistant_id: graph,
      input,
      stream_mode: [mode],
      config: { recursion_limit: 2 * STEPS },
    });
    const drain = async () => {
      let last = "";
      for await (const batch of frames) last = batch.at(-1)?.event ?? last;
      expect(last).toBe("end");
    };
    // A turn is to take a few milliseconds; a machine that is busy may need longer for each.
    expect(await turnsDuring(drain())).toBeGreaterThan(WORK / 25);
  });

  it("and nobody streams, lets others in; two of them share the time", { timeout: 60_000 }, async () => {
    const service = await openTestService({ graphs: { steps } });
    const ended: string[] = [];
    const run = async (name: string, n: number) => {
      const { thread_id } = await service.threads.create({});
      const request = { assistant_id: "steps", input: { n }, config: { recursion_limit: 2 * STEPS } };
      expect((await service.runs.create(thread_id, request)).status).toBe("success");
      ended.push(name);
    };
    // The short one begins last and has a twentieth to do.
    const both = Promise.all([run("long", 0), run("short", STEPS * 0.95)]);
    expect(await turnsDuring(both)).toBeGreaterThan(WORK / 25);
    expect(ended).toEqual(["short", "long"]);
  });
});
