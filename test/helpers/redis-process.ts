/** A separate Redis server that the test can kill and restart, with or without persistence. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.js";

/** Why no server can be started on this machine; undefined if one can. */
export const noRedisProcess = ((): string | undefined => {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "pipe" });
    return undefined;
  } catch {
    return "no redis-server";
  }
})();

export class RedisProcess {
  readonly uri: string;
  readonly #folder: string;
  readonly #port: number;
  #child: ChildProcess | undefined;

  readonly #keeps: boolean;

  private constructor(folder: string, port: number, keeps: boolean) {
    this.#keeps = keeps;
    this.#folder = folder;
    this.#port = port;
    this.uri = `redis://127.0.0.1:${port}`;
  }

  static async start({ keeps = true } = {}): Promise<RedisProcess> {
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-redis-"));
    const redis = new RedisProcess(folder, await freePort(), keeps);
    await redis.restart();
    return redis;
  }

  /** Resolves when the server accepts connections. */
  async restart(): Promise<void> {
    await this.kill();
    const options = { "--port": String(this.#port), "--bind": "127.0.0.1", "--dir": this.#folder };
    const kept = { "--appendonly": this.#keeps ? "yes" : "no", "--save": "" };
    const child = spawn("redis-server", Object.entries({ ...options, ...kept }).flat());
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      let log = "";
      child.stdout.on("data", (chunk) => {
        log += String(chunk);
        if (log.includes("Ready to accept connections")) resolve();
      });
      child.once("exit", () => reject(new Error(`redis-server exited: ${log}`)));
    });
  }

  /** Kills the server without closing connections first, as in a power failure. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
