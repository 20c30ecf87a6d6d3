/** The order of queued runs from several users. */
import { expect, it, onTestFinished } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { startTestServer } from "../helpers/app.js";
import { withPostgres } from "../helpers/postgres.js";
import { byHeader } from "../helpers/two-users.js";

withPostgres("users in the queue", (postgres) => {
  async function open(max_concurrent_runs: number, more: Partial<Settings> = {}) {
    const { max_queued_runs: _, ...storage } = postgres.options();
    const settings = { ...storage, queue: "postgres" as const, max_concurrent_runs, ...more };
    const server = await startTestServer({ graphs: { gate }, authenticate: byHeader, settings });
    onTestFinished(() => server.close());
    const names = new Map<string, string>();
    const order: string[] = [];
    /** Starts a run on a new thread that ends when its gate opens. The name starts with the user's name. */
    const start = async (name: string, thread = newId()) => {
      const key = newId();
      names.set(name, key);
      gateOf(key).onEntered(() => order.push(name));
      expect((await ask(name, key, thread)).status).toBe(200);
    };
    const ask = (name: string, key = newId(), thread = newId()) => {
      const body = { assistant_id: "gate", input: { gate: key }, if_not_exists: "create" };
      const headers = { user: name.split(" ")[0] ?? "", prefer: "respond-async" };
      return server.request("POST", `/threads/${thread}/runs`, body, headers);
    };
    const pass = (name: string) => gateOf(names.get(name) ?? "").open();
    return { start, ask, pass, order };
  }

  it("only a user who exceeds max_waiting_runs_per_user is rejected", async () => {
    const { start, pass, order, ask } = await open(1, { max_waiting_runs_per_user: 2, max_waiting_runs: 5 });
    await start("ann 1");
    await expect.poll(() => order).toEqual(["ann 1"]);
    for (const name of ["ann 2", "ann 3", "bea 1"]) await start(name);
    const refused = await ask("ann");
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_runs" } });
    expect(refused.text).toContain("2 of your runs already wait for a process");
    expect(refused.headers.get("retry-after")).toBe("1");
    for (const name of ["bea 2", "dora 1"]) await start(name);
    expect((await ask("cleo")).text).toContain("5 runs already wait for a process");
    for (const name of ["ann 1", "ann 2", "ann 3", "bea 1", "bea 2", "dora 1"]) pass(name);
    await expect.poll(() => order, { timeout: 20_000 }).toHaveLength(6);
    await start("ann 4");
    pass("ann 4");
    await expect.poll(() => order, { timeout: 20_000 }).toHaveLength(7);
  });

  it("users take turns when there is one slot", async () => {
    const { start, pass, order } = await open(1);
    const waiting = ["ann 2", "ann 3", "ann 4", "ann 5", "bea 1", "bea 2", "cleo 1"];
    await start("ann 1");
    await expect.poll(() => order).toEqual(["ann 1"]);
    for (const name of waiting) await start(name);
    for (const name of ["ann 1", ...waiting]) pass(name);
    await expect.poll(() => order.length, { timeout: 20_000 }).toBe(8);
    expect(order).toEqual(["ann 1", "ann 2", "bea 1", "cleo 1", "ann 3", "bea 2", "ann 4", "ann 5"]);
  });

  it("the user with fewer active runs comes first", async () => {
    const { start, pass, order } = await open(2);
    for (const name of ["ann 1", "ann 2"]) await start(name);
    await expect.poll(() => order).toHaveLength(2);
    const waiting = ["ann 3", "ann 4", "bea 1", "bea 2"];
    for (const name of waiting) await start(name);
    for (const name of ["ann 2", ...waiting]) pass(name);
    await expect.poll(() => order.length, { timeout: 20_000 }).toBe(6);
    expect(order.slice(2)).toEqual(["bea 1", "bea 2", "ann 3", "ann 4"]);
    pass("ann 1");
  });

  it("runs blocked by their own thread do not keep other runs from a free slot", async () => {
    const { start, pass, order } = await open(52);
    const users = Array.from({ length: 51 }, (_, place) => `user${place}`);
    // Zoe was served last, so all other users come before her.
    const thread = newId();
    await start("zoe 1", thread);
    await start("zoe 2", thread);
    pass("zoe 1");
    await expect.poll(() => order).toEqual(["zoe 1", "zoe 2"]);
    for (const user of users) {
      const own = newId();
      for (const run of [1, 2]) await start(`${user} ${run}`, own);
    }
    await expect.poll(() => order, { timeout: 20_000 }).toHaveLength(53);
    await start("zoe 3");
    pass("zoe 2");
    await expect.poll(() => order.slice(53), { timeout: 20_000 }).toEqual(["zoe 3"]);
    for (const name of ["zoe 3", ...users.flatMap((user) => [`${user} 1`, `${user} 2`])]) pass(name);
    await expect.poll(() => order, { timeout: 30_000 }).toHaveLength(105);
  }, 60_000);
});
