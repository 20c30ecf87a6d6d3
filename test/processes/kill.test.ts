/** A server is killed under load while other servers on its database keep running. */
import { beforeAll, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import type { Run } from "../../src/models/run.js";
import { onSharedBackends, PATIENCE, type ServerProcess } from "../helpers/server-processes.js";

const TIMEOUT = { timeout: 300_000 };
const THREADS = 3;
const ACKNOWLEDGED_BEFORE_KILL = 12;

/** Runs whose success was acknowledged to a client, by their input text. */
type Acknowledged = Map<string, Pick<Run, "thread_id" | "run_id">>;

onSharedBackends("a killed server", (servers) => {
  let one: ServerProcess;
  let two: ServerProcess;
  let dying: ServerProcess;
  beforeAll(async () => {
    [one, two, dying] = (await servers.start(3)) as [ServerProcess, ServerProcess, ServerProcess];
  }, TIMEOUT.timeout);

  /** Creates one run after another until `isOver` returns true or the server is gone. */
  async function work(
    server: ServerProcess,
    thread_id: string,
    acknowledged: Acknowledged,
    isOver: () => boolean,
  ): Promise<void> {
    while (!isOver()) {
      const text = newId();
      const run = await server
        .request("POST", `/threads/${thread_id}/runs`, {
          assistant_id: "ledger",
          input: { messages: [{ role: "user", content: text }], gate: null },
        })
        .catch((error: unknown) => {
          if (server !== dying) throw error;
        });
      if (!run) return;
      expect(run.body).toMatchObject({ status: "success" });
      acknowledged.set(text, run.body as Run);
    }
  }

  async function expectKept(server: ServerProcess, thread_id: string, texts: string[]): Promise<void> {
    const { status, values } = await server.client.threads.get<{
      count: number;
      messages: { content: string }[];
    }>(thread_id);
    expect(status).toBe("idle");
    const contents = values.messages.map(({ content }) => content);
    expect(texts.filter((text) => !contents.includes(text))).toEqual([]);
    expect(new Set(contents.filter((text) => texts.includes(text))).size).toBe(texts.length);
    expect(values.count).toBeGreaterThanOrEqual(texts.length);
    const runs = (await server.client.runs.list(thread_id, { limit: 1000 })) as unknown as Run[];
    expect(runs.filter((run) => run.status === "pending" || run.status === "running")).toEqual([]);
  }

  it("frees its threads and loses no acknowledged run", TIMEOUT, async () => {
    const threads = await Promise.all(
      Array.from({ length: THREADS }, async () => (await one.client.threads.create()).thread_id),
    );
    const held = newId();
    const acknowledged: Acknowledged = new Map();
    const gate = newId();
    const hanging = await dying.begin(held, gate);
    await servers.begun(hanging);
    const behind = [await dying.begin(held, null), await one.begin(held, null)] as const;
    let isOver = false;
    const load = threads.flatMap((thread_id) =>
      [one, two, dying].map((server) => work(server, thread_id, acknowledged, () => isOver)),
    );
    await expect.poll(() => acknowledged.size, PATIENCE).toBeGreaterThan(ACKNOWLEDGED_BEFORE_KILL);
    await dying.kill();
    // The thread is free immediately or when the lease expires. Other servers resume the dead server's runs,
    // which end first.
    for (const server of [one, two]) server.open(gate);
    await one.client.runs.join(held, behind[1].run_id);
    const settled = async () => [(await two.run(hanging)).status, (await two.run(behind[0])).status];
    await expect.poll(settled, PATIENCE).toEqual(["success", "success"]);
    expect(await one.run(behind[1])).toMatchObject({ status: "success", attempt: 1 });
    expect(await one.run(hanging)).toMatchObject({ attempt: 2 });
    // The accepted runs of the killed server keep their place.
    const order = [hanging, ...behind].map(({ run_id }) => run_id);
    expect([...new Set(servers.ledger(held).map(({ run }) => run))]).toEqual(order);
    isOver = true;
    await Promise.all(load);
    const unfinished = async () => {
      const lists = threads.flatMap((id) =>
        (["pending", "running"] as const).map((status) => one.client.runs.list(id, { status })),
      );
      return (await Promise.all(lists)).flat().length;
    };
    await expect.poll(unfinished, PATIENCE).toBe(0);
    for (const thread_id of [...threads, held]) {
      servers.expectTurns(thread_id, [dying]);
      const texts = [...acknowledged].filter(([, run]) => run.thread_id === thread_id).map(([text]) => text);
      await expectKept(two, thread_id, texts);
      for (const [, run] of acknowledged) expect((await two.run(run)).status).toBe("success");
    }
  });
});
