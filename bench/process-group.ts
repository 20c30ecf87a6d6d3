/** A command that is measured with all processes that it starts. Requires /proc. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { open, textOf } from "./http.js";

const READY_MS = 60_000;
/** Clock ticks of /proc per second. */
const TICKS = 100;

export class ProcessGroup {
  readonly #child: ChildProcess;

  constructor([command = "", ...args]: readonly string[], cwd: string, env: Record<string, string> = {}) {
    this.#child = spawn(command, args, {
      ...{ cwd, stdio: "ignore", detached: true, env: { ...process.env, ...env } },
    });
  }

  /** CPU time of all processes, in milliseconds. */
  cpuMs(): number {
    let ticks = 0;
    for (const name of readdirSync("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const [group, user, system] = statOf(name);
      if (group === this.#child.pid) ticks += (user ?? 0) + (system ?? 0);
    }
    return (ticks * 1000) / TICKS;
  }

  /** @throws Error if it ends, or does not answer GET `url` within a minute */
  async ready(url: string): Promise<void> {
    const until = performance.now() + READY_MS;
    while (performance.now() < until && this.#child.exitCode === null) {
      const answer = await open({ method: "GET", url }).then(textOf, () => undefined);
      if (answer !== undefined) return;
      await sleep(100);
    }
    await this.stop();
    throw new Error(`${this.#child.spawnargs.join(" ")} did not answer at ${url}`);
  }

  async stop(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const exited = once(this.#child, "exit");
    process.kill(-pid, "SIGKILL");
    await exited;
  }
}

/** Process group, user time and system time of a process, in clock ticks; nothing if it has ended. */
function statOf(pid: string): readonly (number | undefined)[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [Number(fields[2]), Number(fields[11]), Number(fields[12])];
  } catch {
    return [];
  }
}
