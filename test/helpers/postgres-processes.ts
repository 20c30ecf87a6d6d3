/** Child processes on a shared PostgreSQL schema, controlled by the test. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { StorageOptions } from "../../src/storage/contract/storage.js";
import type { Order } from "../storage/postgres-child.js";
import { forkProgram } from "./compiled.js";

export class StorageProcess {
  readonly #child: ChildProcess;
  readonly #news: string[] = [];
  readonly #listeners = new Set<() => void>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    const tellAll = () => this.#listeners.forEach((listener) => listener());
    this.#child.on("message", (news: string) => {
      this.#news.push(news);
      tellAll();
    });
    this.#child.on("exit", tellAll);
  }

  static async start(options: StorageOptions): Promise<StorageProcess> {
    return new StorageProcess(await forkProgram("postgres-child", [JSON.stringify(options)]));
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
