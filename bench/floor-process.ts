/** The floor: the same graphs with LangGraph's MemorySaver and no server, in a process of their own. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import Database from "better-sqlite3";
import type { GraphConfig } from "../src/graphs/graph.js";
import type * as StorageModule from "../src/storage/open.js";
import type * as SaverModule from "../src/storage/sqlite/saver.js";
import type * as SchemaModule from "../src/storage/sqlite/schema.js";
import { compileGraphs, type BenchGraph, type GraphName } from "./graphs.js";
import { countQueries, queryCount } from "./postgres.js";
import { answerCalls, cpuMs, sharedClock } from "./rpc.js";

export interface FloorUnit {
  graph: GraphName;
  input: unknown;
  /** LangGraph's stream mode; the graph is invoked when left out. */
  stream?: string;
}

let graphs = compileGraphs(new MemorySaver());

const api = {
  /** From now on with LangGraph's own saver for PostgreSQL, as it comes, or with that of the sources in `dist`. */
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

  /** From now on with LangGraph's own saver for SQLite, or with that of the compiled sources in `dist`. */
  async useSqlite({ file, dist }: { file: string; dist?: string }): Promise<void> {
    const db = new Database(file);
    db.pragma("journal_mode = WAL");
    graphs = compileGraphs(dist === undefined ? new SqliteSaver(db) : await ourSaver(dist, db));
  },

  queries: queryCount,

  /** As the load of the clients, but in process. Returns units done, milliseconds taken and CPU used. */
  async load({ clients, ms, ...unit }: FloorUnit & { clients: number; ms: number }) {
    const start = performance.now();
    const cpu = cpuMs();
    let units = 0;
    const client = async (): Promise<void> => {
      while (performance.now() - start < ms) {
        await doUnit(unit);
        units += 1;
        // As in any process that gets its work from outside; a loop that never turns keeps what it has thrown away.
        await nextTurn();
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return { units, ms: performance.now() - start, cpuMs: cpuMs() - cpu };
  },

  /** Milliseconds from the making of each paced event to its arrival in the loop over the stream. */
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

  /** A thread on which one run after another was made. Returns its id. */
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

  /** Milliseconds of each reading of a thread's history, to JSON. */
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

  /** Milliseconds of each reading of a thread's state, to JSON. */
  timeState({ graph, thread, count }: { graph: GraphName; thread: string; count: number }) {
    return times(count, async () => JSON.stringify(await graphs[graph].getState(configOf(thread))));
  },
};

export type FloorApi = typeof api;
answerCalls(api);

async function ourSaver(dist: string, db: Database.Database): Promise<BaseCheckpointSaver> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(dist, "storage", file)).href);
  const { migrateSqlite: migrate } = (await load("sqlite-schema.js")) as typeof SchemaModule;
  const { SqliteSaver: OurSaver } = (await load("sqlite-saver.js")) as typeof SaverModule;
  migrate(db);
  return new OurSaver(db);
}

async function ourPostgresSaver(dist: string, uri: string, schema: string): Promise<BaseCheckpointSaver> {
  const { href } = pathToFileURL(join(dist, "storage", "open.js"));
  const { openStorage } = (await import(href)) as typeof StorageModule;
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

async function doUnit({ graph, input, stream }: FloorUnit): Promise<void> {
  if (!stream) return void (await graphs[graph].invoke(input, newThread()));
  const chunks = await graphs[graph].stream(input, { ...newThread(), streamMode: stream });
  for await (const chunk of chunks) JSON.stringify(chunk);
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
