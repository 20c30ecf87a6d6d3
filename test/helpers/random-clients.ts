/**
 * Clients that send random operations on a few threads, and the check that each thread has exactly what its runs and edits
 * were acknowledged to have written. The servers have the graph `marks`.
 */
import { expect } from "vitest";
import type { Run } from "../../src/models/run.js";
import type { ThreadState } from "../../src/models/state.js";
import type { Thread } from "../../src/models/thread.js";
import { newId } from "../../src/support/ids.js";
import type { TestServer } from "./app.js";

const THREADS = 4;
const CLIENTS = 8;
/** Number of operations after which a server ends. */
const KILLED_EVERY = 80;

type Server = Pick<TestServer, "request">;

interface RandomClientsOptions {
  /** A server, or one that is starting. */
  servers: readonly (Server | Promise<Server>)[];
  random: () => number;
  /** Ends a server. Other requests may then be refused with 503, or remain without an answer. */
  kill?: () => Promise<void>;
}

interface Accepted {
  thread: string;
  mark: string;
  run_id: string;
  /** Whether a client deleted the row of the run, or may have: what the run has written is kept. */
  isDeleted: boolean;
}

/** Undefined if the server died before it answered. */
type Answer<T> = { isDone: true; body: T } | { isDone: false } | undefined;

type Operation = "run" | "wait" | "cancel" | "edit" | "copy" | "forget" | "prune" | "remove";
const SHARES: Record<Operation, number> = {
  ...{ run: 48, wait: 12, cancel: 16, edit: 12 },
  ...{ copy: 8, forget: 4, prune: 4, remove: 1 },
};
const CHOICES = (Object.keys(SHARES) as Operation[]).flatMap((each) =>
  Array.from({ length: SHARES[each] }, () => each),
);

export class RandomClients {
  readonly #options: RandomClientsOptions;
  #begun = 0;
  readonly #threads: string[] = [];
  readonly #accepted: Accepted[] = [];
  readonly #edits: { thread: string; mark: string }[] = [];

  constructor(options: RandomClientsOptions) {
    this.#options = options;
  }

  /** Sends operations from all clients until `count` are done. */
  async send(count: number): Promise<void> {
    while (this.#threads.length < THREADS) await this.#addThread();
    let left = count;
    const work = async () => {
      while (left-- > 0) await this.#act();
    };
    await Promise.all(Array.from({ length: CLIENTS }, work));
  }

  /** @param timeout how long the runs may take to end, in milliseconds */
  async check(timeout: number): Promise<void> {
    for (const thread of this.#threads) await this.#checkThread(thread, timeout);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#options.random() * items.length)] as T;
  }

  async #ask<T>(method: string, path: string, body?: object, headers = {}): Promise<Answer<T>> {
    const server = await this.#pick(this.#options.servers);
    const answer = await server.request(method, path, body, headers).catch((error: unknown) => {
      if (!this.#options.kill) throw error;
    });
    if (!answer) return undefined;
    if (this.#options.kill && answer.status === 503) return { isDone: false };
    expect(answer.status, `${method} ${path} ${JSON.stringify(body)} -> ${answer.text}`).toBeLessThan(500);
    return answer.status < 300 ? { isDone: true, body: answer.body as T } : { isDone: false };
  }

  async #read<T>(path: string): Promise<T> {
    const answer = await this.#ask<T>("GET", path);
    return answer?.isDone ? answer.body : expect.fail(`${path} was not answered`);
  }

  async #addThread(): Promise<void> {
    const made = await this.#ask<Thread>("POST", "/threads", {});
    if (made?.isDone) this.#threads.push(made.body.thread_id);
    else await this.#addThread();
  }

  async #act(): Promise<void> {
    this.#begun += 1;
    if (this.#begun % KILLED_EVERY === 0) await this.#options.kill?.();
    const thread = this.#pick(this.#threads);
    const own = this.#accepted.filter((run) => run.thread === thread).slice(-5);
    const run = own.length > 0 ? this.#pick(own) : undefined;
    await this.#operations(thread, run)[this.#pick(CHOICES)]();
  }

  #operations(thread: string, run: Accepted | undefined): Record<Operation, () => Promise<unknown>> {
    const path = `/threads/${thread}`;
    return {
      run: () => this.#run(thread, { prefer: "respond-async" }),
      wait: () => this.#run(thread, {}),
      cancel: async () => {
        const query = `action=${this.#pick(["interrupt", "rollback"])}&wait=${this.#pick(["1", "0"])}`;
        if (run) await this.#ask("POST", `${path}/runs/${run.run_id}/cancel?${query}`);
      },
      edit: async () => {
        const mark = newId();
        const edit = { values: { log: [mark] }, as_node: "two" };
        if ((await this.#ask("POST", `${path}/state`, edit))?.isDone) this.#edits.push({ thread, mark });
      },
      copy: async () => {
        const copy = await this.#ask<Thread>("POST", `${path}/copy`);
        if (copy?.isDone) await this.#ask("DELETE", `/threads/${copy.body.thread_id}`);
      },
      forget: async () => {
        if (!run) return;
        const answer = await this.#ask("DELETE", `${path}/runs/${run.run_id}`);
        if (!answer || answer.isDone) run.isDeleted = true;
      },
      prune: () => this.#ask("POST", "/threads/prune", { thread_ids: [thread], strategy: "keep_latest" }),
      remove: async () => {
        this.#threads.splice(this.#threads.indexOf(thread), 1);
        await this.#addThread();
        await this.#ask("DELETE", path);
      },
    };
  }

  async #run(thread: string, headers: object): Promise<void> {
    const mark = newId();
    const request = {
      assistant_id: "marks",
      input: { mark },
      multitask_strategy: this.#pick(["enqueue", "enqueue", "interrupt", "rollback", "reject"]),
      durability: this.#pick(["sync", "async", "exit"]),
    };
    const answer = await this.#ask<Run>("POST", `/threads/${thread}/runs`, request, headers);
    if (answer?.isDone) this.#accepted.push({ thread, mark, run_id: answer.body.run_id, isDeleted: false });
  }

  async #checkThread(thread: string, timeout: number): Promise<void> {
    const path = `/threads/${thread}`;
    const runs = () => this.#read<Run[]>(`${path}/runs?limit=1000`);
    const unfinished = async () =>
      (await runs()).filter(({ status }) => status === "pending" || status === "running");
    await expect.poll(unfinished, { timeout, interval: 200 }).toEqual([]);
    const row = () => this.#read<Thread>(path);
    await expect.poll(async () => (await row()).status).not.toBe("busy");
    const { log = [] } = (await this.#read<ThreadState>(`${path}/state`)).values as { log?: string[] };
    expect((await row()).values).toMatchObject(log.length > 0 ? { log } : {});
    expect(new Set(log).size).toBe(log.length);
    for (const { mark } of this.#edits.filter((edit) => edit.thread === thread)) expect(log).toContain(mark);
    const rows = new Map((await runs()).map((run) => [run.run_id, run]));
    for (const each of this.#accepted.filter((run) => run.thread === thread))
      checkRun(each, rows.get(each.run_id), log);
  }
}

function checkRun({ mark, run_id, isDeleted }: Accepted, row: Run | undefined, log: readonly string[]): void {
  const written = log.filter((line) => line.startsWith(mark));
  const all = [`${mark} one`, `${mark} two`];
  expect(row?.error ?? null, `run ${run_id}`).toBeNull();
  if (row?.status === "success") expect(written, `run ${run_id}`).toEqual(all);
  if (!row && !isDeleted) expect(written, `run ${run_id} was rolled back`).toEqual([]);
  if (written.length === 2) expect(log.slice(log.indexOf(all[0] as string)).slice(0, 2)).toEqual(all);
}
