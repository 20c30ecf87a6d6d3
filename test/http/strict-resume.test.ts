/** Answers that nobody waits for: refused by their runs where the client asks for that (`strict_resume`). */
import { describe, expect, it } from "vitest";
import { graphs } from "../clients/open.js";
import { graph as asking } from "../fixtures/graphs/asking.js";
import { startTestServer } from "../helpers/app.js";
import { onEveryBackend, openBackend } from "../helpers/backends.js";
import { command, isLast, openEvents } from "../helpers/thread-events.js";

const NOBODYS = "0123456789abcdef0123456789abcdef";

type Server = Awaited<ReturnType<typeof startTestServer>>;

const open = (options: object = {}) => startTestServer({ graphs: { ...graphs, asking }, ...options });

/** A thread of which a graph asks something, with its stream and the ids of what it asks. */
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
  error: expect.stringContaining("the thread does not ask") as string,
  reason: "unknown_interrupt",
  interrupt_ids,
  pending_ids,
});

describe("an answer to what is not asked", () => {
  it("fails its run under strict_resume, and leaves the thread as it was", async () => {
    const server = await open();
    const { thread, stream, ids } = await askedThread(server);
    const before = await threadOf(server, thread);
    const answer = { namespace: [], interrupt_id: NOBODYS, response: "yes", strict_resume: true };
    const { result } = await command(server, thread, "input.respond", answer);
    const events = await stream.until(isLast(result.run_id));
    expect(events.at(-1)?.params.data).toMatchObject(refusal([NOBODYS], ids));
    const { updated_at: _, ...after } = await threadOf(server, thread);
    expect(before).toMatchObject(after);
    const run = await server.request("GET", `/threads/${thread}/runs/${result.run_id}`);
    expect(run.body).toMatchObject({ status: "error", error: expect.stringContaining(NOBODYS) as string });
    const right = await command(server, thread, "input.respond", { ...answer, interrupt_id: ids[0] });
    const all = await stream.until(isLast(right.result.run_id));
    expect(all.at(-1)?.params.data).toMatchObject({ event: "completed" });
  });

  it("is refused at once without it, and so is what can be nobody's id", async () => {
    const server = await open();
    const { thread, ids } = await askedThread(server);
    const answer = { namespace: [], interrupt_id: NOBODYS, response: "yes" };
    const refused = await command(server, thread, "input.respond", answer);
    expect(refused).toMatchObject({ type: "error", error: "no_such_interrupt" });
    const odd = { ...answer, interrupt_id: "the first", strict_resume: true };
    expect(await command(server, thread, "input.respond", odd)).toMatchObject({ error: "no_such_interrupt" });
    const elsewhere = { ...answer, interrupt_id: ids[0], namespace: ["nowhere:1"], strict_resume: true };
    expect(await command(server, thread, "input.respond", elsewhere)).toMatchObject({
      error: "no_such_interrupt",
    });
  });

  it("is told as what it is on the run routes", async () => {
    const server = await open();
    const { thread, ids } = await askedThread(server);
    const body = { assistant_id: "hitl", command: { resume: { [NOBODYS]: "yes" } }, strict_resume: true };
    const { text } = await server.request("POST", `/threads/${thread}/runs/stream`, body);
    const frame = JSON.parse(/(?<=^event: error\ndata: ).*/m.exec(text)?.[0] ?? "{}") as object;
    expect(frame).toMatchObject({
      error: "UnknownInterruptError",
      ...{ reason: "unknown_interrupt", interrupt_ids: [NOBODYS], pending_ids: ids },
    });
    const waited = await server.request("POST", `/threads/${thread}/runs/wait`, body);
    expect(waited.body).toMatchObject({ __error__: { error: "UnknownInterruptError" } });
    expect(await threadOf(server, thread)).toMatchObject({ status: "interrupted" });
    expect((await server.request("GET", "/info")).body).toMatchObject({ flags: { strict_resume: true } });
  });

  it("without an id is refused where nothing at all is asked", async () => {
    const server = await open();
    const thread = crypto.randomUUID();
    const run = { assistant_id: "chat", if_not_exists: "create", strict_resume: true };
    const asked = { ...run, command: { resume: "yes" } };
    const { body } = await server.request("POST", `/threads/${thread}/runs/wait`, asked);
    expect(body).toMatchObject({ __error__: { error: "UnknownInterruptError" } });
    expect(await threadOf(server, thread)).toMatchObject({ status: "idle", values: {} });
  });
});

onEveryBackend("answers to one question of two", (backend) => {
  const openBackendServer = async () => open({ storage: await openBackend(backend()) });

  it("the second is refused when its turn comes", async () => {
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

  it("what was answered is asked no more, though its superstep goes on", async () => {
    const server = await openBackendServer();
    const { thread, stream, ids } = await askedThread(server, "asking");
    const [left = "", right = ""] = ids;
    const answer = { namespace: [], interrupt_id: left, response: "yes" };
    const first = await command(server, thread, "input.respond", answer);
    await stream.until(isLast(first.result.run_id));
    const again = await command(server, thread, "input.respond", answer);
    expect(again).toMatchObject({ type: "error", error: "no_such_interrupt" });
    expect(again.message).toContain(`it asks ${right}`);
    // One question is left: what is said without an id is the answer.
    const { result } = await command(server, thread, "run.start", { assistant_id: "asking", input: "no" });
    await stream.until(isLast(result.run_id));
    expect(await threadOf(server, thread)).toMatchObject({
      values: { answers: ['left: "yes"', 'right: "no"'] },
    });
  });
});
