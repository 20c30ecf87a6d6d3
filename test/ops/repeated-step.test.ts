/** Runs that stop in the superstep at which they started. */
import { Annotation, interrupt, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { expect, it } from "vitest";
import type { RunCreateRequest } from "../../src/models/run.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { openTestService } from "../helpers/service.js";

const State = Annotation.Root({
  text: Annotation<string>,
  gate: Annotation<string>,
  log: Annotation<string[]>({ reducer: (log, more) => log.concat(more), default: () => [] }),
});

const graph = new StateGraph(State)
  .addNode("ask", async ({ gate }: typeof State.State, { signal }: LangGraphRunnableConfig) => {
    const answers = [interrupt<string, string>("Sure?")];
    await gateOf(gate).wait(signal, false);
    answers.push(interrupt<string, string>("Really?"));
    return { log: answers };
  })
  .addEdge(START, "ask")
  .compile();

/** A thread that waits for an answer. */
async function asked() {
  const service = await openTestService({ graphs: { graph }, settings: { multitask_cancel: true } });
  const { thread_id } = await service.threads.create({});
  const gate = newId();
  const start = (request: Partial<RunCreateRequest>) =>
    service.runs.create(thread_id, { assistant_id: "graph", ...request });
  const { run_id } = await start({ input: { gate, text: "first" } });
  const history = () => service.state.history(thread_id, {});
  return { service, thread_id, gate: gateOf(gate), start, run_id, history };
}

const DURABILITIES = ["sync", "async", "exit"] as const;

it.each(DURABILITIES)("a second question keeps the checkpoint, with durability %s", async (durability) => {
  const { gate, start, history, run_id } = await asked();
  const before = await history();
  gate.open();
  await start({ command: { resume: "yes", update: { log: ["by hand"] } }, durability });
  const after = await history();
  const checkpoints = (states: typeof before) =>
    states.map(({ checkpoint, parent_checkpoint, metadata }) => [checkpoint, parent_checkpoint, metadata]);
  expect(checkpoints(after)).toEqual(checkpoints(before));
  expect(after[0]).toMatchObject({
    values: { log: ["by hand"] },
    metadata: { run_id },
    interrupts: [{ value: "Really?" }],
  });
});

it.each(DURABILITIES)("a rollback keeps earlier checkpoints, with durability %s", async (durability) => {
  const { service, thread_id, gate, start, history } = await asked();
  const before = await history();
  const run = start({ command: { resume: "yes" }, durability });
  await gate.entered;
  const [running] = await service.runs.list(thread_id, {});
  await service.runs.cancel(thread_id, running?.run_id ?? "", { action: "rollback" });
  await run.catch(() => undefined);
  expect(await history()).toEqual(before);
  expect(await service.threads.get(thread_id)).toMatchObject({
    status: "interrupted",
    values: { text: "first" },
  });
});
