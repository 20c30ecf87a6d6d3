/**
 * Servers are killed or stopped, and started again, while runs with webhooks are accepted, delayed, cancelled and executed:
 * each is carried out once and not too early, and its one end is posted, again after a failed delivery.
 */
import { expect } from "vitest";
import type { Run } from "../../src/models/run.js";
import type { Thread } from "../../src/models/thread.js";
import { newId } from "../../src/support/ids.js";
import { type KilledServers, onKilledServers } from "../helpers/killed-servers.js";
import { PATIENCE } from "../helpers/server-processes.js";
import { type Receiver, startReceiver, webhooks } from "../helpers/webhook-receiver.js";

const CLIENTS = 4;
/** Number of runs of each client. */
const RUNS = 6;
/** Number of accepted runs after which a server ends. */
const KILLED_EVERY = 6;

interface Sent {
  run: Run;
  mark: string;
  delaySeconds: number;
  isCancelled: boolean;
}

class Senders {
  readonly #killed: KilledServers;
  readonly #receiver: Receiver;
  #accepted = 0;

  constructor(killed: KilledServers, receiver: Receiver) {
    this.#killed = killed;
    this.#receiver = receiver;
  }

  async onThread(): Promise<void> {
    const { thread_id } = await this.#ask<Thread>("POST", "/threads", {});
    const all: Sent[] = [];
    for (let index = 0; index < RUNS; index += 1) all.push(await this.#send(thread_id));
    for (const sent of all) await this.#check(sent);
    const own = all.map(({ run }) => run).filter((run) => run.thread_id === thread_id);
    const listed = await this.#ask<Run[]>("GET", `/threads/${thread_id}/runs`);
    const ids = (runs: Run[]) => runs.map(({ run_id }) => run_id).sort();
    expect(ids(listed)).toEqual(ids(own));
  }

  /** Requests a run on the thread, or on one of its own, and may cancel it. */
  async #send(thread: string): Promise<Sent> {
    const { random, pick } = this.#killed;
    const mark = newId();
    const delaySeconds = pick([0, 0, 1, 2]);
    const body = {
      assistant_id: "marks",
      input: { mark },
      durability: pick(["sync", "async", "exit"]),
      webhook: this.#receiver.url,
      ...(delaySeconds > 0 && { after_seconds: delaySeconds }),
    };
    const headers = { "Idempotency-Key": mark, prefer: "respond-async" };
    const isStateless = random() < 0.3;
    const run = isStateless
      ? await this.#ask<Run>("POST", "/runs", { ...body, on_completion: "keep" }, headers)
      : await this.#ask<Run>("POST", `/threads/${thread}/runs`, body, headers);
    this.#accepted += 1;
    if (this.#accepted % KILLED_EVERY === 0) await this.#killed.kill();
    const isCancelled = random() < 0.2;
    // 409: it has ended already.
    if (isCancelled)
      await this.#ask("POST", `/threads/${run.thread_id}/runs/${run.run_id}/cancel`, {}, {}, 409);
    return { run, mark, delaySeconds, isCancelled };
  }

  async #check({ run: { run_id, thread_id }, mark, delaySeconds, isCancelled }: Sent): Promise<void> {
    const read = () => this.#ask<Run>("GET", `/threads/${thread_id}/runs/${run_id}`);
    await expect.poll(async () => (await read()).status, PATIENCE).not.toMatch(/pending|running/);
    const run = await read();
    const hasSucceeded = run.status === "success";
    expect(hasSucceeded || isCancelled, JSON.stringify(run)).toBe(true);
    const { values } = await this.#ask<Thread>("GET", `/threads/${thread_id}`);
    const { log = [] } = (values ?? {}) as { log?: string[] };
    const own = log.filter((line) => line.startsWith(mark));
    // A cancelled run keeps the supersteps that it finished.
    expect([`${mark} one`, `${mark} two`].slice(0, hasSucceeded ? 2 : own.length)).toEqual(own);
    const waitedMs = Date.parse(run.updated_at) - Date.parse(run.created_at);
    if (hasSucceeded) expect(waitedMs).toBeGreaterThanOrEqual(delaySeconds * 1000);
    const posted = () => this.#receiver.received.filter((webhook) => webhook.run.run_id === run_id);
    await expect.poll(() => posted().length, PATIENCE).toBeGreaterThan(0);
    expect(new Set(posted().map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(posted().map((webhook) => webhook.run.status))).toEqual(new Set([run.status]));
  }

  async #ask<T>(method: string, path: string, body?: object, headers = {}, also = 200): Promise<T> {
    const { status, text, body: answer } = await this.#killed.ask(method, path, body, headers);
    const isExpected = status === also || (status >= 200 && status < 300);
    expect(isExpected, `${method} ${path} ${JSON.stringify(body)} -> ${status} ${text}`).toBe(true);
    return answer as T;
  }
}

onKilledServers(
  "post the end of each run",
  async (killed) => {
    const receiver = await startReceiver();
    receiver.answers.push(500, 204, 204, 500, 503);
    const senders = new Senders(killed, receiver);
    await Promise.all(Array.from({ length: CLIENTS }, () => senders.onThread()));
  },
  { webhooks, delayed_runs: true },
);
