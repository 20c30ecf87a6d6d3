/** Servers whose clocks differ or are set back: an acknowledged turn is in the state, any other turn was refused. */
import { beforeAll, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { withRedis } from "../helpers/redis.js";
import {
  onServers,
  onSharedBackends,
  onSqliteServers,
  settingsOf,
  type ServerProcess,
  type ServerProcesses,
} from "../helpers/server-processes.js";

const TIMEOUT = { timeout: 300_000 };

/** Runs one turn. Returns true if it was acknowledged, false if it was refused because of the clock. */
async function turn(server: ServerProcess, thread: string, content: string): Promise<boolean> {
  const { status, body, headers } = await server.request("POST", `/threads/${thread}/runs`, {
    assistant_id: "ledger",
    input: { messages: [{ role: "user", content }] },
    if_not_exists: "create",
  });
  if (status === 503) {
    expect(body).toMatchObject({ code: "clock_behind" });
    expect(headers.get("retry-after")).not.toBeNull();
    return false;
  }
  expect({ status, run: (body as { status: string }).status }).toEqual({ status: 200, run: "success" });
  return true;
}

/** User messages in the state of the thread. */
async function contentsOf(server: ServerProcess, thread: string): Promise<string[]> {
  const { values } = await server.client.threads.get<{ messages: { type: string; content: string }[] }>(
    thread,
  );
  return values.messages.flatMap(({ type, content }) => (type === "human" ? [content] : []));
}

/** Redis stores only checkpoints: servers that share it do not share locks, so the tests alternate between them. */
function onRedis(title: string, declare: (servers: ServerProcesses) => void): void {
  withRedis(`${title} on redis`, (redis) => onServers(() => settingsOf(redis.options()), declare));
}

/** @param far numbers of turns at the clock differences of -25 s and 5 s */
function differing(servers: ServerProcesses, far: readonly [number, number] = [40, 40]): void {
  let pair: ServerProcess[];
  beforeAll(async () => {
    pair = await servers.start(2, {}, 0);
  }, TIMEOUT.timeout);

  // The differences rise: no clock goes back before the last test.
  it.each([
    [-25_000, far[0]],
    [20, 40],
    [100, 40],
    // Every second turn waits for half a second.
    [500, 12],
    [5000, far[1]],
  ])("each turn is stored or refused if the clocks differ by %i ms", TIMEOUT, async (shiftMs, turns) => {
    await pair[1]?.shiftClock(shiftMs);
    const thread = newId();
    const acknowledged: string[] = [];
    for (let at = 0; at < turns; at++) {
      const content = `turn ${at}`;
      if (await turn(pair[at % 2] as ServerProcess, thread, content)) acknowledged.push(content);
    }
    for (const server of pair) expect(await contentsOf(server, thread)).toEqual(acknowledged);
    expect(acknowledged.length).toBeGreaterThanOrEqual(Math.abs(shiftMs) <= 500 ? turns : turns / 2);
  });

  it("no acknowledged turn or edit is lost if a clock is set back by a minute", TIMEOUT, async () => {
    const [server] = pair as [ServerProcess];
    const thread = newId();
    const acknowledged: string[] = [];
    const take = async (content: string) => {
      if (await turn(server, thread, content)) acknowledged.push(content);
    };
    await take("a");
    await server.shiftClock(-60_000);
    await take("b");
    const values = { messages: [{ role: "user", content: "edit" }] };
    const edit = await server.request("POST", `/threads/${thread}/state`, { values });
    if (edit.status === 200) acknowledged.push("edit");
    else expect(edit).toMatchObject({ status: 503, body: { code: "clock_behind" } });
    await server.shiftClock(0);
    await take("c");
    expect(await contentsOf(server, thread)).toEqual(acknowledged);
    expect(acknowledged).toEqual(expect.arrayContaining(["a", "c"]));
  });
}

onSharedBackends("alternating turns of two servers", (servers) => differing(servers));
// Without shared rows a turn is accepted before clocks are compared, and waits until its clock has caught up.
onRedis("alternating turns of two servers", (servers) => differing(servers, [2, 10]));
// Thread locks of SQLite hold within one process: the turns do not overlap here.
onSqliteServers("alternating turns of two servers", (servers) => differing(servers));
