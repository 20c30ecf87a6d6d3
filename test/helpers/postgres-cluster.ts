/** A separate PostgreSQL server that the test can restart. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.js";

const run = promisify(execFile);
const VERSIONS = "/usr/lib/postgresql";
const BIN = existsSync(VERSIONS)
  ? readdirSync(VERSIONS)
      .map((version) => join(VERSIONS, version, "bin"))
      .find((folder) => existsSync(join(folder, "initdb")))
  : undefined;

/** Why no server can be started on this machine; undefined if one can. */
export const noCluster = ((): string | undefined => {
  if (!BIN) return `no ${VERSIONS}/*/bin/initdb`;
  if (process.getuid?.() === 0 && !existsSync("/usr/sbin/runuser")) return "root without runuser";
  return undefined;
})();

export class PostgresCluster {
  readonly uri: string;
  readonly #folder: string;
  readonly #options: string;

  private constructor(folder: string, port: number, settings: Readonly<Record<string, number>>) {
    this.#folder = folder;
    const own = Object.entries(settings).map(([name, value]) => ` -c ${name}=${value}`);
    this.#options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=on${own.join("")}`;
    this.uri = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  }

  /** @param settings server settings, such as `max_connections` */
  static async start(settings: Readonly<Record<string, number>> = {}): Promise<PostgresCluster> {
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-postgres-"));
    if (process.getuid?.() === 0) await run("chown", ["postgres", folder]);
    await chmod(folder, 0o700);
    const cluster = new PostgresCluster(folder, await freePort(), settings);
    await asOwner("initdb", ["-D", folder, "-U", "postgres", "-A", "trust", "--no-sync"]);
    await cluster.#control("start");
    return cluster;
  }

  /** Restarts in immediate mode, as after a crash: connections are dropped without a checkpoint. */
  async restart(): Promise<void> {
    await this.#control("restart", "-m", "immediate");
  }

  async stop(): Promise<void> {
    await this.#control("stop", "-m", "immediate");
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #control(...command: string[]): Promise<void> {
    const log = join(this.#folder, "server.log");
    await asOwner("pg_ctl", ["-D", this.#folder, "-w", "-l", log, "-o", this.#options, ...command]);
  }
}

/** Runs a PostgreSQL program as another user, because PostgreSQL refuses to run as root. */
async function asOwner(program: string, args: string[]): Promise<void> {
  const command = [join(BIN ?? "", program), ...args];
  if (process.getuid?.() === 0) await run("runuser", ["-u", "postgres", "--", ...command], { cwd: "/" });
  else await run(command[0]!, command.slice(1));
}
