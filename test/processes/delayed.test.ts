/** A process is killed after a delayed run is due and before the run is enqueued. */
import { describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { type TestPostgres, withPostgres } from "../helpers/postgres.js";
import { onServers, PATIENCE, type ServerProcesses, settingsOf } from "../helpers/server-processes.js";

const TIMEOUT = { timeout: 120_000 };

withPostgres("a process killed while enqueueing a delayed run", (postgres) => {
  for (const role of ["all", "api"] as const)
    describe(`with role ${role}`, () =>
      onServers(
        () => ({
          ...settingsOf(postgres.options()),
          queue: "postgres" as const,
          stream: "postgres" as const,
          delayed_runs: true,
        }),
        (servers) => killed(servers, postgres, role),
      ));
});

function killed(servers: ServerProcesses, postgres: TestPostgres, role: "all" | "api"): void {
  const table = (name: string) => `"${postgres.schema}".${name}`;

  const timer = `${table("gs_timers")} WHERE kind = 'run' AND id = $1`;
  const timerOf = (runId: string) => postgres.sql(`SELECT due_at FROM ${timer}`, [runId]);
  const makeDue = (runId: string) =>
    postgres.sql(`UPDATE ${timer.replace("WHERE", "SET due_at = $2 WHERE")}`, [
      runId,
      new Date().toISOString(),
    ]);

  /** Database backends that are enqueueing the run and wait for the row lock of its thread. */
  const accepting = async () =>
    (
      await postgres.sql<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE application_name = $1 AND wait_event_type = 'Lock' AND query LIKE '%gs_unfinished%'`,
        [`${postgres.schema} pool`],
      )
    ).map(({ pid }) => pid);

  /** Creates a delayed run whose process is killed while the database is about to enqueue it. */
  async function cutOff(isPlaced: boolean) {
    await servers.killOthers();
    const dying = await servers.one({ role });
    const thread_id = newId();
    const { run_id } = await dying.client.runs.create(thread_id, "ledger", {
      input: { messages: [{ role: "user", content: "once" }], gate: null },
      afterSeconds: 3600,
      ifNotExists: "create",
    });
    const holder = await postgres.pool.connect();
    try {
      await holder.query("BEGIN");
      await holder.query(`SELECT FROM ${table("gs_threads")} WHERE thread_id = $1 FOR UPDATE`, [thread_id]);
      await makeDue(run_id);
      await expect.poll(accepting, PATIENCE).toHaveLength(1);
      const [backend] = await accepting();
      await dying.kill();
      if (!isPlaced) {
        await holder.query("SELECT pg_terminate_backend($1)", [backend]);
        await expect.poll(accepting, PATIENCE).toEqual([]);
      }
      return { thread_id, run_id };
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
  }

  // The database does not notice a lost client while a statement waits for a lock, so the statement is still
  // executed.
  it.each([
    ["was not enqueued", false],
    ["was enqueued", true],
  ])("a run that %s is executed once by another process", TIMEOUT, async (_, isPlaced) => {
    const run = await cutOff(isPlaced);
    await expect.poll(accepting, PATIENCE).toEqual([]);
    const isWaiting = async () => {
      const text = `SELECT FROM ${table("gs_runs")} WHERE run_id = $1 AND state = 'delayed'`;
      return (await postgres.sql(text, [run.run_id])).length > 0;
    };
    await expect.poll(isWaiting, PATIENCE).toBe(!isPlaced);
    expect(await timerOf(run.run_id)).toHaveLength(1);
    // Expires the lease of the killed process.
    await makeDue(run.run_id);
    const other = await servers.one();
    await expect.poll(async () => (await other.run(run)).status, PATIENCE).toBe("success");
    await expect.poll(() => timerOf(run.run_id), PATIENCE).toEqual([]);
    const { values, status } = await other.client.threads.get<{
      count: number;
      messages: { content: string }[];
    }>(run.thread_id);
    expect(status).toBe("idle");
    expect(values.count).toBe(1);
    expect(values.messages.map(({ content }) => content)).toEqual(["once", "begun", "ended"]);
    expect(servers.ledger(run.thread_id).map(({ what }) => what)).toEqual(["begin", "end"]);
    expect(await other.client.runs.list(run.thread_id)).toHaveLength(1);
  });
}
