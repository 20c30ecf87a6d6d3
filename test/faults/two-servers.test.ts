/**
 * Clients of two servers send any operations on the same threads at once: nothing fails or waits forever, and each thread
 * has exactly what its runs and edits were acknowledged to have written.
 */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import type { Thread } from "../../src/models/thread.js";
import { openStorage } from "../../src/storage/open.js";
import { newId } from "../../src/support/ids.js";
import { pause } from "../../src/support/pause.js";
import { randomOf } from "../chaos/random.js";
import { serve, type TestServer } from "../helpers/app.js";
import { type Backend, onMongodb } from "../helpers/backends.js";
import { withPostgres } from "../helpers/postgres.js";
import { newSeed } from "../helpers/seeds.js";
import { openTestService } from "../helpers/service.js";

const OPERATIONS = 400;
const CLIENTS = 8;
const THREADS = 4;

const State = Annotation.Root({
  mark: Annotation<string>,
  log: Annotation<string[]>({ reducer: (log, more) => log.concat(more), default: () => [] }),
});

/** Two steps of random length, each of which leaves the mark of its run in the log. */
const graph = new StateGraph(State)
  .addNode("one", async ({ mark }) => {
    await pause(Math.random() * 10, undefined);
    return { log: [`${mark} one`] };
  })
  .addNode("two", async ({ mark }) => {
    await pause(Math.random() * 10, undefined);
    return { log: [`${mark} two`] };
  })
  .addEdge(START, "one")
  .addEdge("one", "two")
  .addEdge("two", END)
  .compile({ name: "marks" });

interface Accepted {
  thread: string;
  mark: string;
  run_id: string;
  /** Whether the row of the run was deleted by a client, which keeps what it has written. */
  isDeleted: boolean;
}

class Clients {
  readonly threads: string[] = [];
  readonly accepted: Accepted[] = [];
  readonly edits: { thread: string; mark: string }[] = [];
  readonly #servers: readonly TestServer[];
  readonly #random: () => number;

  constructor(servers: readonly TestServer[], random: () => number) {
    this.#servers = servers;
    this.#random = random;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  /** The body of the answer. Undefined if the server refuses. */
  async ask<T>(method: string, path: string, body?: object, headers = {}): Promise<T | undefined> {
    const {
      status,
      text,
      body: answer,
    } = await this.pick(this.#servers).request(method, path, body, headers);
    expect(status, `${method} ${path} ${JSON.stringify(body)} -> ${text}`).toBeLessThan(500);
    return status < 300 ? ((answer ?? {}) as T) : undefined;
  }

  async addThread(): Promise<void> {
    const thread = await this.ask<Thread>("POST", "/threads", {});
    if (thread) this.threads.push(thread.thread_id);
  }

  async act(): Promise<void> {
    const thread = this.pick(this.threads);
    const own = this.accepted.filter((run) => run.thread === thread).slice(-5);
    const run = own.length > 0 ? this.pick(own) : undefined;
    await this.#operations(thread, run)[this.pick(CHOICES)]();
  }

  #operations(thread: string, run: Accepted | undefined): Record<Operation, () => Promise<unknown>> {
    const path = `/threads/${thread}`;
    return {
      run: () => this.#run(thread, { prefer: "respond-async" }),
      wait: () => this.#run(thread, {}),
      cancel: async () => {
        const query = `action=${this.pick(["interrupt", "rollback"])}&wait=${this.pick(["1", "0"])}`;
        if (run) await this.ask("POST", `${path}/runs/${run.run_id}/cancel?${query}`);
      },
      edit: async () => {
        const mark = newId();
        const edit = { values: { log: [mark] }, as_node: "two" };
        if (await this.ask("POST", `${path}/state`, edit)) this.edits.push({ thread, mark });
      },
      copy: async () => {
        const copy = await this.ask<Thread>("POST", `${path}/copy`);
        if (copy) await this.ask("DELETE", `/threads/${copy.thread_id}`);
      },
      forget: async () => {
        if (run && (await this.ask("DELETE", `${path}/runs/${run.run_id}`))) run.isDeleted = true;
      },
      prune: () => this.ask("POST", "/threads/prune", { thread_ids: [thread], strategy: "keep_latest" }),
      remove: async () => {
        this.threads.splice(this.threads.indexOf(thread), 1);
        await this.addThread();
        await this.ask("DELETE", path);
      },
    };
  }

  async #run(thread: string, headers: object): Promise<void> {
    const mark = newId();
    const request = {
      assistant_id: "marks",
      input: { mark },
      multitask_strategy: this.pick(["enqueue", "enqueue", "interrupt", "rollback", "reject"]),
      durability: this.pick(["sync", "async", "exit"]),
    };
    const run = await this.ask<Run>("POST", `/threads/${thread}/runs`, request, headers);
    if (run) this.accepted.push({ thread, mark, run_id: run.run_id, isDeleted: false });
  }
}

type Operation = "run" | "wait" | "cancel" | "edit" | "copy" | "forget" | "prune" | "remove";
const SHARES: Record<Operation, number> = {
  ...{ run: 12, wait: 3, cancel: 4, edit: 3 },
  ...{ copy: 2, forget: 1, prune: 1, remove: 1 },
};
const CHOICES = (Object.keys(SHARES) as Operation[]).flatMap((each) =>
  Array.from({ length: SHARES[each] }, () => each),
);

async function checkThread({ service }: TestServer, thread: string, clients: Clients): Promise<void> {
  const runs = () => service.runs.list(thread, { limit: 1000 });
  const unfinished = async () =>
    (await runs()).filter(({ status }) => status === "pending" || status === "running");
  await expect.poll(unfinished, { timeout: 30_000 }).toEqual([]);
  await expect.poll(async () => (await service.threads.get(thread)).status).not.toBe("busy");
  const { log = [] } = (await service.state.get(thread)).values as { log?: string[] };
  expect((await service.threads.get(thread)).values).toMatchObject(log.length > 0 ? { log } : {});
  expect(new Set(log).size).toBe(log.length);
  for (const { mark } of clients.edits.filter((edit) => edit.thread === thread)) expect(log).toContain(mark);
  const rows = new Map((await runs()).map((run) => [run.run_id, run]));
  for (const { mark, run_id, isDeleted } of clients.accepted.filter((run) => run.thread === thread)) {
    const row = rows.get(run_id);
    const written = log.filter((line) => line.startsWith(mark));
    const all = [`${mark} one`, `${mark} two`];
    expect(row?.error ?? null, `run ${run_id}`).toBeNull();
    if (row?.status === "success") expect(written, `run ${run_id}`).toEqual(all);
    if (!row && !isDeleted) expect(written, `run ${run_id} was rolled back`).toEqual([]);
    if (written.length === 2) expect(log.slice(log.indexOf(all[0] as string)).slice(0, 2)).toEqual(all);
  }
}

function declareTests(backend: () => Pick<Backend, "settings">, own: Partial<Settings> = {}): void {
  const seed = newSeed();
  it(`keep threads consistent (seed ${seed})`, async () => {
    const open = async () => {
      const settings = { ...backend().settings, max_queued_runs: 10, ...own };
      return serve(
        await openTestService({
          graphs: { marks: graph },
          settings,
          storage: await openStorage({ ...backend().settings, max_queued_runs: 10 }),
        }),
      );
    };
    const servers = [await open(), await open()];
    const clients = new Clients(servers, randomOf(seed));
    for (let count = 0; count < THREADS; count += 1) await clients.addThread();
    let left = OPERATIONS;
    const send = async () => {
      while (left-- > 0) await clients.act();
    };
    await Promise.all(Array.from({ length: CLIENTS }, send));
    for (const thread of clients.threads) await checkThread(servers[0] as TestServer, thread, clients);
  });
}

withPostgres("operations of two servers, on postgres", (postgres) =>
  declareTests(() => ({ settings: postgres.options() })),
);
withPostgres("operations of two servers, with queue postgres", (postgres) =>
  declareTests(() => ({ settings: postgres.options() }), { queue: "postgres", stream: "postgres" }),
);
onMongodb("operations of two servers", (backend) => declareTests(backend));
