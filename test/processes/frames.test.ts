/** Readers on processes that share frames receive the complete next attempt when the process of a run is killed. */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import { newId } from "../../src/support/ids.js";
import { type TestPostgres, withPostgres } from "../helpers/postgres.js";
import { withRedis } from "../helpers/redis.js";
import {
  onServers,
  PATIENCE,
  type ServerProcess,
  type ServerProcesses,
  settingsOf,
} from "../helpers/server-processes.js";
import { readEvents, type SseEvent } from "../helpers/sse.js";

const SECOND = 1e9;

withRedis("frames shared by redis", (redis) =>
  withPostgres("a reader on another process", (postgres) =>
    sharing(postgres, { stream: "redis", stream_uri: redis.uri }, readersOfAttempts),
  ),
);
withPostgres("frames shared by postgres: a reader on another process", (postgres) =>
  sharing(postgres, { stream: "postgres" }, readersOfAttempts),
);

function sharing(
  postgres: TestPostgres,
  settings: Partial<Settings>,
  declare: (servers: ServerProcesses) => void,
): void {
  onServers(() => ({ ...settingsOf(postgres.options()), ...settings }), declare);
}

function readersOfAttempts(servers: ServerProcesses): void {
  it(
    "receives the complete next attempt when the process of the run is killed",
    { timeout: 300_000 },
    async () => {
      const [dying, ...others] = (await servers.start(3)) as [ServerProcess, ServerProcess, ServerProcess];
      const gate = newId();
      const body = {
        assistant_id: "trail",
        if_not_exists: "create",
        input: { log: ["in"], gates: { b: gate } },
      };
      const headers = { Prefer: "respond-async" };
      const answer = await dying.request("POST", `/threads/${newId()}/runs`, body, headers);
      const run = answer.body as Run;
      const readers = others.map((server) => follow(server, run));
      for (const { seen } of readers)
        await expect.poll(() => seen.filter(({ event }) => event === "values").length, PATIENCE).toBe(2);
      await expect.poll(() => servers.nodes(run), PATIENCE).toEqual(["a", "b"]);
      await dying.kill();
      await expect.poll(() => servers.nodes(run), PATIENCE).toEqual(["a", "b", "b"]);
      for (const server of others) server.open(gate);
      for (const { seen, ended } of readers) {
        await ended;
        const ids = seen.map(({ id }) => Number(id));
        const next = ids.filter((id) => id >= SECOND);
        expect(ids).toEqual([0, 1, 2, ...next]);
        expect(next).toEqual(next.map((_, index) => SECOND + index));
        expect(seen[3]).toMatchObject({ event: "metadata", data: { attempt: 2 } });
        expect(seen[3]?.data).toHaveProperty("checkpoint_id");
        expect(seen.at(-1)).toMatchObject({ event: "end", data: { status: "success" } });
      }
      const told = readers[0]?.seen;
      expect(readers[1]?.seen).toEqual(told);
      for (const server of others) {
        const late = follow(server, run);
        await late.ended;
        expect(late.seen).toEqual(told);
      }
    },
  );
}

function follow(server: ServerProcess, { thread_id, run_id }: Run) {
  const seen: SseEvent[] = [];
  const ended = (async () => {
    const response = await server.fetch("GET", `/threads/${thread_id}/runs/${run_id}/stream`);
    for await (const event of readEvents(response)) seen.push(event);
  })();
  return { seen, ended };
}
