import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientApi } from "./client-process.js";
import type { FloorApi } from "./floor-process.js";
import { createSchema } from "./postgres.js";
import { Peer } from "./rpc.js";
import type { OpenArguments, ServerApi } from "./server-process.js";

export interface BenchOptions {
  /** Folder of the compiled sources. */
  dist: string;
  /** The same of the revision to compare with. */
  otherDist?: string;
  rounds: number;
  /** Length of one load phase, in ms. */
  phaseMs: number;
  /** Factor for counts (requests, threads, runs); 1 for published results. */
  scale: number;
}

export type Client = Peer<ClientApi>;
export type Floor = Peer<FloorApi>;
/** `uri` is the storage URI, undefined for memory; `schema` is that of PostgreSQL. */
export type RunningServer = Peer<ServerApi> & { url: string; uri?: string; schema?: string };

/** Starts the processes of one goal and ends them with it. */
export class Stage {
  readonly options: BenchOptions;
  readonly #closers: (() => Promise<void>)[] = [];

  readonly #execArgv: readonly string[];

  /** @param execArgv options of Node for the measured processes */
  constructor(options: BenchOptions, execArgv: readonly string[] = []) {
    this.options = options;
    this.#execArgv = execArgv;
  }

  /**
   * @param env added to the environment of the server
   * @param dist another build to serve with
   */
  async server(
    scheme: "memory" | "sqlite" = "memory",
    env?: NodeJS.ProcessEnv,
    dist?: string,
  ): Promise<RunningServer> {
    const uri = scheme === "memory" ? undefined : await this.file("threads.db");
    return this.#serve({ scheme, uri, env }, dist);
  }

  /** Starts a server of the revision to compare with, by default on memory; returns undefined without one. */
  async otherServer(
    start: (dist: string) => Promise<RunningServer | undefined> = (dist) =>
      this.server("memory", undefined, dist),
  ): Promise<RunningServer | undefined> {
    const { otherDist } = this.options;
    return otherDist === undefined ? undefined : start(otherDist);
  }

  /** Starts a server on a new PostgreSQL schema; returns undefined without PostgreSQL. */
  async postgresServer(
    more: Pick<OpenArguments, "ownLocks" | "settings"> = {},
    dist?: string,
  ): Promise<RunningServer | undefined> {
    const created = await this.#schema();
    return created && this.#serve({ scheme: "postgres", ...more, ...created }, dist);
  }

  /** What users run: `graph-serve` of the measured build. */
  get bin(): string {
    return join(this.options.dist, "../bin/graph-serve.js");
  }

  get redisUri(): string {
    return process.env.GRAPH_SERVE_TEST_REDIS_URI ?? "redis://127.0.0.1:6379";
  }

  /**
   * Starts LangGraph's own PostgresSaver in process, or the saver of `dist`; returns undefined without
   * PostgreSQL.
   */
  async postgresFloor(dist?: string): Promise<Floor | undefined> {
    const created = await this.#schema();
    if (!created) return undefined;
    const floor = this.floor();
    await floor.call("usePostgres", { ...created, dist });
    return floor;
  }

  client(): Client {
    return this.#keep(new Peer<ClientApi>("client-process.ts"));
  }

  floor(execArgv: readonly string[] = []): Floor {
    return this.#keep(new Peer<FloorApi>("floor-process.ts", [...execArgv, ...this.#execArgv]));
  }

  async file(name: string): Promise<string> {
    return join(await this.#folder(), name);
  }

  /** Scales a count down for quick runs. */
  scaled(count: number, least = 1): number {
    return Math.max(least, Math.round(count * this.options.scale));
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
  }

  #keep<P extends { stop(): Promise<void> }>(peer: P): P {
    this.#closers.push(() => peer.stop());
    return peer;
  }

  async #serve(storage: Omit<OpenArguments, "dist">, dist = this.options.dist): Promise<RunningServer> {
    const peer = this.#keep(new Peer<ServerApi>("server-process.ts", ["--expose-gc", ...this.#execArgv]));
    const url = await peer.call("open", { dist, ...storage });
    return Object.assign(peer, { url, uri: storage.uri, schema: storage.schema });
  }

  async #schema(): Promise<{ uri: string; schema: string } | undefined> {
    const created = await createSchema();
    if (!created) return undefined;
    const { drop, ...schema } = created;
    this.#closers.push(drop);
    return schema;
  }

  async #folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-bench-"));
    this.#closers.push(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }
}
