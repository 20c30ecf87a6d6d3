/** Server processes that share one database, and the log that their graph writes. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import type { BillLine } from "../fixtures/graphs/billed.js";
import type { LedgerLine } from "../fixtures/graphs/ledger.js";
import type { TrailLine } from "../fixtures/graphs/trail.js";
import { client, type TestServer } from "./app.js";
import { forkProgram } from "./compiled.js";
import { withMongodb } from "./mongodb.js";
import { withPostgres } from "./postgres.js";
import { describeSqlite } from "./with-sqlite.js";
import { tempFolder } from "../storage/temp-folder.js";

const SHIFT = new URL("./shift-clock.mjs", import.meta.url).href;
/** For operations that take a second on an idle machine. */
export const PATIENCE = { timeout: 60_000, interval: 50 };

export class ServerProcess {
  readonly url: string;
  /** The official SDK without retries. */
  readonly client: Client;
  readonly request: TestServer["request"];
  readonly fetch: TestServer["fetch"];
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    this.client = new Client({ apiUrl: url, callerOptions: { maxRetries: 0 } });
    ({ request: this.request, fetch: this.fetch } = client(url));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Starts a background run. */
  async begin(thread_id: string, gate: string | null, more: object = {}): Promise<Run> {
    const input = { messages: [{ role: "user", content: gate ?? "go" }], gate, ...more };
    const body = { assistant_id: "ledger", input, if_not_exists: "create" };
    const headers = { Prefer: "respond-async" };
    const answer = await this.request("POST", `/threads/${thread_id}/runs`, body, headers);
    expect(answer.status).toBe(200);
    return answer.body as Run;
  }

  /** The row of a run, read through this server. */
  async run({ thread_id, run_id }: Pick<Run, "thread_id" | "run_id">): Promise<Run> {
    return (await this.client.runs.get(thread_id, run_id)) as unknown as Run;
  }

  /** Opens a gate for the runs of this process. */
  open(gate: string): void {
    this.#child.send({ open: gate });
  }

  /** Sets the clock offset of a process that was started with `shiftMs`, and resolves when it is set. */
  async shiftClock(shiftMs: number): Promise<void> {
    const done = once(this.#child, "message");
    this.#child.send({ shiftMs });
    await done;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  /** Resolves when the process has exited, for any reason. */
  async gone(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }

  /** Kills the process and resolves when it has exited. */
  async kill(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}

export class ServerProcesses {
  readonly #settings: () => Partial<Settings>;
  readonly #running: ServerProcess[] = [];
  #folder = "";

  constructor(settings: () => Partial<Settings>) {
    this.#settings = settings;
  }

  async prepare(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), "graph-serve-processes-"));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((server) => server.kill()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** The server with this process id. */
  withPid(pid: number | undefined): ServerProcess | undefined {
    return this.#running.find((server) => server.pid === pid);
  }

  /** Runs `work` for every started server. */
  all(work: (server: ServerProcess) => void): void {
    this.#running.forEach(work);
  }

  /** Kills all servers except `kept`. */
  async killOthers(kept?: ServerProcess): Promise<void> {
    await Promise.all(this.#running.filter((server) => server !== kept).map((server) => server.kill()));
  }

  /**
   * @param more settings for these servers only
   * @param shiftMs clock offset in milliseconds
   */
  async start(count: number, more: Partial<Settings> = {}, shiftMs?: number): Promise<ServerProcess[]> {
    const settings = JSON.stringify({ ...this.#settings(), ...more });
    return Promise.all(
      Array.from({ length: count }, async () => {
        const execArgv = shiftMs === undefined ? [] : ["--import", SHIFT];
        const env = { ...process.env, SHIFT_MS: String(shiftMs ?? 0) };
        const child = await forkProgram("serve-ledger", [settings, this.#log], { execArgv, env });
        const ended = new AbortController();
        child.once("exit", (code) =>
          ended.abort(new Error(`a server exited with code ${code} during startup`)),
        );
        const [url] = (await once(child, "message", { signal: ended.signal })) as [string];
        const server = new ServerProcess(child, url);
        this.#running.push(server);
        return server;
      }),
    );
  }

  async one(more?: Partial<Settings>): Promise<ServerProcess> {
    return (await this.start(1, more))[0] as ServerProcess;
  }

  /** The log lines that the graph wrote for a thread, in order. */
  ledger(thread: string): LedgerLine[] {
    const lines = this.#read().split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as LedgerLine).filter((line) => line.thread === thread);
  }

  /** The model calls that a provider has billed to runs of the graph `billed`. */
  bill(): BillLine[] {
    const lines = this.#read().split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as BillLine).filter(({ what }) => what === "bill");
  }

  /** The nodes that a run has started, in order; see `createTrails`. */
  nodes({ thread_id, run_id }: Pick<Run, "thread_id" | "run_id">): string[] {
    const lines = this.ledger(thread_id) as (LedgerLine | TrailLine)[];
    return lines.flatMap((line) => (line.what === "node" && line.run === run_id ? line.node : []));
  }

  /** Fails if two runs of a thread overlapped. A run of a killed process counts as ended. */
  expectTurns(thread: string, killed: readonly ServerProcess[] = []): void {
    const dead = new Set(killed.map(({ pid }) => pid));
    let inFlight: LedgerLine | undefined;
    for (const line of this.ledger(thread)) {
      if (line.what === "begin") {
        if (inFlight && !dead.has(inFlight.pid)) expect.fail(`${line.run} began during ${inFlight.run}`);
        inFlight = line;
      } else {
        expect(line.run).toBe(inFlight?.run);
        inFlight = undefined;
      }
    }
  }

  /** Resolves when the first node of a run has executed. */
  async begun({ thread_id, run_id }: Pick<Run, "thread_id" | "run_id">): Promise<void> {
    await expect.poll(() => this.ledger(thread_id).some(({ run }) => run === run_id), PATIENCE).toBe(true);
  }

  get #log(): string {
    return join(this.#folder, "ledger.log");
  }

  #read(): string {
    try {
      return readFileSync(this.#log, "utf8");
    } catch {
      return "";
    }
  }
}

/** Declares tests with several servers on one database. The servers stop at the end of each test. */
export function onServers(
  settings: () => Partial<Settings>,
  declare: (servers: ServerProcesses) => void,
): void {
  const servers = new ServerProcesses(settings);
  beforeAll(() => servers.prepare());
  afterAll(() => servers.stop());
  declare(servers);
}

/** Like `onServers`, for every backend that processes can share. `more` are additional settings. */
export function onSharedBackends(
  title: string,
  declare: (servers: ServerProcesses) => void,
  more: Partial<Settings> = {},
): void {
  withPostgres(`${title} on postgres`, (postgres) =>
    onServers(() => ({ ...settingsOf(postgres.options()), ...more }), declare),
  );
  withMongodb(`${title} on mongodb`, (mongodb) =>
    onServers(() => ({ ...settingsOf(mongodb().options()), ...more }), declare),
  );
}

/** Like `onServers`, for one SQLite file. */
export function onSqliteServers(title: string, declare: (servers: ServerProcesses) => void): void {
  describeSqlite(`${title} on sqlite`, () => {
    const settings = { checkpointer_scheme: "sqlite", checkpointer_uri: tempFolder()("threads.db") };
    onServers(() => settings, declare);
  });
}

/** Uses the default queue length of a server. */
export function settingsOf({
  checkpointer_scheme,
  checkpointer_uri,
  checkpointer_options,
}: Pick<Settings, "checkpointer_scheme" | "checkpointer_options"> & {
  checkpointer_uri?: string;
}): Partial<Settings> {
  return { checkpointer_scheme, checkpointer_uri, checkpointer_options };
}
