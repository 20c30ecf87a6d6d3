/** The floor: the same graphs with LangGraph's MemorySaver and no server, in a separate process. */
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import Database from "better-sqlite3";
import type { GraphConfig } from "../src/graphs/graph.js";
import type * as StorageModule from "../src/storage/open.js";
import type * as SaverModule from "../src/storage/sqlite/saver.js";
import type * as SchemaModule from "../src/storage/sqlite/schema.js";
import { compileGraphs, type BenchGraph, type GraphName } from "./graphs.js";
import { Counters, type Counts } from "./counters.js";
import { loadDist } from "./dist-modules.js";
import { countQueries, queryCount } from "./postgres.js";
import { profiling } from "./profiler.js";
import { answerCalls, cpuMs, sharedClock } from "./rpc.js";

export interface FloorUnit {
  graph: GraphName;
  input: unknown;
  /** LangGraph's stream mode; without it the graph is invoked. */
  stream?: string;
}

const counters = new Counters();
let graphs = compileGraphs(new MemorySaver());

const api = {
  /** Switches to LangGraph's own saver for PostgreSQL, or to the saver of the compiled sources in `dist`. */
  async usePostgres({ uri, schema, dist }: { uri: string; schema: string; dist?: string }): Promise<void> {
    countQueries();
    if (dist !== undefined) {
      graphs = compileGraphs(await ourPostgresSaver(dist, uri, schema));
      return;
    }
    const saver = PostgresSaver.fromConnString(uri, { schema });
    await saver.setup();
    graphs = compileGraphs(saver);
  },

  /** Switches to LangGraph's own saver for SQLite, or to the saver of the compiled sources in `dist`. */
  async useSqlite({ file, dist }: { file: string; dist?: string }): Promise<void> {
    const db = new Database(file);
    db.pragma("journal_mode = WAL");
    graphs = compileGraphs(dist === undefined ? await langgraphSaver(db) : await ourSaver(dist, db));
  },

  queries: queryCount,

  /** Applies the clients' load in process. Returns finished units, elapsed milliseconds and CPU time. */
  async load({ clients, ms, ...unit }: FloorUnit & { clients: number; ms: number }) {
    const start = performance.now();
    const cpu = cpuMs();
    let units = 0;
    const client = async (): Promise<void> => {
      while (performance.now() - start < ms) {
        await doUnit(unit);
        units += 1;
        // Turns the event loop as any process does that receives work; otherwise garbage is not released.
        await nextTurn();
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return { units, ms: performance.now() - start, cpuMs: cpuMs() - cpu };
  },

  /** Runs the unit `count` times in sequence. Returns the milliseconds to the first chunk of each run. */
  async firstChunks({ count, ...unit }: FloorUnit & { count: number }): Promise<number[]> {
    const times: number[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      const start = performance.now();
      let first = 0;
      await doUnit(unit, () => (first ||= performance.now()));
      times.push(first - start);
    }
    return times;
  },

  /** Runs the unit `units` times in sequence and counts its costs. */
  async count({ units, ...unit }: FloorUnit & { units: number }): Promise<Counts> {
    await counters.start();
    for (let index = 0; index < units; index += 1) await doUnit(unit);
    return counters.stop();
  },

  /** Returns the milliseconds from the creation of each paced event to its arrival in the stream loop. */
  async pace({ clients, count }: { clients: number; count: number }): Promise<number[]> {
    const delays: number[] = [];
    const client = async (_: unknown, index: number): Promise<void> => {
      await sleep((20 * index) / clients);
      const chunks = await graphs.paced.stream({ count }, { ...newThread(), streamMode: "custom" });
      for await (const chunk of chunks) delays.push(sharedClock() - (chunk as { at: number }).at);
    };
    await Promise.all(Array.from({ length: clients }, client));
    return delays;
  },

  /** Creates a thread with several runs in sequence. Returns its id. */
  async createHistory({
    runs,
    graph,
    input,
  }: {
    runs: number;
    graph: GraphName;
    input: unknown;
  }): Promise<string> {
    const config = newThread();
    for (let run = 0; run < runs; run += 1) await graphs[graph].invoke(input, config);
    return config.configurable.thread_id;
  },

  /** Returns the milliseconds of each read of a thread's history, converted to JSON. */
  timeHistory({
    graph,
    thread,
    limit,
    count,
  }: {
    graph: GraphName;
    thread: string;
    limit: number;
    count: number;
  }) {
    return times(count, () => historyJson(graphs[graph], thread, limit));
  },

  /** Returns the milliseconds of each read of a thread's state, converted to JSON. */
  timeState({ graph, thread, count }: { graph: GraphName; thread: string; count: number }) {
    return times(count, async () => JSON.stringify(await graphs[graph].getState(configOf(thread))));
  },

  ...profiling,
};

export type FloorApi = typeof api;
answerCalls(api);

/** Not a dependency: it requires a built better-sqlite3, without which `npm ci` must work. */
const LANGGRAPH_SQLITE = "@langchain/langgraph-checkpoint-sqlite";

async function langgraphSaver(db: Database.Database): Promise<BaseCheckpointSaver> {
  type Module = { SqliteSaver: new (db: Database.Database) => BaseCheckpointSaver };
  const { SqliteSaver } = (await import(LANGGRAPH_SQLITE).catch((cause: unknown) => {
    throw new Error(`run: npm install --no-save ${LANGGRAPH_SQLITE}@1.0.4`, { cause });
  })) as Module;
  return new SqliteSaver(db);
}

async function ourSaver(dist: string, db: Database.Database): Promise<BaseCheckpointSaver> {
  const { migrateSqlite } = await loadDist<typeof SchemaModule>(dist, "sqliteSchema");
  const { SqliteSaver: OurSaver } = await loadDist<typeof SaverModule>(dist, "sqliteSaver");
  migrateSqlite(db);
  return new OurSaver(db);
}

async function ourPostgresSaver(dist: string, uri: string, schema: string): Promise<BaseCheckpointSaver> {
  const { openStorage } = await loadDist<typeof StorageModule>(dist, "openStorage");
  const { checkpointer } = await openStorage({
    checkpointer_scheme: "postgres",
    checkpointer_uri: uri,
    checkpointer_options: { schema },
    max_queued_runs: 1,
  });
  return checkpointer;
}

const configOf = (thread: string) => ({ configurable: { thread_id: thread } }) satisfies GraphConfig;
const newThread = () => configOf(randomUUID());

async function doUnit({ graph, input, stream }: FloorUnit, onChunk?: () => void): Promise<void> {
  if (!stream) return void (await graphs[graph].invoke(input, newThread()));
  const chunks = await graphs[graph].stream(input, { ...newThread(), streamMode: stream });
  for await (const chunk of chunks) {
    onChunk?.();
    JSON.stringify(chunk);
  }
}

async function historyJson(graph: BenchGraph, thread: string, limit: number): Promise<string> {
  const states: unknown[] = [];
  for await (const state of graph.getStateHistory(configOf(thread), { limit })) states.push(state);
  return JSON.stringify(states);
}

async function times(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const start = performance.now();
    await work();
    taken.push(performance.now() - start);
  }
  return taken;
}
