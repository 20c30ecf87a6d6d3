/** Child processes on a shared PostgreSQL schema, controlled by the test. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { StorageOptions } from "../../src/storage/contract/storage.js";
import type { Order } from "../storage/postgres-child.js";

const CHILD = fileURLToPath(new URL("../storage/postgres-child.ts", import.meta.url));

export class StorageProcess {
  readonly #child: ChildProcess;
  readonly #news: string[] = [];
  readonly #listeners = new Set<() => void>();

  constructor(options: StorageOptions) {
    this.#child = fork(CHILD, [JSON.stringify(options)], { execArgv: ["--import", "tsx"] });
    const tellAll = () => this.#listeners.forEach((listener) => listener());
    this.#child.on("message", (news: string) => {
      this.#news.push(news);
      tellAll();
    });
    this.#child.on("exit", tellAll);
  }

  tell(order: Order): void {
    this.#child.send(order);
  }

  /** Resolves when the process has sent this message; rejects if it exits first. */
  told(news: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#news.includes(news)) resolve();
        else if (this.#child.exitCode !== null)
          reject(new Error(`the process exited without sending "${news}"`));
        else return;
        this.#listeners.delete(look);
      };
      this.#listeners.add(look);
      look();
    });
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}
