/** A SQLite file locked by another process: writes wait in order without blocking the event loop. */
import { expect } from "vitest";
import { itSqlite as it } from "../helpers/with-sqlite.js";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer } from "../helpers/app.js";
import { Database } from "../helpers/sqlite-database.js";
import { tempFolder } from "./temp-folder.js";

const temp = tempFolder();
const input = { messages: [{ role: "user", content: "hi" }] };

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

it("other requests are served while writes wait, and the writes run in order after the unlock", async () => {
  const { request, thread, lock, unlock } = await open();
  lock();
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  const patch = (n: number) => request("PATCH", `/threads/${thread}`, { metadata: { n } });
  const first = patch(1);
  void first.then(note("first"));
  await request("GET", "/ok").then(note("ok"));
  await request("GET", `/threads/${thread}`).then(note("read"));
  const second = patch(2);
  const run = request("POST", "/runs/wait", { assistant_id: "chat", input });
  await request("GET", "/ok").then(note("ok again"));
  expect(done).toEqual(["ok", "read", "ok again"]);
  unlock();
  expect([(await first).status, (await second).status, (await run).status]).toEqual([200, 200, 200]);
  const { body } = await request("GET", `/threads/${thread}`);
  expect(body).toMatchObject({ metadata: { n: 2 } });
});
