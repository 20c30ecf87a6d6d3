/** Two processes with one SQLite file, which share no locks: requests with the same idempotency key create one run. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { itSqlite as it } from "../helpers/with-sqlite.js";
import type { Run } from "../../src/models/run.js";
import type { Thread } from "../../src/models/thread.js";
import { newId } from "../../src/support/ids.js";
import { forkProgram } from "../helpers/compiled.js";

const ROUNDS = 18;

let folder: string;
let servers: { child: ChildProcess; url: string }[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "graph-serve-keys-"));
  for (let count = 0; count < 2; count++) {
    const child = await forkProgram("serve-sqlite", [join(folder, "db.sqlite")]);
    const [url] = (await once(child, "message")) as [string];
    servers.push({ child, url });
  }
}, 60_000);
afterAll(async () => {
  for (const { child } of servers) child.kill("SIGKILL");
  servers = [];
  await rm(folder, { recursive: true, force: true });
});

async function post<T>(server: number, path: string, body: object, key?: string) {
  const headers = { "content-type": "application/json", ...(key && { "idempotency-key": key }) };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${servers[server]?.url}${path}`, init);
  return { status: response.status, body: (await response.json()) as T };
}

it("both processes answer with the run of the key", { timeout: 60_000 }, async () => {
  const request = { assistant_id: "chat", input: { messages: [{ type: "human", content: "hello" }] } };
  const paths = ["/threads/{id}/runs", "/runs", "/threads/{id}/runs/wait"];
  for (let round = 0; round < ROUNDS; round++) {
    const { body: thread } = await post<Thread>(0, "/threads", {});
    const path = (paths[round % paths.length] ?? "").replace("{id}", thread.thread_id);
    const key = newId();
    const both = await Promise.all([0, 1].map((server) => post<Run>(server, path, request, key)));
    expect(both.map(({ status, body }) => (status === 200 ? status : body))).toEqual([200, 200]);
    if (!path.endsWith("wait")) expect(both[1]?.body.run_id).toBe(both[0]?.body.run_id);
    if (!path.startsWith("/threads")) continue;
    const runs = await (await fetch(`${servers[0]?.url}/threads/${thread.thread_id}/runs`)).json();
    expect(runs).toHaveLength(1);
  }
});
