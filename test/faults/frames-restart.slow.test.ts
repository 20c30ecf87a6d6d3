/** Servers share frames while the frame storage loses its data and restarts: no reader sees a gap. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { openStorage } from "../../src/storage/open.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { gateOf } from "../fixtures/gates.js";
import { serve, type TestServer } from "../helpers/app.js";
import { withPostgres } from "../helpers/postgres.js";
import { noCluster, PostgresCluster } from "../helpers/postgres-cluster.js";
import { noRedisProcess, RedisProcess } from "../helpers/redis-process.js";
import { openTestService } from "../helpers/service.js";
import { allEvents, readEvents } from "../helpers/sse.js";

interface Carrier {
  uri: string;
  restart: () => Promise<void>;
  stop: () => Promise<void>;
}

const CARRIERS = [
  { stream: "redis", missing: noRedisProcess, start: () => RedisProcess.start({ keeps: false }) },
  { stream: "postgres", missing: noCluster, start: () => PostgresCluster.start() },
] as const;

describe.each(CARRIERS)(
  "shared frames when $stream dies (skipped: $missing)",
  ({ stream, missing, start }) => {
    if (missing) {
      process.stderr.write(`Losing the shared frames of ${stream} is not tested: ${missing}.\n`);
      it.skip(`skipped: ${missing}`, () => undefined);
      return;
    }
    let carrier: Carrier;
    beforeAll(async () => {
      carrier = await start();
    }, 120_000);
    afterAll(() => carrier?.stop());

    withPostgres("republished frames", (postgres) => {
      const open = async () => {
        const settings: Partial<Settings> = { stream, stream_uri: carrier.uri };
        const storage = await openStorage(postgres.options());
        return serve(await openTestService({ graphs: { gate }, storage, settings }));
      };
      const begin = async (server: TestServer) => {
        const name = crypto.randomUUID();
        const thread = crypto.randomUUID();
        const answer = await server.request(
          "POST",
          `/threads/${thread}/runs`,
          { assistant_id: "gate", input: { gate: name }, if_not_exists: "create" },
          { prefer: "respond-async" },
        );
        const { run_id } = answer.body as { run_id: string };
        await gateOf(name).entered;
        return { gate: gateOf(name), path: `/threads/${thread}/runs/${run_id}/stream` };
      };

      it("are complete for running and ended runs", { timeout: 120_000 }, async () => {
        const [here, there] = [await open(), await open()];
        const ended = await begin(here);
        ended.gate.open();
        const whole = await allEvents(await there.fetch("GET", ended.path));
        expect(whole.map(({ id }) => id)).toEqual(whole.map((_, index) => String(index)));
        const going = await begin(here);
        const far = readEvents(await there.fetch("GET", going.path));
        const seen = [await far.next(), await far.next(), await far.next()].map(({ value }) => value);
        expect(JSON.stringify(seen)).toContain("before");
        await carrier.restart();
        going.gate.open();
        for await (const event of far) seen.push(event);
        const told = await allEvents(await here.fetch("GET", going.path));
        expect(told.at(-1)?.event).toBe("end");
        expect(seen).toEqual(told);
        expect(await allEvents(await there.fetch("GET", going.path))).toEqual(told);
        expect(await allEvents(await (await open()).fetch("GET", ended.path))).toEqual(whole);
      });
    });
  },
);
