/** The server under measurement, in a process of its own. Loads the compiled sources, as users do. */
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import express from "express";
import type * as ServerModule from "../src/http/server.js";
import type * as ServiceModule from "../src/service.js";
import { compileGraphs, inFlight, QUESTION, type GraphName } from "./graphs.js";
import { readProfile, type ProfileEntry } from "./read-profile.js";
import { answerCalls, cpuMs } from "./rpc.js";

export interface OpenArguments {
  /** Folder of the compiled sources. */
  dist: string;
  scheme: "memory" | "sqlite";
  uri?: string;
}

let service: ServiceModule.Service;
const profiler = new Session();

const api = {
  async open({ dist, scheme, uri }: OpenArguments): Promise<string> {
    const { openService } = (await load(dist, "service.js")) as typeof ServiceModule;
    const { startServer } = (await load(dist, "http/server.js")) as typeof ServerModule;
    const settings = { checkpointer_scheme: scheme, checkpointer_uri: uri };
    service = await openService({ graphs: compileGraphs(), settings });
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

const load = (dist: string, file: string): Promise<unknown> => import(pathToFileURL(join(dist, file)).href);
