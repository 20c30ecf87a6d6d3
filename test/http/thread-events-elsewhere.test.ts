/** Events of runs that another process executes: two services on one database. */
import { expect, it } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import { gateOf } from "../fixtures/gates.js";
import { graphs } from "../clients/open.js";
import { serve, startTestServer } from "../helpers/app.js";
import { withPostgres } from "../helpers/postgres.js";
import { openTestService } from "../helpers/service.js";
import { command, isLast, openEvents, outline, type ThreadEvent } from "../helpers/thread-events.js";

const says = (content: string) => ({ messages: [{ role: "user", content }] });
const newThread = (): string => crypto.randomUUID();

/** The parts of events that are equal in both processes. */
const durable = (events: readonly ThreadEvent[]) =>
  events
    .filter(
      ({ method, params }) => params.namespace.length === 0 && /lifecycle|checkpoints|values/.test(method),
    )
    .map(({ event_id, seq, method, params }) => ({ event_id, seq, method, data: params.data }));

withPostgres("a thread with remote runs", (postgres) => {
  const open = async () =>
    serve(await openTestService({ graphs, storage: await openStorage(postgres.options()) }));

  it("a remote process reports the start, states and end of a run like the local one", async () => {
    const [here, there] = [await open(), await open()];
    const thread = newThread();
    const name = newThread();
    const [near, far] = [await openEvents(here, thread), await openEvents(there, thread)];
    const { result } = await command(here, thread, "run.start", {
      assistant_id: "gate",
      input: { gate: name },
    });
    await gateOf(name).entered;
    await far.until(({ params }) => JSON.stringify(params.data).includes(`before ${name}`));
    expect(outline(far.events)[0]).toBe("lifecycle running");
    gateOf(name).open();
    const last = isLast(result.run_id);
    const [told, heard] = [await near.until(last), await far.until(last)];
    expect(durable(heard)).toEqual(durable(told));
    expect(outline(heard)).toEqual([
      "lifecycle running",
      ...Array<string[]>(4).fill(["checkpoints", "values"]).flat(),
      "lifecycle completed",
    ]);
    const late = await openEvents(there, thread);
    expect(durable(await late.until(last))).toEqual(durable(told));
  });

  it("an interrupt is reported to every process and can be answered on any", async () => {
    const [here, there] = [await open(), await open()];
    const thread = newThread();
    const far = await openEvents(there, thread);
    const first = await command(here, thread, "run.start", { assistant_id: "hitl", input: { topic: "tea" } });
    const asked = await far.until(isLast(first.result.run_id));
    const question = asked.find(({ method }) => method === "input.requested");
    expect(question?.params).toMatchObject({ namespace: [], data: { payload: { question: "Approve?" } } });
    const { interrupt_id } = question!.params.data;
    const answer = { interrupt_id, response: "yes" };
    const { result, meta } = await command(there, thread, "input.respond", answer);
    expect(meta?.applied_through_seq).toBe(asked.at(-1)?.seq);
    const events = await far.until(isLast(result.run_id));
    const places = events.map(({ seq }) => seq);
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
    expect(outline(events)).toContain("input.answered");
    const near = await openEvents(here, thread);
    const again = await near.until(isLast(result.run_id));
    expect(durable(again).map(({ event_id }) => event_id)).toEqual(
      expect.arrayContaining([
        `synth:${first.result.run_id}:interrupted`,
        `synth:${result.run_id}:completed`,
      ]),
    );
  });

  it("a failure and a remote cancellation are reported", async () => {
    const [here, there] = [await open(), await open()];
    const thread = newThread();
    const far = await openEvents(there, thread, { channels: ["lifecycle"] });
    const failed = await command(here, thread, "run.start", { assistant_id: "fail", input: {} });
    const events = await far.until(isLast(failed.result.run_id));
    expect(events.at(-1)?.params.data).toEqual({ event: "failed", graph_name: "fail", error: "kaboom" });
    const name = newThread();
    const { result } = await command(here, thread, "run.start", {
      assistant_id: "gate",
      input: { gate: name },
    });
    await gateOf(name).entered;
    const path = `/threads/${thread}/runs/${result.run_id}/cancel`;
    await there.request("POST", `${path}?wait=0&action=interrupt`);
    const ended = await far.until(isLast(result.run_id));
    expect(ended.at(-1)?.params.data.event).toBe("interrupted");
  });
});

it("a run that was never streamed is reported from the storage", async () => {
  const server = await startTestServer({ graphs });
  const thread = newThread();
  const body = { assistant_id: "chat", input: says("hi"), if_not_exists: "create" };
  await server.request("POST", `/threads/${thread}/runs`, body);
  const events = await (await openEvents(server, thread)).until(isLast());
  expect(outline(events)).toEqual([
    "lifecycle running",
    ...Array<string[]>(2).fill(["checkpoints", "values"]).flat(),
    "lifecycle completed",
  ]);
});
