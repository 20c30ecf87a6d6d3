/** The measured server, in a separate process. Loads the compiled sources, as users do. */
import { setTimeout as sleep } from "node:timers/promises";
import express from "express";
import type * as ServerModule from "../src/http/server.js";
import type { Settings } from "../src/config/settings.js";
import type * as ServiceModule from "../src/service/open.js";
import type { Service } from "../src/service/service.js";
import type * as OpenModule from "../src/storage/open.js";
import type { Storage, StorageOptions } from "../src/storage/contract/storage.js";
import type * as LocksModule from "../src/storage/locks/thread-locks.js";
import { compileGraphs, inFlight, QUESTION, type GraphName } from "./graphs.js";
import { Counters, type Counts } from "./counters.js";
import { loadDist } from "./dist-modules.js";
import { countQueries, queryCount } from "./postgres.js";
import { profiling } from "./profiler.js";
import { answerCalls, cpuMs } from "./rpc.js";

export interface OpenArguments {
  /** Folder of the compiled sources. */
  dist: string;
  scheme: "memory" | "sqlite" | "postgres";
  uri?: string;
  schema?: string;
  /** Uses process-local thread locks instead of the storage's locks. */
  ownLocks?: boolean;
  settings?: Partial<Settings>;
  env?: NodeJS.ProcessEnv;
}

/** Longer than the interval of maintenance, in ms. */
const MAINTENANCE_MS = 7_000;

let service: Service;
const counters = new Counters();

const api = {
  async open({ dist, scheme, uri, schema, ownLocks, settings: more, env }: OpenArguments): Promise<string> {
    Object.assign(process.env, env);
    if (scheme === "postgres") countQueries();
    const { openService } = await loadDist<typeof ServiceModule>(dist, "service");
    const { startServer } = await loadDist<typeof ServerModule>(dist, "server");
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

  /** Starts an Express app that echoes its requests, in the same process. */
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

  /** Live bytes: the heap and its external memory. */
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

  /** Runs g3, with 200 tokens each, so that readers could resume the streams. */
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

  /** Advances the clock and waits for maintenance to run. */
  async passTime({ ms }: { ms: number }): Promise<void> {
    const now = Date.now.bind(Date);
    Date.now = () => now() + ms;
    await sleep(MAINTENANCE_MS);
  },

  /** Creates threads with one run of g1 each; every team has a tenth of them. */
  async createConversations({ count }: { count: number }): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const { thread_id } = await service.threads.create({ metadata: { team: `team ${index % 10}` } });
      await service.runs.create(thread_id, { assistant_id: "g1", input: QUESTION });
    }
  },

  /** Creates a thread with several runs in sequence. Returns its id. */
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

  /** Enqueues runs on one thread. Returns milliseconds per run. */
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

  /** Starts waiting runs, without HTTP. */
  async suspendRuns({ count }: { count: number }): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const { thread_id } = await service.threads.create({});
      await service.runs.stream(thread_id, { assistant_id: "suspended", input: { count: 0 } });
    }
  },

  inFlight: (): typeof inFlight => inFlight,

  startCounting: (): Promise<void> => counters.start(),

  stopCounting: (): Promise<Counts> => counters.stop(),

  ...profiling,
};

export type ServerApi = typeof api;
answerCalls(api);

async function openWithOwnLocks(
  dist: string,
  settings: Pick<StorageOptions, "checkpointer_scheme" | "checkpointer_uri" | "checkpointer_options">,
): Promise<Storage> {
  const { openStorage } = await loadDist<typeof OpenModule>(dist, "openStorage");
  const { createThreadLocks } = await loadDist<typeof LocksModule>(dist, "threadLocks");
  const maxWaiting = 100;
  const storage = await openStorage({ ...settings, max_queued_runs: maxWaiting });
  return { ...storage, locks: createThreadLocks({ maxWaiting }) };
}
