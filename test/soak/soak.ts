/**
 * Minutes of mixed load against one server: `npm run test:all:soak -- [--minutes 15] [--storage
 * memory,sqlite]`. Fails if memory usage at the end is more than 10% above the usage after two minutes.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Client } from "@langchain/langgraph-sdk";
import { JOURNEYS } from "./journeys.js";

const MINUTE_MS = 60_000;
const MB = 1024 * 1024;
/** Warm-up before the first memory measurement: caches fill and code is compiled. */
const WARM_MINUTES = 2;
const MOST_GROWTH = 1.1;
/** Number of threads kept; older ones are deleted. */
const THREADS = 150;
/** Time between the starts of two journeys, in ms: uses about a third of a core. */
const PAUSE_MS = 150;
const MOST_UNDER_WAY = 40;
/** Time for running journeys to end and stalled readers to be disconnected before memory is measured, in ms. */
const SETTLE_MS = 12_000;
const SERVER = fileURLToPath(new URL("server.ts", import.meta.url));

const { values: flags } = parseArgs({
  options: {
    minutes: { type: "string", default: "15" },
    storage: { type: "string", default: "memory,sqlite" },
  },
});
const minutes = Number(flags.minutes);

const say = (text: string) => process.stdout.write(`${text}\n`);

class Soak {
  readonly #server: ChildProcess;
  readonly #url: string;
  readonly #client: Client;
  readonly #threads: string[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly counts = new Map<string, number>();
  /** The last failure of each journey. */
  readonly failures = new Map<string, string>();

  constructor(server: ChildProcess, url: string) {
    this.#server = server;
    this.#url = url;
    this.#client = new Client({ apiUrl: url, callerOptions: { maxRetries: 0 } });
  }

  /** Runs journeys in turn until this time. */
  async travel(until: number): Promise<void> {
    const names = Object.keys(JOURNEYS);
    for (let turn = 0; Date.now() < until; turn += 1) {
      const journey = this.#journey(names[turn % names.length] ?? "", turn);
      this.#underWay.add(journey);
      void journey.then(() => this.#underWay.delete(journey));
      await sleep(PAUSE_MS);
      // On a busy machine fewer journeys run instead of piling up.
      while (this.#underWay.size >= MOST_UNDER_WAY) await Promise.race(this.#underWay);
    }
  }

  async held(): Promise<number> {
    await Promise.all(this.#underWay);
    await sleep(SETTLE_MS);
    const answered = once(this.#server, "message") as Promise<[number]>;
    this.#server.send("memory");
    return (await answered)[0];
  }

  async #journey(name: string, turn: number): Promise<void> {
    const client = this.#client;
    const made: string[] = [];
    const thread = async () => {
      const { thread_id } = await client.threads.create();
      made.push(thread_id);
      return thread_id;
    };
    try {
      await JOURNEYS[name]?.({ client, url: this.#url, turn, thread });
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    } catch (error) {
      this.failures.set(name, String(error));
    }
    await this.#leaveBehind(made);
  }

  /** Records new threads and deletes the oldest ones above the limit. */
  async #leaveBehind(made: readonly string[]): Promise<void> {
    this.#threads.push(...made);
    for (const oldest of this.#threads.splice(0, Math.max(0, this.#threads.length - THREADS))) {
      // Some journeys delete their threads themselves.
      await this.#client.threads.delete(oldest).catch(() => undefined);
    }
  }
}

async function soak(scheme: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-soak-"));
  const settings = {
    checkpointer_scheme: scheme,
    ...(scheme === "sqlite" && { checkpointer_uri: join(folder, "soak.db") }),
    unread_timeout_seconds: 5,
  };
  const server = fork(SERVER, [JSON.stringify(settings)], { execArgv: ["--import", "tsx"] });
  try {
    const [url] = (await once(server, "message")) as [string];
    const work = new Soak(server, url);
    const begun = Date.now();
    const warm = Math.min(WARM_MINUTES, minutes / 3);
    await work.travel(begun + warm * MINUTE_MS);
    const before = await work.held();
    say(`${scheme}: after ${warm} min ${(before / MB).toFixed(1)} MB`);
    await work.travel(begun + minutes * MINUTE_MS);
    const after = await work.held();
    const growth = after / before;
    say(
      `${scheme}: after ${minutes} min ${(after / MB).toFixed(1)} MB, ${growth.toFixed(3)} times the size after warm-up`,
    );
    say(`${scheme}: ${[...work.counts].map(([name, count]) => `${name} ${count}`).join(", ")}`);
    for (const [name, failure] of work.failures) say(`${scheme}: ${name} failed: ${failure}`);
    return growth <= MOST_GROWTH && work.failures.size === 0;
  } finally {
    server.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

let isFlat = true;
for (const scheme of flags.storage.split(",")) isFlat = (await soak(scheme)) && isFlat;
process.exitCode = isFlat ? 0 : 1;
