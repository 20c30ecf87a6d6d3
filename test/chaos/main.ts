/** `npm run test:all:chaos -- [--runs 1000] [--threads 100] [--seconds 60] [--seed 31] [--servers 4] [--workers 0] [--restarts 2] [--skew 0] [--settle 30] [--settings JSON]` */
import { parseArgs } from "node:util";
import { PostgresCluster } from "../helpers/postgres-cluster.js";
import { chaos } from "./chaos.js";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    threads: { type: "string", default: "100" },
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: "31" },
    servers: { type: "string", default: "4" },
    workers: { type: "string", default: "0" },
    restarts: { type: "string", default: "2" },
    skew: { type: "string", default: "0" },
    settle: { type: "string", default: "30" },
    settings: { type: "string", default: "{}" },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);
const database = await PostgresCluster.start();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void database.stop().finally(() => process.exit(1)));
try {
  const verdict = await chaos({
    database,
    settings: JSON.parse(values.settings) as object,
    servers: Number(values.servers),
    workers: Number(values.workers),
    runs: Number(values.runs),
    threads: Number(values.threads),
    seconds: Number(values.seconds),
    seed: Number(values.seed),
    restarts: Number(values.restarts),
    skewSeconds: Number(values.skew),
    settleSeconds: Number(values.settle),
    say,
  });
  for (const [name, found] of Object.entries(verdict)) {
    say(`${name}: ${Array.isArray(found) ? found.length : String(found)}`);
    if (Array.isArray(found)) for (const one of (found as string[]).slice(0, 5)) say(`  ${one}`);
  }
} finally {
  await database.stop();
}
