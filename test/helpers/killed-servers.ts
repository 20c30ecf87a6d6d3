/** Servers of one database, one of which is killed or stopped from time to time, and started again. */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { randomOf } from "../chaos/random.js";
import type { Answer } from "./app.js";
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
const SURVIVAL: Partial<Settings> = { max_attempts: 100 };

export interface KilledServers {
  /** A server, or one that is starting. */
  servers: readonly (ServerProcess | Promise<ServerProcess>)[];
  random: () => number;
  /** Ends a server. Requests that come meanwhile wait for the new one. */
  kill: () => Promise<void>;
  pick: <T>(items: readonly T[]) => T;
  /** Repeats a request until a server that lives has answered it. */
  ask: (...request: Parameters<ServerProcess["request"]>) => Promise<Answer>;
}

/** Declares a test for each backend whose data outlive its servers. It must end a server. */
export function onKilledServers(
  title: string,
  test: (killed: KilledServers) => Promise<void>,
  more: Partial<Settings> = {},
): void {
  const settings = { ...SURVIVAL, ...more };
  const declare = (processes: ServerProcesses, count: number) => {
    const seed = newSeed();
    it(`${title} (seed ${seed})`, { timeout: 300_000 }, async () => {
      const random = randomOf(seed);
      const servers: (ServerProcess | Promise<ServerProcess>)[] = await processes.start(count, settings);
      let kills = 0;
      const replace = async (slot: number): Promise<ServerProcess> => {
        await (await servers[slot])?.kill(random() < 0.5 ? "SIGKILL" : "SIGTERM");
        return processes.one(settings);
      };
      const kill = async () => {
        const slot = Math.floor(random() * count);
        kills += 1;
        await (servers[slot] = replace(slot));
      };
      const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
      const ask: KilledServers["ask"] = async (...request) => {
        for (;;) {
          const answer = await (await pick(servers)).request(...request).catch(() => undefined);
          if (answer && answer.status !== 503) return answer;
        }
      };
      await test({ servers, random, kill, pick, ask });
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
