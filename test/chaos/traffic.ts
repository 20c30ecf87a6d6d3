/** Clients: create runs one after another on each thread and follow most of them, on any server. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../../src/support/ids.js";
import { readEvents, type SseEvent } from "../helpers/sse.js";
import type { Random } from "./random.js";

export interface Accepted {
  thread: string;
  run: string;
  /** Prefix of the run's entries in `trail`. */
  tag: string;
}

/** Frames that the reader of a run received over all its connections. */
export interface Followed extends Accepted {
  events: SseEvent[];
  connections: number;
  /** Whether the last frame was received. */
  isWhole: boolean;
}

export interface TrafficOptions {
  urls: readonly string[];
  runs: number;
  threads: number;
  random: Random;
  /** Time over which the runs are created, in ms. */
  ms: number;
}

const FOLLOWED = 0.7;
const PAUSE_MS = 250;
const ASK_MS = 10_000;

export class Traffic {
  readonly accepted: Accepted[] = [];
  readonly followed: Followed[] = [];
  /** Tags of requests without a response; it is unknown whether their runs were created. */
  readonly unknown: string[] = [];
  readonly #options: TrafficOptions;
  readonly #readers: Promise<void>[] = [];
  readonly #over = new AbortController();
  #made = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
    // Every connection of a reader adds a listener.
    setMaxListeners(0, this.#over.signal);
  }

  /** Resolves when all runs have been created. */
  async make(): Promise<void> {
    const { threads } = this.#options;
    await Promise.all(Array.from({ length: threads }, () => this.#thread(newId())));
  }

  /** Resolves when all readers are done, at the latest when `end` aborts. */
  async followers(end: AbortSignal): Promise<void> {
    const leave = () => this.#over.abort();
    end.addEventListener("abort", leave);
    if (end.aborted) leave();
    await Promise.all(this.#readers);
  }

  async #thread(thread: string): Promise<void> {
    const { runs, threads, ms, random } = this.#options;
    const pauseMs = (ms / runs) * threads;
    while (this.#made < runs) {
      this.#made += 1;
      await this.#make(thread, String(this.#made));
      await sleep(random() * 2 * pauseMs);
    }
  }

  async #make(thread: string, tag: string): Promise<void> {
    const { random } = this.#options;
    const body = { assistant_id: "chain", input: { tag, trail: [`${tag}:in`] }, if_not_exists: "create" };
    try {
      const answer = await fetch(`${this.#anyUrl()}/threads/${thread}/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", prefer: "respond-async" },
        body: JSON.stringify({ ...body, stream_mode: ["custom", "values"], stream_resumable: true }),
        signal: AbortSignal.timeout(ASK_MS),
      });
      const { run_id } = (await answer.json()) as { run_id?: string };
      // A rejected request created no run.
      if (!answer.ok || run_id === undefined) return;
      const accepted = { thread, run: run_id, tag };
      this.accepted.push(accepted);
      if (random() < FOLLOWED) this.#readers.push(this.#follow(accepted));
    } catch {
      this.unknown.push(tag);
    }
  }

  /** Reconnects to any server after the last received frame. */
  async #follow(accepted: Accepted): Promise<void> {
    const followed: Followed = { ...accepted, events: [], connections: 0, isWhole: false };
    this.followed.push(followed);
    while (!followed.isWhole && !this.#over.signal.aborted) {
      followed.connections += 1;
      await this.#read(followed).catch(() => undefined);
      if (!followed.isWhole) await sleep(PAUSE_MS);
    }
  }

  async #read(followed: Followed): Promise<void> {
    const { thread, run, events } = followed;
    const last = events.findLast(({ id }) => id !== undefined)?.id ?? "-1";
    const answer = await fetch(`${this.#anyUrl()}/threads/${thread}/runs/${run}/stream`, {
      headers: { "last-event-id": last },
      signal: this.#over.signal,
    });
    if (!answer.ok) return void (await answer.body?.cancel());
    for await (const event of readEvents(answer)) {
      events.push(event);
      if (event.event === "end" || event.event === "error") followed.isWhole = true;
    }
  }

  #anyUrl(): string {
    const { urls, random } = this.#options;
    return urls[Math.floor(random() * urls.length)] ?? "";
  }
}
