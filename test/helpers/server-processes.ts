/** Servers in processes of their own that share one database, and the log that their graph writes. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import type { LedgerLine } from "../fixtures/graphs/ledger.js";
import type { TrailLine } from "../fixtures/graphs/trail.js";
import { client, type TestServer } from "./app.js";
import { withMongodb } from "./mongodb.js";
import { withPostgres } from "./postgres.js";

const SERVER = fileURLToPath(new URL("../fixtures/serve-ledger.ts", import.meta.url));
const SHIFT = new URL("./shift-clock.mjs", import.meta.url).href;
/** For what takes a second on an idle machine. */
export const PATIENCE = { timeout: 60_000, interval: 50 };

export class ServerProcess {
  readonly url: string;
  /** The official SDK; a call that fails is not tried again. */
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

  /** A run of the background. */
  async begin(thread_id: string, gate: string | null, more: object = {}): Promise<Run> {
    const input = { messages: [{ role: "user", content: gate ?? "go" }], gate, ...more };
    const body = { assistant_id: "ledger", input, if_not_exists: "create" };
    const headers = { Prefer: "respond-async" };
    const answer = await this.request("POST", `/threads/${thread_id}/runs`, body, headers);
    expect(answer.status).toBe(200);
    return answer.body as Run;
  }

  /** The row of a run, as this server tells it. */
  async run({ thread_id, run_id }: Pick<Run, "thread_id" | "run_id">): Promise<Run> {
    return (await this.client.runs.get(thread_id, run_id)) as unknown as Run;
  }

  /** Let the runs of this process pass a gate. */
  open(gate: string): void {
    this.#child.send({ open: gate });
  }

  /** Set how wrong the clock of this process is; for one that was started with a shifted clock. */
  shiftClock(shiftMs: number): void {
    this.#child.send({ shiftMs });
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  /** Resolves when the process is gone, whatever ended it. */
  async gone(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }

  /** Resolves when the process is gone. */
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

  /** Those that were started. */
  all(work: (server: ServerProcess) => void): void {
    this.#running.forEach(work);
  }

  /** Kill all but one. */
  async killOthers(kept?: ServerProcess): Promise<void> {
    await Promise.all(this.#running.filter((server) => server !== kept).map((server) => server.kill()));
  }

  /**
   * @param more settings of these alone
   * @param shiftMs how wrong their clocks are
   */
  async start(count: number, more: Partial<Settings> = {}, shiftMs?: number): Promise<ServerProcess[]> {
    const settings = JSON.stringify({ ...this.#settings(), ...more });
    return Promise.all(
      Array.from({ length: count }, async () => {
        const execArgv = ["--import", "tsx", ...(shiftMs === undefined ? [] : ["--import", SHIFT])];
        const env = { ...process.env, SHIFT_MS: String(shiftMs ?? 0) };
        const child = fork(SERVER, [settings, this.#log], { execArgv, env });
        const ended = new AbortController();
        child.once("exit", (code) => ended.abort(new Error(`a server ended with ${code} while it started`)));
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

  /** What the graph wrote of a thread, in the order in which it came about. */
  ledger(thread: string): LedgerLine[] {
    const lines = this.#read().split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as LedgerLine).filter((line) => line.thread === thread);
  }

  /** The nodes of a run that began, in their order; see `createTrails`. */
  nodes({ thread_id, run_id }: Pick<Run, "thread_id" | "run_id">): string[] {
    const lines = this.ledger(thread_id) as (LedgerLine | TrailLine)[];
    return lines.flatMap((line) => (line.what === "node" && line.run === run_id ? line.node : []));
  }

  /** Fails when two runs were in flight on a thread at once; a run of a process that was killed is over. */
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

  /** Resolves when a run has begun: its first node has executed. */
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

/** Declare tests of several servers on one database; the servers end with the tests. */
export function onServers(
  settings: () => Partial<Settings>,
  declare: (servers: ServerProcesses) => void,
): void {
  const servers = new ServerProcesses(settings);
  beforeAll(() => servers.prepare());
  afterAll(() => servers.stop());
  declare(servers);
}

/** As `onServers`, for each backend that several processes may share; `more` are other settings than its own. */
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

/** The queue is as long as that of a server with default settings. */
export function settingsOf({
  checkpointer_scheme,
  checkpointer_uri,
  checkpointer_options,
}: Pick<Settings, "checkpointer_scheme" | "checkpointer_options"> & {
  checkpointer_uri?: string;
}): Partial<Settings> {
  return { checkpointer_scheme, checkpointer_uri, checkpointer_options };
}
