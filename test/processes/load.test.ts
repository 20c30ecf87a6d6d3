/** Servers under load on shared threads: the graph's own log is compared with what the servers report. */
import { beforeAll, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import type { Run } from "../../src/models/run.js";
import { onSharedBackends, type ServerProcess } from "../helpers/server-processes.js";

const TIMEOUT = { timeout: 300_000 };
const THREADS = 2;
/** Clients per thread and server. */
const CLIENTS = 2;
const TURNS = 4;

interface Tally {
  thread_id: string;
  /** Input texts of the runs that a server reported as successful. */
  done: string[];
}

onSharedBackends("servers under load", (servers) => {
  let all: ServerProcess[];
  beforeAll(async () => {
    all = await servers.start(4);
  }, TIMEOUT.timeout);

  /** Runs one turn after another, alternating between the SDK's ways to run a graph. */
  async function work({ client }: ServerProcess, tally: Tally): Promise<void> {
    const { thread_id } = tally;
    for (let turn = 0; turn < TURNS; turn += 1) {
      const text = newId();
      const payload = { input: { messages: [{ role: "user", content: text }] } };
      if (turn % 4 === 0) await client.runs.wait(thread_id, "ledger", payload);
      else if (turn % 4 === 1) {
        const frames = client.runs.stream(thread_id, "ledger", { ...payload, streamMode: "updates" });
        let last = "";
        for await (const { event } of frames) last = event;
        expect(last).toBe("end");
      } else if (turn % 4 === 2) {
        expect((await client.runs.create(thread_id, "ledger", payload)).status).toBe("success");
      } else if (!(await reject(client, thread_id, payload))) continue;
      tally.done.push(text);
    }
  }

  /** Returns false if the thread was busy. */
  async function reject({ runs }: ServerProcess["client"], thread_id: string, payload: object) {
    try {
      await runs.wait(thread_id, "ledger", { ...payload, multitaskStrategy: "reject" });
      return true;
    } catch (error) {
      expect((error as { status?: number }).status).toBe(409);
      return false;
    }
  }

  async function enqueue(server: ServerProcess, tally: Tally): Promise<void> {
    for (let turn = 0; turn < 2; turn += 1) {
      const text = newId();
      const { run_id } = await server.begin(tally.thread_id, null, {
        messages: [{ role: "user", content: text }],
      });
      tally.done.push(text);
      await server.client.runs.join(tally.thread_id, run_id);
    }
  }

  async function expectWhole(server: ServerProcess, { thread_id, done }: Tally): Promise<void> {
    servers.expectTurns(thread_id);
    const ended = servers.ledger(thread_id).filter(({ what }) => what === "end");
    expect(ended).toHaveLength(done.length);
    const { status, values } = await server.client.threads.get<{
      count: number;
      messages: { type: string; content: string }[];
    }>(thread_id);
    expect(status).toBe("idle");
    expect(values.count).toBe(done.length);
    expect(values.messages).toHaveLength(3 * done.length);
    const asked = values.messages.filter(({ type }) => type === "human").map(({ content }) => content);
    expect(asked.sort()).toEqual([...done].sort());
    const runs = (await server.client.runs.list(thread_id, { limit: 1000 })) as unknown as Run[];
    expect(runs.map(({ run_id }) => run_id).sort()).toEqual(ended.map(({ run }) => run).sort());
    expect(runs.filter(({ status: ending }) => ending !== "success")).toEqual([]);
  }

  it.each([2, 4])("%i servers take turns on shared threads", TIMEOUT, async (count) => {
    const used = all.slice(0, count);
    const tallies: Tally[] = [];
    for (let index = 0; index < THREADS; index += 1) {
      const { thread_id } = await used[0]!.client.threads.create();
      tallies.push({ thread_id, done: [] });
    }
    await Promise.all(
      tallies.flatMap((tally) =>
        used.flatMap((server) => [
          ...Array.from({ length: CLIENTS }, () => work(server, tally)),
          enqueue(server, tally),
        ]),
      ),
    );
    for (const tally of tallies) {
      for (const server of [used[0]!, used.at(-1)!]) await expectWhole(server, tally);
      expect(new Set(servers.ledger(tally.thread_id).map(({ pid }) => pid)).size).toBe(count);
    }
  });

  it("a run on a thread that is busy on another server is rejected or enqueued", TIMEOUT, async () => {
    const [one, two] = all as [ServerProcess, ServerProcess];
    const [thread_id, gate] = [newId(), newId()];
    await servers.begun(await one.begin(thread_id, gate));
    expect(await reject(two.client, thread_id, { input: null })).toBe(false);
    const waiting = await two.begin(thread_id, null);
    expect((await two.run(waiting)).status).toBe("pending");
    one.open(gate);
    await two.client.runs.join(thread_id, waiting.run_id);
    servers.expectTurns(thread_id);
    expect(await one.client.threads.get(thread_id)).toMatchObject({ values: { count: 2 } });
  });
});
