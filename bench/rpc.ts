/** Calls between the processes of the benchmark, over the IPC channel of fork(). */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export type Api = Record<string, (argument: never) => unknown>;

interface Call {
  id: number;
  name: string;
  argument: unknown;
}
type Answer = { id: number; result: unknown } | { id: number; error: string };

/** In a child: answers the parent's calls until the parent disconnects. */
export function answerCalls(api: Api): void {
  const answer = async ({ id, name, argument }: Call): Promise<void> => {
    try {
      process.send?.({ id, result: await api[name]?.(argument as never) });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  };
  process.on("message", (call) => void answer(call as Call));
  process.on("disconnect", () => process.exit());
}

/** In the parent: a child process and the calls it answers. */
export class Peer<A extends Api> {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  #calls = 0;

  /** `file` is relative to this folder. */
  constructor(file: string, execArgv: readonly string[] = []) {
    const path = fileURLToPath(new URL(file, import.meta.url));
    this.#child = fork(path, { execArgv: [...process.execArgv, ...execArgv] });
    this.#child.on("message", (message) => {
      const answer = message as Answer;
      this.#pending.get(answer.id)?.(answer);
      this.#pending.delete(answer.id);
    });
    this.#child.on("exit", (code) => {
      for (const [id, settle] of this.#pending) settle({ id, error: `${file} exited with code ${code}` });
    });
  }

  call<Name extends keyof A & string>(
    name: Name,
    ...[argument]: Parameters<A[Name]>
  ): Promise<Awaited<ReturnType<A[Name]>>> {
    const id = this.#calls++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, (answer) => {
        if ("error" in answer) reject(new Error(answer.error));
        else resolve(answer.result as Awaited<ReturnType<A[Name]>>);
      });
      this.#child.send({ id, name, argument: argument as unknown });
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.disconnect();
    await exited;
  }
}

/** CPU time of this process, all threads, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds on a clock shared by all processes of the machine. */
export const sharedClock = (): number => Number(process.hrtime.bigint()) / 1e6;
