/**
 * Servers are killed or stopped, and started again, while clients send any operations: every acknowledged edit is kept, and
 * each accepted run ends with all that it wrote, once.
 */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { randomOf } from "../chaos/random.js";
import { withPostgres } from "../helpers/postgres.js";
import { RandomClients } from "../helpers/random-clients.js";
import { newSeed } from "../helpers/seeds.js";
import {
  onServers,
  onSharedBackends,
  onSqliteServers,
  settingsOf,
  type ServerProcess,
  type ServerProcesses,
} from "../helpers/server-processes.js";

const OPERATIONS = 500;
/** A run survives all kills. */
const SETTINGS: Partial<Settings> = { max_attempts: 100 };

/** @param count number of servers */
function declareTest(servers: ServerProcesses, count: number): void {
  const seed = newSeed();
  it(`keep what they acknowledged (seed ${seed})`, { timeout: 300_000 }, async () => {
    const random = randomOf(seed);
    const slots: (ServerProcess | Promise<ServerProcess>)[] = await servers.start(count, SETTINGS);
    let kills = 0;
    const replace = async (slot: number): Promise<ServerProcess> => {
      await (await slots[slot])?.kill(random() < 0.5 ? "SIGKILL" : "SIGTERM");
      return servers.one(SETTINGS);
    };
    const kill = async () => {
      const slot = Math.floor(random() * count);
      kills += 1;
      // Requests that come meanwhile wait for the new server.
      await (slots[slot] = replace(slot));
    };
    const clients = new RandomClients({ servers: slots, random, kill });
    await clients.send(OPERATIONS);
    expect(kills).toBeGreaterThan(0);
    await clients.check(120_000);
  });
}

onSharedBackends("servers that end", (servers) => declareTest(servers, 2));
withPostgres("servers that end, with queue postgres", (postgres) =>
  onServers(
    () => ({ ...settingsOf(postgres.options()), queue: "postgres", stream: "postgres" }),
    (servers) => declareTest(servers, 2),
  ),
);
onSqliteServers("a server that ends", (servers) => declareTest(servers, 1));
