/** Queued runs whose claim fails in the database at first. */
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { openService } from "../../src/service/open.js";
import { newId } from "../../src/support/ids.js";
import { silentLogger } from "../../src/support/log.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { withPostgres } from "../helpers/postgres.js";

/** Statements that store node writes, and that claim a run without an owner. */
const STORES = /^WITH held AS [^]*checkpoint_writes/;
const TAKES = /^WITH run AS [^]* FROM run WHERE t.thread_id = \$2 RETURNING 1$/;

withPostgres("a requeued run that cannot be claimed", (postgres) => {
  async function open() {
    const { max_queued_runs: _, ...storage } = postgres.options();
    const service = await openService({
      graphs: { gate },
      settings: { ...storage, queue: "postgres" },
      logger: silentLogger,
    });
    onTestFinished(() => service.close(0));
    const { thread_id } = await service.threads.create({});
    const start = (name: string) =>
      service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
    return { service, thread_id, start };
  }

  it("is claimed later and keeps its process", async () => {
    const { service, thread_id, start } = await open();
    const name = newId();
    const { run_id } = await start(name);
    await gateOf(name).entered;
    const left = cutOff([STORES, TAKES]);
    gateOf(name).open();
    await expect
      .poll(() => service.runs.get(thread_id, run_id), { timeout: 20_000 })
      .toMatchObject({ status: "success", error: null, attempt: 2 });
    expect(left).toEqual([]);
  });

  it("is executed even if the failed claim is applied late", async () => {
    const { service, thread_id, start } = await open();
    const [first, second] = [newId(), newId()];
    await start(first);
    await gateOf(first).entered;
    const { run_id } = await start(second);
    const isLate = delayOnce(TAKES);
    for (const name of [first, second]) gateOf(name).open();
    await expect
      .poll(() => service.runs.get(thread_id, run_id), { timeout: 30_000 })
      .toMatchObject({ status: "success", error: null });
    expect(isLate()).toBe(true);
  }, 60_000);
});

type Query = (config: { text?: string }, values: unknown, answer: (error: Error) => void) => void;
const client = pg.Client.prototype as unknown as { query: Query };

/**
 * The first matching statement reports a failure but is executed before the next one. Returns whether it was
 * executed.
 */
function delayOnce(statement: RegExp): () => boolean {
  const { query } = client;
  let kept: Parameters<Query> | undefined;
  let isDone = false;
  client.query = function (this: unknown, ...args) {
    const [{ text = "" }, , answer] = args;
    if (isDone || !statement.test(text)) return query.apply(this, args);
    if (!kept) {
      kept = args;
      answer(new Error("Connection terminated unexpectedly"));
      return;
    }
    isDone = true;
    query.call(this, kept[0], kept[1], () => undefined);
    query.apply(this, args);
  };
  onTestFinished(() => void (client.query = query));
  return () => isDone;
}

/**
 * Fails the next statement that matches the first pattern, then the next pattern, as if the connection had
 * closed.
 */
function cutOff(statements: RegExp[]): readonly RegExp[] {
  const { query } = client;
  client.query = function (this: unknown, ...args) {
    const [{ text = "" }, , answer] = args;
    if (!statements[0]?.test(text)) return query.apply(this, args);
    statements.shift();
    answer(new Error("Connection terminated unexpectedly"));
  };
  onTestFinished(() => void (client.query = query));
  return statements;
}
