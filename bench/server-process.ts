/** The server under measurement, in a process of its own. Loads the compiled sources, as users do. */
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import express from "express";
import type * as ServerModule from "../src/http/server.js";
import type { Settings } from "../src/config/settings.js";
import type * as ServiceModule from "../src/service.js";
import type * as OpenModule from "../src/storage/open.js";
import type { Storage, StorageOptions } from "../src/storage/storage.js";
import type * as LocksModule from "../src/storage/thread-locks.js";
import { compileGraphs, inFlight, QUESTION, type GraphName } from "./graphs.js";
import { countQueries, queryCount } from "./postgres.js";
import { readProfile, type ProfileEntry } from "./read-profile.js";
import { answerCalls, cpuMs } from "./rpc.js";

export interface OpenArguments {
  /** Folder of the compiled sources. */
  dist: string;
  scheme: "memory" | "sqlite" | "postgres";
  uri?: string;
  /** The schema on a PostgreSQL server. */
  schema?: string;
  /** Thread locks of this process alone, in place of the storage's. */
  ownLocks?: boolean;
  /** Further settings. */
  settings?: Partial<Settings>;
}

/** Longer than the pause between two rounds of the maintenance. */
const MAINTENANCE_MS = 7_000;

let service: ServiceModule.Service;
const profiler = new Session();

const api = {
  async open({ dist, scheme, uri, schema, ownLocks, settings: more }: OpenArguments): Promise<string> {
    if (scheme === "postgres") countQueries();
    const { openService } = (await load(dist, "service.js")) as typeof ServiceModule;
    const { startServer } = (await load(dist, "http/server.js")) as typeof ServerModule;
    const settings = {
      checkpointer_scheme: scheme,
      checkpointer_uri: uri,
      checkpointer_options: schema === undefined ? {} : { schema },
      ...more,
    };
    const storage = ownLocks ? await openWithOwnLocks(dist, settings) : undefined;
    service = await openService({ graphs: compileGraphs(), settings, storage });
    return (await startServer(service, { host: "127.0.0.1", port: 0 })).url;
  },

  /** Starts an Express application that answers what it is sent, in the same process. */
  openEcho(): Promise<string> {
    const app = express().use(express.json());
    app.post("/", (req, res) => void res.json(req.body));
    return new Promise((resolve) => {
      const server = app.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`);
      });
    });
  },

  cpu: cpuMs,

  queries: queryCount,

  /** Bytes that are alive: the heap and what hangs on it. */
  async heap(): Promise<number> {
    for (let turn = 0; turn < 3; turn += 1) {
      await sleep(50);
      (globalThis as { gc?: () => void }).gc?.();
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },

  async createThreads({ count }: { count: number }): Promise<void> {
    for (let index = 0; index < count; index += 1) await service.threads.create({});
  },

  /** Runs of g3, 200 tokens each, that their readers could take up again. */
  async resumableRuns({ count }: { count: number }): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const { frames } = await service.runs.streamStateless({
        assistant_id: "g3",
        input: QUESTION,
        stream_mode: ["messages-tuple"],
        on_disconnect: "continue",
      });
      let last = "";
      for await (const batch of frames) last = batch.at(-1)?.event ?? last;
      if (last !== "end") throw new Error(`a run ended with ${last}`);
    }
  },

  /** Put the clock forward, and give the maintenance the time to notice. */
  async passTime({ ms }: { ms: number }): Promise<void> {
    const now = Date.now.bind(Date);
    Date.now = () => now() + ms;
    await sleep(MAINTENANCE_MS);
  },

  /** Threads with one run of g1 each, a tenth of them in every team. */
  async createConversations({ count }: { count: number }): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const { thread_id } = await service.threads.create({ metadata: { team: `team ${index % 10}` } });
      await service.runs.create(thread_id, { assistant_id: "g1", input: QUESTION });
    }
  },

  /** A thread on which one run after another was made. Returns its id. */
  async createHistory(thread: { runs: number; graph: GraphName; input: unknown }): Promise<string> {
    const { thread_id } = await service.threads.create({});
    for (let run = 0; run < thread.runs; run += 1) {
      const { status } = await service.runs.create(thread_id, {
        assistant_id: thread.graph,
        input: thread.input,
      });
      if (status !== "success") throw new Error(`a run of ${thread.graph} ended as ${status}`);
    }
    return thread_id;
  },

  /** Runs that wait for one thread, one behind the other. Returns milliseconds a run. */
  async lineUp({ count }: { count: number }): Promise<number> {
    const { thread_id } = await service.threads.create({});
    const start = performance.now();
    let last = "";
    for (let index = 0; index < count; index += 1)
      last = (await service.runs.background(thread_id, { assistant_id: "g1", input: QUESTION })).run_id;
    await (
      await service.runs.join(thread_id, last)
    ).answer;
    return (performance.now() - start) / count;
  },

  /** Starts runs that wait, without HTTP. */
  async suspendRuns({ count }: { count: number }): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const { thread_id } = await service.threads.create({});
      await service.runs.stream(thread_id, { assistant_id: "suspended", input: { count: 0 } });
    }
  },

  inFlight: (): typeof inFlight => inFlight,

  async startProfile(): Promise<void> {
    profiler.connect();
    await profiler.post("Profiler.enable");
    await profiler.post("Profiler.start");
  },

  async stopProfile(): Promise<ProfileEntry[]> {
    const { profile } = await profiler.post("Profiler.stop");
    return readProfile(profile);
  },
};

export type ServerApi = typeof api;
answerCalls(api);

async function openWithOwnLocks(
  dist: string,
  settings: Pick<StorageOptions, "checkpointer_scheme" | "checkpointer_uri" | "checkpointer_options">,
): Promise<Storage> {
  const { openStorage } = (await load(dist, "storage/open.js")) as typeof OpenModule;
  const { createThreadLocks } = (await load(dist, "storage/thread-locks.js")) as typeof LocksModule;
  const maxWaiting = 100;
  const storage = await openStorage({ ...settings, max_queued_runs: maxWaiting });
  return { ...storage, locks: createThreadLocks({ maxWaiting }) };
}

const load = (dist: string, file: string): Promise<unknown> => import(pathToFileURL(join(dist, file)).href);
