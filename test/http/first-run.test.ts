/** The state of a thread is visible as soon as it has checkpoints, on every backend. */
import { expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { startTestServer } from "../helpers/app.js";
import { type Backend, keptStorage, onEveryBackend, withoutRows } from "../helpers/backends.js";
import { newId } from "../../src/support/ids.js";

/** A thread whose first run waits at a gate, after its first node. */
async function firstRun(backend: Backend) {
  const storage = await keptStorage(backend);
  const server = await startTestServer({ graphs: { gate }, storage });
  const ask = async (method: string, path: string, body?: unknown) =>
    (await server.request(method, path, body)).body as Record<string, unknown>;
  const { thread_id } = (await ask("POST", "/threads", {})) as { thread_id: string };
  const path = `/threads/${thread_id}`;
  const input = { gate: newId() };
  const run = ask("POST", `${path}/runs`, { assistant_id: "gate", input, durability: "sync" });
  await gateOf(input.gate).entered;
  const finish = () => {
    gateOf(input.gate).open();
    return run;
  };
  return { storage, ask, thread_id, path, finish, values: { log: [`before ${input.gate}`] } };
}

onEveryBackend("the first run of a thread", (backend) => {
  it("shows its latest values while it runs", async () => {
    const { ask, thread_id, path, values, finish } = await firstRun(backend());
    expect(await ask("GET", path)).toMatchObject({ status: "busy", values });
    expect(await ask("POST", "/threads/search", { ids: [thread_id], values })).toMatchObject([{ values }]);
    expect(await finish()).toMatchObject({ status: "success" });
  });

  it("is copied with its values, on which the copy continues", async () => {
    const { ask, path, values, finish } = await firstRun(backend());
    const copy = await ask("POST", `${path}/copy`);
    expect(copy).toMatchObject({ status: "interrupted", values });
    expect(await ask("GET", `/threads/${String(copy.thread_id)}`)).toEqual(copy);
    await finish();
  });
});

onEveryBackend("checkpoints without a thread", (backend) => {
  it("are the state of a new thread with their id", async () => {
    const { storage, ask, thread_id, path, finish } = await firstRun(backend());
    await finish();
    const { values } = await ask("GET", path);
    const restarted = await startTestServer({ graphs: { gate }, storage: await withoutRows(storage) });
    const answers = [
      await restarted.request("POST", "/threads", { thread_id }),
      await restarted.request("GET", path),
    ];
    for (const { body } of answers) expect(body).toMatchObject({ status: "idle", values });
  });
});
