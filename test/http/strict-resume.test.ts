/** Answers to interrupts that are not pending: under `strict_resume` their runs fail. */
import { describe, expect, it } from "vitest";
import { graphs } from "../clients/open.js";
import { graph as asking } from "../fixtures/graphs/asking.js";
import { startTestServer } from "../helpers/app.js";
import { onEveryBackend, openBackend } from "../helpers/backends.js";
import { command, isLast, openEvents } from "../helpers/thread-events.js";

const UNKNOWN_INTERRUPT = "0123456789abcdef0123456789abcdef";

type Server = Awaited<ReturnType<typeof startTestServer>>;

const open = (options: object = {}) => startTestServer({ graphs: { ...graphs, asking }, ...options });

/** Creates an interrupted thread with its event stream and the ids of its interrupts. */
async function askedThread(server: Server, assistant_id = "hitl") {
  const thread = crypto.randomUUID();
  const stream = await openEvents(server, thread);
  const input = assistant_id === "hitl" ? { topic: "tea" } : {};
  const { result } = await command(server, thread, "run.start", { assistant_id, input });
  const events = await stream.until(isLast(result.run_id));
  const requests = events.filter(({ method }) => method === "input.requested");
  return { thread, stream, ids: requests.map(({ params }) => String(params.data.interrupt_id)) };
}

const threadOf = async (server: Server, thread: string) =>
  (await server.request("GET", `/threads/${thread}`)).body as Record<string, unknown>;

const refusal = (interrupt_ids: string[], pending_ids: string[]) => ({
  event: "failed",
  error: expect.stringContaining("the thread has no pending interrupt") as string,
  reason: "unknown_interrupt",
  interrupt_ids,
  pending_ids,
});

describe("an answer to an interrupt that is not pending", () => {
  it("the run fails under strict_resume and the thread stays unchanged", async () => {
    const server = await open();
    const { thread, stream, ids } = await askedThread(server);
    const before = await threadOf(server, thread);
    const answer = { namespace: [], interrupt_id: UNKNOWN_INTERRUPT, response: "yes", strict_resume: true };
    const { result } = await command(server, thread, "input.respond", answer);
    const events = await stream.until(isLast(result.run_id));
    expect(events.at(-1)?.params.data).toMatchObject(refusal([UNKNOWN_INTERRUPT], ids));
    const { updated_at: _, ...after } = await threadOf(server, thread);
    expect(before).toMatchObject(after);
    const run = await server.request("GET", `/threads/${thread}/runs/${result.run_id}`);
    expect(run.body).toMatchObject({
      status: "error",
      error: expect.stringContaining(UNKNOWN_INTERRUPT) as string,
    });
    const right = await command(server, thread, "input.respond", { ...answer, interrupt_id: ids[0] });
    const all = await stream.until(isLast(right.result.run_id));
    expect(all.at(-1)?.params.data).toMatchObject({ event: "completed" });
  });

  it("the answer is rejected immediately without strict_resume or with an invalid id", async () => {
    const server = await open();
    const { thread, ids } = await askedThread(server);
    const answer = { namespace: [], interrupt_id: UNKNOWN_INTERRUPT, response: "yes" };
    const refused = await command(server, thread, "input.respond", answer);
    expect(refused).toMatchObject({ type: "error", error: "no_such_interrupt" });
    const odd = { ...answer, interrupt_id: "the first", strict_resume: true };
    expect(await command(server, thread, "input.respond", odd)).toMatchObject({ error: "no_such_interrupt" });
    const elsewhere = { ...answer, interrupt_id: ids[0], namespace: ["nowhere:1"], strict_resume: true };
    expect(await command(server, thread, "input.respond", elsewhere)).toMatchObject({
      error: "no_such_interrupt",
    });
  });

  it("the run routes return UnknownInterruptError", async () => {
    const server = await open();
    const { thread, ids } = await askedThread(server);
    const body = {
      assistant_id: "hitl",
      command: { resume: { [UNKNOWN_INTERRUPT]: "yes" } },
      strict_resume: true,
    };
    const { text } = await server.request("POST", `/threads/${thread}/runs/stream`, body);
    const frame = JSON.parse(/(?<=^event: error\ndata: ).*/m.exec(text)?.[0] ?? "{}") as object;
    expect(frame).toMatchObject({
      error: "UnknownInterruptError",
      ...{ reason: "unknown_interrupt", interrupt_ids: [UNKNOWN_INTERRUPT], pending_ids: ids },
    });
    const waited = await server.request("POST", `/threads/${thread}/runs/wait`, body);
    expect(waited.body).toMatchObject({ __error__: { error: "UnknownInterruptError" } });
    expect(await threadOf(server, thread)).toMatchObject({ status: "interrupted" });
    expect((await server.request("GET", "/info")).body).toMatchObject({ flags: { strict_resume: true } });
  });

  it("an answer without an id fails when no interrupt is pending", async () => {
    const server = await open();
    const thread = crypto.randomUUID();
    const run = { assistant_id: "chat", if_not_exists: "create", strict_resume: true };
    const asked = { ...run, command: { resume: "yes" } };
    const { body } = await server.request("POST", `/threads/${thread}/runs/wait`, asked);
    expect(body).toMatchObject({ __error__: { error: "UnknownInterruptError" } });
    expect(await threadOf(server, thread)).toMatchObject({ status: "idle", values: {} });
  });
});

onEveryBackend("answers to one of two interrupts", (backend) => {
  const openBackendServer = async () => open({ storage: await openBackend(backend()) });

  it("a second answer to the same interrupt is rejected when its run starts", async () => {
    const server = await openBackendServer();
    const { thread, stream, ids } = await askedThread(server, "asking");
    const [left = "", right = ""] = ids;
    const answer = { namespace: [], interrupt_id: left, response: "yes", strict_resume: true };
    const first = await command(server, thread, "input.respond", answer);
    const second = await command(server, thread, "input.respond", { ...answer, response: "no" });
    const events = await stream.until(isLast(second.result.run_id));
    const last = events.filter(isLast()).map(({ params }) => params.data);
    expect(last.slice(1)).toMatchObject([{ event: "interrupted" }, refusal([left], [right])]);
    const run = await server.request("GET", `/threads/${thread}/runs/${first.result.run_id}`);
    expect(run.body).toMatchObject({ status: "interrupted" });
  });

  it("an answered interrupt is no longer pending while its superstep is unfinished", async () => {
    const server = await openBackendServer();
    const { thread, stream, ids } = await askedThread(server, "asking");
    const [left = "", right = ""] = ids;
    const answer = { namespace: [], interrupt_id: left, response: "yes" };
    const first = await command(server, thread, "input.respond", answer);
    await stream.until(isLast(first.result.run_id));
    const again = await command(server, thread, "input.respond", answer);
    expect(again).toMatchObject({ type: "error", error: "no_such_interrupt" });
    expect(again.message).toContain(`pending: ${right}`);
    // Only one interrupt is left, so an answer without an id resolves it.
    const { result } = await command(server, thread, "run.start", { assistant_id: "asking", input: "no" });
    await stream.until(isLast(result.run_id));
    expect(await threadOf(server, thread)).toMatchObject({
      values: { answers: ['left: "yes"', 'right: "no"'] },
    });
  });
});
