/** Servers of one database, one of which is killed or stopped from time to time, and started again. */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { randomOf } from "../chaos/random.js";
import { withPostgres } from "./postgres.js";
import { newSeed } from "./seeds.js";
import {
  onServers,
  onSharedBackends,
  onSqliteServers,
  settingsOf,
  type ServerProcess,
  type ServerProcesses,
} from "./server-processes.js";

/** A run survives all kills. */
const SETTINGS: Partial<Settings> = { max_attempts: 100 };

export interface KilledServers {
  /** A server, or one that is starting. */
  servers: readonly (ServerProcess | Promise<ServerProcess>)[];
  random: () => number;
  /** Ends a server. Requests that come meanwhile wait for the new one. */
  kill: () => Promise<void>;
}

/** Declares a test for each backend whose data outlive its servers. It must end a server. */
export function onKilledServers(title: string, test: (killed: KilledServers) => Promise<void>): void {
  const declare = (processes: ServerProcesses, count: number) => {
    const seed = newSeed();
    it(`${title} (seed ${seed})`, { timeout: 300_000 }, async () => {
      const random = randomOf(seed);
      const servers: (ServerProcess | Promise<ServerProcess>)[] = await processes.start(count, SETTINGS);
      let kills = 0;
      const replace = async (slot: number): Promise<ServerProcess> => {
        await (await servers[slot])?.kill(random() < 0.5 ? "SIGKILL" : "SIGTERM");
        return processes.one(SETTINGS);
      };
      const kill = async () => {
        const slot = Math.floor(random() * count);
        kills += 1;
        await (servers[slot] = replace(slot));
      };
      await test({ servers, random, kill });
      expect(kills).toBeGreaterThan(0);
    });
  };
  onSharedBackends("servers that end", (processes) => declare(processes, 2));
  withPostgres("servers that end, with queue postgres", (postgres) =>
    onServers(
      () => ({ ...settingsOf(postgres.options()), queue: "postgres", stream: "postgres" }),
      (processes) => declare(processes, 2),
    ),
  );
  onSqliteServers("a server that ends", (processes) => declare(processes, 1));
}
