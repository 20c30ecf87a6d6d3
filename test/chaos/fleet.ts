/** Servers in separate processes, each at a fixed address, and the faults injected into them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Settings } from "../../src/config/settings.js";
import { Fingerprints } from "../../src/graphs/fingerprint.js";
import type { ServedGraph } from "../../src/graphs/graph.js";
import { freePort } from "../helpers/free-port.js";
import type { Turn } from "./graph.js";

const GRAPH = fileURLToPath(new URL("graph.ts", import.meta.url));
const CONFIG = "graph-server.config.json";
const SHIFT = new URL("../helpers/shift-clock.mjs", import.meta.url).href;
/** Arguments of node for the command line from the sources. */
const SOURCES = ["--import", "tsx", fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url))];
/** Maximum time from start to the first response, in ms. */
const READY_MS = 60_000;
/** A server does not start without its database, so it is started up to this many times. */
const MOST_STARTS = 10;

export type Role = Settings["role"];

class Server {
  readonly url: string;
  readonly role: Role;
  readonly #spawn: () => ChildProcess;
  readonly #onExit = () => void this.#child?.kill("SIGKILL");
  #child: ChildProcess | undefined;
  #isStopped = false;

  constructor(url: string, role: Role, spawn: () => ChildProcess) {
    this.url = url;
    this.role = role;
    this.#spawn = spawn;
    process.once("exit", this.#onExit);
  }

  async start(): Promise<void> {
    for (let starts = 0; starts < MOST_STARTS; starts += 1) {
      if (this.#isStopped) throw new Error(`${this.url} was stopped`);
      const child = (this.#child = this.#spawn());
      if (await this.#comesUp(child)) return;
    }
    throw new Error(`${this.url} did not start`);
  }

  /**
   * Ends the process with `signal`, waits until it is gone and starts another. Returns the pid of the ended
   * process.
   */
  async replace(signal: "SIGKILL" | "SIGTERM"): Promise<number> {
    const pid = this.#child?.pid ?? 0;
    await this.#end(signal);
    await this.start();
    return pid;
  }

  async freeze(ms: number): Promise<number> {
    const child = this.#child;
    child?.kill("SIGSTOP");
    await sleep(ms);
    child?.kill("SIGCONT");
    return child?.pid ?? 0;
  }

  /** Stops the server permanently, even while it restarts. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end("SIGKILL");
    process.off("exit", this.#onExit);
  }

  /** Returns false if the process ended instead. */
  async #comesUp(child: ChildProcess): Promise<boolean> {
    const end = performance.now() + READY_MS;
    while (!hasEnded(child)) {
      const signal = AbortSignal.timeout(READY_MS);
      const isUp = await fetch(`${this.url}/ok`, { signal }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return true;
      if (performance.now() > end) throw new Error(`${this.url} did not start in ${READY_MS / 1000} s`);
      await sleep(50);
    }
    return false;
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (!child || hasEnded(child)) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

export class Fleet {
  readonly servers: readonly Server[];
  readonly #folder: string;
  readonly #settings: Partial<Settings>;

  private constructor(servers: readonly Server[], folder: string, settings: Partial<Settings>) {
    this.servers = servers;
    this.#folder = folder;
    this.#settings = settings;
  }

  /** Servers that accept requests. */
  get asked(): Server[] {
    return this.servers.filter(({ role }) => role !== "worker");
  }

  /**
   * @param skewSeconds clock difference between the first and the last server
   * @param program arguments of node for the command line
   */
  static async start(
    roles: readonly Role[],
    settings: Partial<Settings>,
    skewSeconds: number,
    program: readonly string[] = SOURCES,
  ): Promise<Fleet> {
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-chaos-"));
    const config = join(folder, CONFIG);
    const own = {
      graphs: { chain: `${GRAPH}:graph` },
      log_level: "warn",
      shutdown_grace_seconds: 1,
    } as const;
    const servers: Server[] = [];
    const fleet = new Fleet(servers, folder, { ...own, ...settings });
    await fleet.#configure({});
    for (const [index, role] of roles.entries()) {
      const share = roles.length < 2 ? 0 : index / (roles.length - 1) - 0.5;
      const SHIFT_MS = String(Math.round(share * skewSeconds * 1000));
      const port = await freePort();
      const command = role === "worker" ? ["worker"] : ["start", "--role", role];
      const server = new Server(`http://127.0.0.1:${port}`, role, () =>
        spawn(
          process.execPath,
          ["--import", SHIFT, ...program, ...command, "--config", config, "--port", String(port)],
          {
            env: { ...process.env, CHAOS_LOG: join(folder, "turns.log"), SHIFT_MS },
            stdio: ["ignore", "ignore", process.env.CHAOS_VERBOSE ? "inherit" : "ignore"],
          },
        ),
      );
      servers.push(server);
    }
    try {
      // Sequentially: the first one creates the tables.
      for (const server of servers) await server.start();
    } catch (error) {
      await fleet.stop();
      throw error;
    }
    return fleet;
  }

  /** Servers that start from now on serve the next release, with a migration for the first renamed node. */
  async release(): Promise<void> {
    const migrations = join(this.#folder, "migrations.mjs");
    const { graph } = await import("./graph.js");
    const from = await new Fingerprints().of(graph as unknown as ServedGraph);
    await writeFile(migrations, `export default [{ from: "${from}", nodes: { b: "second" } }];`);
    await this.#configure({ graphs: { chain: `${GRAPH}:next` }, migrations });
  }

  async #configure(more: Partial<Settings>): Promise<void> {
    await writeFile(join(this.#folder, CONFIG), JSON.stringify({ ...this.#settings, ...more }));
  }

  turns(): Turn[] {
    const text = readFileSync(join(this.#folder, "turns.log"), "utf8");
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Turn);
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }
}
