/**
 * Who can read the events of a thread and send it commands, which state they show, and what happens on a busy
 * thread.
 */
import { describe, expect, it } from "vitest";
import { CLASSIFIED } from "../fixtures/graphs/vault.js";
import { gateOf } from "../fixtures/gates.js";
import { graphs } from "../clients/open.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { command, type CommandBody, isLast, openEvents, type ThreadEvent } from "../helpers/thread-events.js";
import { byHeader } from "../helpers/two-users.js";

const HIDDEN = new RegExp(`secret|private_note|${CLASSIFIED}`);
const says = (content: string) => ({ messages: [{ role: "user", content }] });
const start = (server: TestServer, thread: string, assistant_id: string, input: unknown, more: object = {}) =>
  command(server, thread, "run.start", { assistant_id, input, ...more });
const newThread = (): string => crypto.randomUUID();
const lifecycleOf = (events: readonly ThreadEvent[]) =>
  events
    .filter(({ method, params }) => method === "lifecycle" && params.namespace.length === 0)
    .map(({ event_id, params }) => `${event_id.split(":")[1]} ${String(params.data.event)}`);

describe("hidden values", () => {
  it("values outside the output schema are in no event and in no command response, including subgraphs", async () => {
    const server = await startTestServer({ graphs });
    const thread = newThread();
    const stream = await openEvents(server, thread);
    const { result } = await start(server, thread, "vault", { topic: "cats" });
    const asked = await stream.until(isLast(result.run_id));
    const [question] = asked.filter(({ method }) => method === "input.requested");
    expect(question?.params.data.payload).toEqual({ question: "Publish cats?" });
    const answers: CommandBody[] = [];
    for (const namespace of [[], question?.params.namespace ?? []])
      answers.push(await command(server, thread, "state.get", { namespace }));
    answers.push(await command(server, thread, "state.get", { keys: ["topic", "secret"] }));
    answers.push(await command(server, thread, "agent.getTree", {}));
    const { interrupt_id } = question?.params.data as { interrupt_id: string };
    const { namespace } = question!.params;
    const answered = await command(server, thread, "input.respond", {
      namespace,
      interrupt_id,
      response: "yes",
    });
    await stream.until(isLast(answered.result.run_id));
    expect(answers[0]?.result).toMatchObject({ values: { topic: "cats" } });
    expect(answers[2]?.result.values).toEqual({ topic: "cats" });
    for (const text of [stream.text, ...answers.map((answer) => JSON.stringify(answer))])
      expect(text).not.toMatch(HIDDEN);
    const late = await openEvents(server, thread);
    await late.until(isLast(answered.result.run_id));
    expect(late.text).not.toMatch(HIDDEN);
    expect((await server.request("GET", `/threads/${thread}`)).body).toMatchObject({
      values: { answer: "yes" },
    });
  });
});

describe("a server with disabled thread routes", () => {
  it("state.get is not supported and runs still work", async () => {
    const server = await startTestServer({ graphs, settings: { disabled_routes: ["threads"] } });
    const thread = newThread();
    const stream = await openEvents(server, thread);
    const { result } = await start(server, thread, "chat", says("hi"));
    await stream.until(isLast(result.run_id));
    expect((await server.request("GET", `/threads/${thread}/state`)).status).toBe(404);
    expect(await command(server, thread, "state.get", {})).toMatchObject({ error: "not_supported" });
  });
});

describe("threads of another user", () => {
  it("another user's thread is not found by streams or commands, and open streams end", async () => {
    const server = await startTestServer({ graphs, authenticate: byHeader });
    const thread = newThread();
    const [ann, anna] = [{ user: "ann" }, { user: "anna" }];
    const early = await openEvents(server, thread, {}, anna);
    const own = await openEvents(server, thread, {}, ann);
    const params = { assistant_id: "chat", input: says("pomegranate") };
    const { result } = await command(server, thread, "run.start", params, ann);
    await own.until(isLast(result.run_id));
    await early.ended;
    expect(early.events).toEqual([]);
    const body = { channels: ["values"] };
    const path = `/threads/${thread}`;
    const foreign = { status: 404, body: { code: "thread_not_found" } };
    expect(await server.request("POST", `${path}/stream/events`, body, anna)).toMatchObject(foreign);
    for (const method of ["run.start", "input.respond", "state.get", "agent.getTree"]) {
      const sent = { id: 1, method, params: { ...params, interrupt_id: "x", response: 1 } };
      expect(await server.request("POST", `${path}/commands`, sent, anna)).toMatchObject(foreign);
    }
    expect((await server.request("POST", `${path}/commands`, { id: 1, method: "x" })).status).toBe(401);
  });

  it("a request without an API key is rejected", async () => {
    const server = await startTestServer({ graphs, settings: { api_keys: ["let-me-in"] } });
    const thread = newThread();
    const body = { channels: ["values"] };
    expect((await server.request("POST", `/threads/${thread}/stream/events`, body)).status).toBe(401);
    expect((await server.request("POST", `/threads/${thread}/commands`, { id: 1, method: "x" })).status).toBe(
      401,
    );
    const key = { "x-api-key": "let-me-in" };
    const stream = await openEvents(server, thread, {}, key);
    await command(server, thread, "run.start", { assistant_id: "chat", input: says("hi") }, key);
    await stream.until(isLast());
  });
});

describe("commands on a busy thread", () => {
  async function busy() {
    const server = await startTestServer({ graphs });
    const thread = newThread();
    const name = newThread();
    const stream = await openEvents(server, thread, { channels: ["lifecycle"] });
    const first = (await start(server, thread, "gate", { gate: name })).result.run_id;
    await gateOf(name).entered;
    return { server, thread, stream, first, gate: gateOf(name) };
  }

  it("a new run waits for the active run", async () => {
    const { server, thread, stream, first, gate } = await busy();
    const second = (await start(server, thread, "chat", says("hi"))).result.run_id;
    gate.open();
    const events = await stream.until(isLast(second));
    expect(lifecycleOf(events)).toEqual([
      `${first} running`,
      `${first} completed`,
      `${second} running`,
      `${second} completed`,
    ]);
  });

  it.each(["interrupt", "rollback"])("%s stops the active run", async (multitask_strategy) => {
    const { server, thread, stream, first, gate } = await busy();
    const { result } = await start(server, thread, "chat", says("hi"), { multitask_strategy });
    await gate.aborted;
    const events = await stream.until(isLast(result.run_id));
    expect(lifecycleOf(events)).toEqual([
      `${first} running`,
      `${first} interrupted`,
      `${result.run_id} running`,
      `${result.run_id} completed`,
    ]);
    const runs = (await server.request("GET", `/threads/${thread}/runs`)).body as unknown[];
    expect(runs).toHaveLength(multitask_strategy === "rollback" ? 1 : 2);
    const body = { assistant_id: "chat", multitask_strategy };
    expect((await server.request("POST", `/threads/${thread}/runs`, body)).status).toBe(200);
  });

  it("reject returns an error, and the run routes return 409", async () => {
    const { server, thread, gate } = await busy();
    const answer = await start(server, thread, "chat", says("hi"), { multitaskStrategy: "reject" });
    expect(answer).toMatchObject({ type: "error", error: "invalid_argument" });
    expect(answer.message).toContain("is busy");
    const body = { assistant_id: "chat", multitask_strategy: "interrupt" };
    expect((await server.request("POST", `/threads/${thread}/runs`, body)).status).toBe(409);
    gate.open();
  });

  it("a cancelled run is reported as interrupted, even if it never started", async () => {
    const { server, thread, stream, first } = await busy();
    const second = (await start(server, thread, "chat", says("hi"))).result.run_id;
    await server.request("POST", `/threads/${thread}/runs/${second}/cancel?wait=1`);
    await server.request("POST", `/threads/${thread}/runs/${first}/cancel?wait=0&action=interrupt`);
    const events = await stream.until(isLast(second));
    expect(lifecycleOf(events)).toEqual([
      `${first} running`,
      `${first} interrupted`,
      `${second} interrupted`,
    ]);
    const next = (await start(server, thread, "chat", says("again"))).result.run_id;
    expect(lifecycleOf(await stream.until(isLast(next))).at(-1)).toBe(`${next} completed`);
  });
});

describe("an invalid command", () => {
  it.each([
    ["an unknown command", "run.stop", {}, "unknown_command", "run.start"],
    ["an unsupported command", "state.fork", {}, "not_supported", "state.fork"],
    ["a start without an assistant", "run.start", { input: {} }, "invalid_argument", "assistant_id"],
    [
      "a start of an unknown assistant",
      "run.start",
      { assistant_id: "nope", input: {} },
      "invalid_argument",
      "nope",
    ],
    ["a start on a missing checkpoint", "run.start", fork(), "no_such_checkpoint", "does not exist"],
    [
      "an answer without an interrupt",
      "input.respond",
      { interrupt_id: "x", response: 1 },
      "invalid_argument",
      "no pending interrupts",
    ],
    [
      "a read of an unknown namespace",
      "state.get",
      { namespace: ["child:1"] },
      "no_such_namespace",
      "child:1",
    ],
    ["a tree of an unknown run", "agent.getTree", { run_id: "x" }, "no_such_run", '"x"'],
  ])("%s is answered with an error", async (_, method, params, error, message) => {
    const server = await startTestServer({ graphs });
    const answer = await command(server, newThread(), method, params);
    expect(answer).toMatchObject({ type: "error", id: 1, error });
    expect(answer.message).toContain(message);
  });

  it.each([
    ["invalid JSON", "{"],
    ["no method", { id: 1 }],
    ["a string as id", { id: "1", method: "run.start" }],
    ["a list as params", { id: 1, method: "run.start", params: [] }],
  ])("a command with %s is rejected with 422", async (_, body) => {
    const server = await startTestServer({ graphs });
    expect((await server.request("POST", `/threads/${newThread()}/commands`, body)).status).toBe(422);
  });

  it("a start of an unknown assistant does not bind the thread to a graph", async () => {
    const server = await startTestServer({ graphs });
    const thread = newThread();
    await start(server, thread, "nope", {});
    const stream = await openEvents(server, thread);
    const { result } = await start(server, thread, "chat", says("hi"));
    await stream.until(isLast(result.run_id));
  });
});

describe("answers to interrupts", () => {
  async function asked() {
    const server = await startTestServer({ graphs });
    const thread = newThread();
    const stream = await openEvents(server, thread);
    const { result } = await start(server, thread, "hitl", { topic: "tea" });
    const events = await stream.until(isLast(result.run_id));
    const { interrupt_id } = events.find(({ method }) => method === "input.requested")!.params.data;
    return { server, thread, stream, id: String(interrupt_id), lastSeq: events.at(-1)!.seq };
  }

  it("an answer is reported when its run starts, with the last seq before it", async () => {
    const { server, thread, stream, id, lastSeq } = await asked();
    const params = { interrupt_id: id, response: "yes", update: { topic: "coffee" } };
    const { result, meta } = await command(server, thread, "input.respond", params);
    expect(meta).toEqual({ thread_id: thread, applied_through_seq: lastSeq });
    const events = await stream.until(isLast(result.run_id));
    const answered = events.find(({ method }) => method === "input.answered");
    expect(answered?.params).toMatchObject({ namespace: [], data: { interrupt_ids: [id] } });
    const { values } = (await command(server, thread, "state.get", {})).result;
    expect(values).toMatchObject({ topic: "coffee", answer: "yes" });
  });

  it("a run's input answers an interrupt and is reported", async () => {
    const { server, thread, stream, id } = await asked();
    const { result } = await start(server, thread, "hitl", "yes");
    const events = await stream.until(isLast(result.run_id));
    const answered = events.filter(({ method }) => method === "input.answered");
    expect(answered.map(({ params }) => params.data)).toEqual([{ interrupt_ids: [id] }]);
    expect((await command(server, thread, "state.get", {})).result.values).toMatchObject({ answer: "yes" });
  });

  it.each([
    ["an unknown id", { interrupt_id: "0".repeat(32) }],
    ["an unknown namespace", { namespace: ["child:1"] }],
  ])("an answer with %s starts no run", async (_, wrong) => {
    const { server, thread, id } = await asked();
    const answer = await command(server, thread, "input.respond", {
      interrupt_id: id,
      response: 1,
      ...wrong,
    });
    expect(answer).toMatchObject({ type: "error", error: "no_such_interrupt" });
    expect((await server.request("GET", `/threads/${thread}/runs`)).body).toHaveLength(1);
  });
});

/** Parameters that name a missing checkpoint. */
function fork(): object {
  const configurable = { checkpoint_id: "1f1e687b-744f-6840-8000-9bcaff8f0694" };
  return { assistant_id: "chat", input: {}, config: { configurable } };
}

describe("an error of a command", () => {
  it("the error names the invalid field, as on every route", async () => {
    const server = await startTestServer({ graphs });
    const named = (config: object) => start(server, newThread(), "chat", says("hi"), { config });
    const odd = await named({ configurable: { checkpoint_id: 7 } });
    expect(odd).toMatchObject({
      type: "error",
      ...{
        error: "invalid_argument",
        message: expect.stringContaining("configurable.checkpoint_id") as string,
      },
    });
    for (const checkpoint_id of [null, ""])
      expect(await named({ configurable: { checkpoint_id } })).toMatchObject({ type: "success" });
  });
});
