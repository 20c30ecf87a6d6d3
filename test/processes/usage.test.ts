/** Usage of processes that share a queue: what is recorded equals what a provider billed, also if they are killed. */
import { expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import type { Run } from "../../src/models/run.js";
import type { Usage } from "../../src/models/usage.js";
import { withPostgres } from "../helpers/postgres.js";
import { onServers, PATIENCE, type ServerProcess, settingsOf } from "../helpers/server-processes.js";

const ROUNDS = 4;
const RUNS = 30;
/** A run waits at its gate after its fifth call, one of which is repeated. */
const CALLS_BEFORE_GATE = 5;

withPostgres("usage of processes that are killed", (postgres) =>
  onServers(
    () => ({
      ...settingsOf(postgres.options({ pool_max_size: 4 })),
      queue: "postgres" as const,
      max_concurrent_runs: RUNS,
    }),
    (servers) => {
      const billed = () => {
        const lines = servers.bill();
        const sum = (field: "input_tokens" | "output_tokens") =>
          lines.reduce((total, line) => total + line[field], 0);
        return {
          calls: lines.length,
          input_tokens: sum("input_tokens"),
          output_tokens: sum("output_tokens"),
        };
      };
      const recorded = async (server: ServerProcess) => {
        const { body } = await server.request("GET", "/usage?group_by=model");
        const [{ calls, input_tokens, output_tokens } = {} as Partial<Usage>] = body as Usage[];
        return { calls, input_tokens, output_tokens };
      };

      it(
        `is exact over ${ROUNDS * RUNS} runs with retries, branches and kills`,
        { timeout: 600_000 },
        async () => {
          let [one, two] = (await servers.start(2)) as [ServerProcess, ServerProcess];
          const all: Run[] = [];
          for (let round = 1; round <= ROUNDS; round++) {
            const gate = newId();
            const before = servers.bill().length;
            const start = async (_: unknown, index: number) => {
              const body = { assistant_id: "billed", input: { gate }, if_not_exists: "create" };
              const at = index % 2 === 0 ? one : two;
              const path = `/threads/${newId()}/runs`;
              return (await at.request("POST", path, body, { Prefer: "respond-async" })).body as Run;
            };
            const runs = await Promise.all(Array.from({ length: RUNS }, start));
            all.push(...runs);
            const calls = before + RUNS * CALLS_BEFORE_GATE;
            await expect.poll(() => servers.bill().length, PATIENCE).toBe(calls);
            // The calls of runs that have not ended are stored, too.
            await expect.poll(() => recorded(one), PATIENCE).toEqual(billed());
            await two.kill();
            two = await servers.one();
            for (const server of [one, two]) server.open(gate);
            const statuses = () => Promise.all(runs.map(async (run) => (await one.run(run)).status));
            await expect
              .poll(async () => [...new Set(await statuses())], { timeout: 120_000, interval: 500 })
              .toEqual(["success"]);
            [one, two] = [two, one];
          }
          await expect.poll(() => recorded(one), PATIENCE).toEqual(billed());
          const attempts = await Promise.all(all.map(async (run) => (await one.run(run)).attempt));
          expect(Math.max(...attempts)).toBe(2);
        },
      );
    },
  ),
);
