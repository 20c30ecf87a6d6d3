/** CPU-bound runs yield to the event loop between supersteps and tokens. */
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { StreamMode } from "../../src/models/run.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { openTestService } from "../helpers/service.js";
import { turnsDuring } from "../helpers/turns.js";

/** Milliseconds of computing per run, and per superstep or token. */
const WORK = 300;
const STEP = 2;
const STEPS = WORK / STEP;

function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Runs one superstep per STEP of work. */
const steps = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("step", ({ n }) => {
    compute(STEP);
    return { n: n + 1 };
  })
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < STEPS ? "step" : END), ["step", END])
  .compile({ name: "steps" });

/** Blocks the event loop for every token. */
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

describe("a CPU-bound run", () => {
  it.each<[string, StreamMode, object]>([
    ["steps", "values", { n: 0 }],
    ["steps", "updates", { n: 0 }],
    ["tokens", "messages", { messages: [{ role: "user", content: "continue" }] }],
    ["tokens", "messages-tuple", { messages: [{ role: "user", content: "continue" }] }],
  ])("%s streamed as %s yields to the event loop", { timeout: 60_000 }, async (graph, mode, input) => {
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
    // One turn should take a few milliseconds; a busy machine may need longer.
    expect(await turnsDuring(drain())).toBeGreaterThan(WORK / 25);
  });

  it("without a stream yields to the event loop and to a second run", { timeout: 60_000 }, async () => {
    const service = await openTestService({ graphs: { steps } });
    const ended: string[] = [];
    const run = async (name: string, n: number) => {
      const { thread_id } = await service.threads.create({});
      const request = { assistant_id: "steps", input: { n }, config: { recursion_limit: 2 * STEPS } };
      expect((await service.runs.create(thread_id, request)).status).toBe("success");
      ended.push(name);
    };
    // The short run starts last and has 5 % of the work.
    const both = Promise.all([run("long", 0), run("short", STEPS * 0.95)]);
    expect(await turnsDuring(both)).toBeGreaterThan(WORK / 25);
    expect(ended).toEqual(["short", "long"]);
  });
});
