/**
 * Servers are killed or stopped, and started again, while clients answer the questions of runs and repeat each request until
 * it is answered: each request is carried out once, and each answer reaches the question that it was given for.
 */
import { expect } from "vitest";
import type { Run } from "../../src/models/run.js";
import type { ThreadState } from "../../src/models/state.js";
import type { Thread } from "../../src/models/thread.js";
import { newId } from "../../src/support/ids.js";
import { pause } from "../../src/support/pause.js";
import { type KilledServers, onKilledServers } from "../helpers/killed-servers.js";

const CLIENTS = 6;
/** Number of conversations of each client, all on its own thread. */
const CONVERSATIONS = 4;
/** Number of accepted runs after which a server ends. */
const KILLED_EVERY = 8;
class Conversations {
  readonly #killed: KilledServers;
  #accepted = 0;

  constructor(killed: KilledServers) {
    this.#killed = killed;
  }

  async onThread(): Promise<void> {
    const { thread_id } = await this.#ask<Thread>("POST", "/threads", {});
    const expected: string[] = [];
    for (let index = 0; index < CONVERSATIONS; index += 1) {
      const [mark, first, second] = [newId(), newId(), newId()];
      const asked = await this.#run(thread_id, { input: { mark } });
      expect(asked.status, JSON.stringify(asked)).toBe("interrupted");
      expect(await this.#question(thread_id)).toBe(`${mark} first`);
      await this.#run(thread_id, { command: { resume: first } });
      expect(await this.#question(thread_id)).toBe(`${mark} second`);
      const answered = await this.#run(thread_id, { command: { resume: second } });
      expect(answered.status).toBe("success");
      expected.push(`${mark} begins`, `${mark} ${first} ${second}`);
      expect((await this.#state(thread_id)).values).toMatchObject({ log: expected });
    }
    const runs = await this.#ask<Run[]>("GET", `/threads/${thread_id}/runs?limit=1000`);
    expect(runs).toHaveLength(3 * CONVERSATIONS);
  }

  /** The run once it has ended. */
  async #run(thread: string, request: object): Promise<Run> {
    const path = `/threads/${thread}/runs`;
    const durability = this.#killed.pick(["sync", "async", "exit"]);
    const body = { assistant_id: "questions", durability, on_disconnect: "continue", ...request };
    const headers = {
      "Idempotency-Key": newId(),
      ...(this.#killed.random() < 0.5 && { prefer: "respond-async" }),
    };
    const { run_id } = await this.#ask<Run>("POST", path, body, headers);
    this.#accepted += 1;
    if (this.#accepted % KILLED_EVERY === 0) await this.#killed.kill();
    for (;;) {
      const run = await this.#ask<Run>("GET", `${path}/${run_id}`);
      if (run.status !== "pending" && run.status !== "running") return run;
      await pause(20, undefined);
    }
  }

  async #question(thread: string): Promise<unknown> {
    const { tasks } = await this.#state(thread);
    const pending = tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value));
    return pending.length === 1 ? pending[0] : pending;
  }

  #state(thread: string): Promise<ThreadState> {
    return this.#ask<ThreadState>("GET", `/threads/${thread}/state`);
  }

  async #ask<T>(method: string, path: string, body?: object, headers = {}): Promise<T> {
    const { status, text, body: answer } = await this.#killed.ask(method, path, body, headers);
    expect(status, `${method} ${path} ${JSON.stringify(body)} -> ${text}`).toBe(200);
    return answer as T;
  }
}

onKilledServers("carry out each answer once", async (killed) => {
  const conversations = new Conversations(killed);
  await Promise.all(Array.from({ length: CLIENTS }, () => conversations.onThread()));
});
