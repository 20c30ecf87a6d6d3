/** Servers in processes of their own, each at an address that stays, and what befalls them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Settings } from "../../src/config/settings.js";
import { freePort } from "../helpers/free-port.js";
import type { Turn } from "./graph.js";

const CLI = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const GRAPH = fileURLToPath(new URL("graph.ts", import.meta.url));
const ARGUMENTS = ["--import", "tsx"];
const READY_MS = 60_000;

export type Role = Settings["role"];

class Server {
  readonly url: string;
  readonly role: Role;
  readonly #start: () => ChildProcess;
  #child: ChildProcess;

  constructor(url: string, role: Role, start: () => ChildProcess) {
    this.url = url;
    this.role = role;
    this.#start = start;
    this.#child = start();
  }

  /** Resolves when it answers. */
  async ready(): Promise<void> {
    const end = performance.now() + READY_MS;
    for (;;) {
      const isUp = await fetch(`${this.url}/ok`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return;
      if (performance.now() > end) throw new Error(`${this.url} did not come up`);
      // Without its database a server does not start: whoever keeps it running tries again.
      if (this.#child.exitCode !== null) this.#child = this.#start();
      await sleep(50);
    }
  }

  /** End it as `signal` does, wait until it is gone, and start another in its place. Returns the pid that ended. */
  async replace(signal: "SIGKILL" | "SIGTERM"): Promise<number> {
    const { pid = 0 } = this.#child;
    await this.#end(signal);
    this.#child = this.#start();
    await this.ready();
    return pid;
  }

  async freeze(ms: number): Promise<number> {
    const child = this.#child;
    child.kill("SIGSTOP");
    await sleep(ms);
    child.kill("SIGCONT");
    return child.pid ?? 0;
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGCONT");
    await this.#end("SIGKILL");
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}

export class Fleet {
  readonly servers: readonly Server[];
  readonly #folder: string;

  private constructor(servers: readonly Server[], folder: string) {
    this.servers = servers;
    this.#folder = folder;
  }

  /** Those that take requests. */
  get asked(): Server[] {
    return this.servers.filter(({ role }) => role !== "worker");
  }

  static async start(roles: readonly Role[], settings: Partial<Settings>): Promise<Fleet> {
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-chaos-"));
    const config = join(folder, "graph-server.config.json");
    const own = { graphs: { chain: `${GRAPH}:graph` }, log_level: "warn", shutdown_grace_seconds: 1 };
    await writeFile(config, JSON.stringify({ ...own, ...settings }));
    const servers: Server[] = [];
    // One after the other: the first makes the tables.
    for (const role of roles) {
      const port = await freePort();
      const command = role === "worker" ? ["worker"] : ["start", "--role", role];
      const server = new Server(`http://127.0.0.1:${port}`, role, () =>
        spawn(process.execPath, [...ARGUMENTS, CLI, ...command, "--config", config, "--port", String(port)], {
          env: { ...process.env, CHAOS_LOG: join(folder, "turns.log") },
          stdio: ["ignore", "ignore", process.env.CHAOS_VERBOSE ? "inherit" : "ignore"],
        }),
      );
      servers.push(server);
      await server.ready();
    }
    return new Fleet(servers, folder);
  }

  /** What the nodes wrote down, in order. */
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
