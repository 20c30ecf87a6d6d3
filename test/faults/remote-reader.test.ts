/**
 * A reader follows a run of another process while the database is unavailable: the run and the stream both
 * continue.
 */
import { expect, it, onTestFinished } from "vitest";
import { newId } from "../../src/support/ids.js";
import { silentLogger } from "../../src/support/log.js";
import { openService } from "../../src/service/open.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { serve, type TestServer } from "../helpers/app.js";
import { type TestPostgres, withPostgres } from "../helpers/postgres.js";
import { readEvents } from "../helpers/sse.js";
import { TcpRelay } from "../helpers/tcp-relay.js";

/** Starts a server on the test's schema that reaches the database through its own relay. */
async function serveThrough(postgres: TestPostgres): Promise<TestServer & { relay: TcpRelay }> {
  const { relay, uri } = await TcpRelay.before(postgres.named("pool"), 5432);
  onTestFinished(() => relay.close());
  const { checkpointer_options } = postgres.options();
  const settings = {
    checkpointer_scheme: "postgres",
    checkpointer_uri: uri,
    checkpointer_options: { ...checkpointer_options, lock_uri: uri },
  };
  const service = await openService({ graphs: { gate }, settings, logger: silentLogger });
  onTestFinished(() => service.close(0));
  return { ...(await serve(service)), relay };
}

/** Starts two servers, one of them with a run that waits at a gate. */
async function runAtGate(postgres: TestPostgres) {
  const [runs, reads] = [await serveThrough(postgres), await serveThrough(postgres)];
  const { thread_id } = await runs.service.threads.create({});
  const name = newId();
  const input = { assistant_id: "gate", input: { gate: name } };
  const { run_id } = await runs.service.runs.background(thread_id, input);
  await gateOf(name).entered;
  return { reads, path: `/threads/${thread_id}/runs/${run_id}`, open: () => gateOf(name).open() };
}

/** Keeps the database unreachable until the server has tried to reconnect and failed. */
async function outage(relay: TcpRelay): Promise<void> {
  const turnedAway = relay.down();
  await expect.poll(turnedAway, { timeout: 30_000 }).toBeGreaterThan(2);
}

withPostgres("a run of another process", (postgres) => {
  it("is streamed across a database outage", { timeout: 60_000 }, async () => {
    const { reads, path, open } = await runAtGate(postgres);
    const events = readEvents(await reads.fetch("GET", `${path}/stream`));
    expect(await events.next()).toMatchObject({ value: { event: "metadata" } });
    await outage(reads.relay);
    open();
    reads.relay.up();
    const rest: (string | undefined)[] = [];
    for await (const { event } of events) rest.push(event);
    expect(rest).toEqual(["values", "end"]);
  });

  it("is joined across a database outage", { timeout: 60_000 }, async () => {
    const { reads, path, open } = await runAtGate(postgres);
    const joined = reads.fetch("GET", `${path}/join`);
    const response = await joined;
    await outage(reads.relay);
    open();
    reads.relay.up();
    expect(await response.json()).toMatchObject({ log: expect.anything() as unknown });
  });
});
