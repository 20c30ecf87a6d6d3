/** A SQLite file that another process keeps locked for longer than writes wait. */
import { expect } from "vitest";
import { itSqlite as it } from "../helpers/with-sqlite.js";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer } from "../helpers/app.js";
import { Database } from "../helpers/sqlite-database.js";
import { tempFolder } from "./temp-folder.js";

const temp = tempFolder();

async function open() {
  const file = temp(`${newId()}.db`);
  const settings = { checkpointer_scheme: "sqlite", checkpointer_uri: file };
  const server = await startTestServer({ graphs: { chat }, settings });
  const { body } = await server.request("POST", "/threads", {});
  const other = new Database(file);
  const lock = () => other.exec("BEGIN IMMEDIATE");
  const unlock = () => other.exec("COMMIT");
  return { ...server, thread: (body as { thread_id: string }).thread_id, lock, unlock };
}

it(
  "each write fails after 10 s, and writes succeed again once the lock is released",
  { timeout: 60_000 },
  async () => {
    const { request, thread, lock, unlock } = await open();
    lock();
    const start = performance.now();
    const refused = request("PATCH", `/threads/${thread}`, { metadata: { n: 1 } });
    const ok = request("GET", "/ok");
    expect(await Promise.race([ok, refused])).toBe(await ok);
    expect((await ok).status).toBe(200);
    expect(await refused).toMatchObject({ status: 503, body: { code: "storage_unavailable" } });
    expect(performance.now() - start).toBeGreaterThan(9_900);
    const waiting = request("PATCH", `/threads/${thread}`, { metadata: { n: 2 } });
    expect((await request("GET", "/ok")).status).toBe(200);
    unlock();
    expect((await waiting).status).toBe(200);
  },
);
