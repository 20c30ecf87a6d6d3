/** Two edits of one thread, the first of which lost its lock: an acknowledged edit is in the state. */
import pg from "pg";
import { expect, it } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import { graphs } from "../clients/open.js";
import { serve } from "../helpers/app.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { openTestService } from "../helpers/service.js";

const ROUNDS = 100;
/** Twice in each round, an edit waits for a lock within milliseconds. */
const OFTEN = { interval: 5 };

withOwnSchema("edits on postgres", (postgres) => {
  it(`an acknowledged edit is never lost in ${ROUNDS} races`, { timeout: 300_000 }, async () => {
    const open = async () =>
      serve(await openTestService({ graphs, storage: await openStorage(postgres.options()) }));
    const [one, two] = [await open(), await open()];
    const blocker = new pg.Client(postgres.uri);
    const watcher = new pg.Client(postgres.uri);
    await Promise.all([blocker.connect(), watcher.connect()]);
    const table = `${postgres.schema}.checkpoints`;
    // Other tests use the same server.
    const text = "SELECT pid FROM pg_locks WHERE NOT granted AND relation = $1::regclass";
    const waiting = async () => (await watcher.query(text, [table])).rowCount;
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const { body } = await one.request("POST", "/threads", {});
        const { thread_id } = body as { thread_id: string };
        const edit = (server: typeof one, content: string) =>
          server.request("POST", `/threads/${thread_id}/state`, {
            values: { messages: [{ role: "user", content }] },
          });
        expect((await edit(one, "first")).status).toBe(200);
        await blocker.query("BEGIN");
        await blocker.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
        const lost = edit(one, "lost its lock");
        await expect.poll(waiting, OFTEN).toBe(1);
        await postgres.terminate("locks");
        const other = edit(two, "has the lock");
        await expect.poll(waiting, OFTEN).toBe(2);
        await blocker.query("COMMIT");
        const answers = { "lost its lock": await lost, "has the lock": await other };
        const state = await two.request("GET", `/threads/${thread_id}/state`);
        const kept = JSON.stringify(state.body);
        for (const [content, { status }] of Object.entries(answers)) {
          if (status === 200) expect(kept).toContain(content);
          else expect([409, 503]).toContain(status);
        }
        expect(Object.values(answers).some(({ status }) => status === 200)).toBe(true);
      }
    } finally {
      await Promise.all([blocker.end(), watcher.end()]);
    }
  });
});
