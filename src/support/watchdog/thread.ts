/** The watchdog's thread: see ./watchdog.ts. It shares nothing with the main thread that could keep it waiting. */
import { writeSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { inspectStalledThread } from "./stalled-thread.js";
import {
  CULPRIT,
  type Culprit,
  DEADLINE,
  DEBUGGED,
  LAST_RUN,
  TICK_MS,
  TICKS,
  type ThreadMessage,
  type ThreadOptions,
} from "./protocol.js";

const options = workerData as ThreadOptions;
const state = new Int32Array(options.memory, 0, LAST_RUN / Int32Array.BYTES_PER_ELEMENT);

/** Longest wait for the main thread to say what it executes. */
const ASK_MS = 3_000;
/** What the main thread has more than its deadline, to end by itself. */
const SPARE_MS = 1_000;
/** A process that was stopped, or whose machine slept, was not stalled meanwhile. */
const LONGEST_STEP_MS = 2 * TICK_MS;
const STDERR = 2;
const ERROR_LEVEL = 50;

let lastTick = Atomics.load(state, TICKS);
let lastLook = performance.now();
let stalledMs = 0;
let endsInMs: number | undefined;
/** Set while a stall is known; `named` settles once it is logged, with its culprit where that is known. */
let stall: { culprit: Culprit; named: Promise<void> } | undefined;
let isEnding = false;

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/** One line as the server logs it, written here: the main thread's stream waits for its event loop. */
function log(fields: object, message: string): void {
  if (options.format === "none") return;
  const line =
    options.format === "json"
      ? JSON.stringify({ level: ERROR_LEVEL, time: Date.now(), ...fields, msg: message })
      : ["error", message, ...Object.entries(fields).map(([key, value]) => `${key}=${value}`)].join(" ");
  try {
    writeSync(STDERR, `${line}\n`);
  } catch {
    // A full or closed pipe must not end the watchdog.
  }
}

function look(): void {
  const now = performance.now();
  const step = Math.min(now - lastLook, LONGEST_STEP_MS);
  lastLook = now;
  const tick = Atomics.load(state, TICKS);
  if (tick !== lastTick || Atomics.load(state, DEBUGGED) === 1) {
    lastTick = tick;
    recover();
  } else stalledMs += step;
  countDown(step);
  if (stalledMs < options.stall_warning_seconds * 1000) return;
  if (!stall) {
    stall = { culprit: {}, named: Promise.resolve() };
    stall.named = name(stall);
  }
  const { stall_exit_seconds } = options;
  if (stall_exit_seconds > 0 && stalledMs >= stall_exit_seconds * 1000)
    void end(
      "the event loop was stalled for stall_exit_seconds: the process is killed, for its supervisor to restart it",
      () => stall !== undefined && Atomics.load(state, TICKS) === lastTick,
    );
}

function recover(): void {
  if (stall) tell({ kind: "recovered", seconds: seconds(stalledMs) });
  stall = undefined;
  stalledMs = 0;
}

/** Graceful shutdown has a limit also where the main thread cannot keep it. */
function countDown(step: number): void {
  const deadline = Atomics.load(state, DEADLINE);
  if (deadline === 0) return;
  endsInMs = (endsInMs ?? deadline + SPARE_MS) - step;
  if (endsInMs <= 0)
    void end("the process did not end in the time of its graceful shutdown: it is killed", () => true);
}

async function name(own: { culprit: Culprit }): Promise<void> {
  const stalled_seconds = seconds(stalledMs);
  own.culprit = await culpritOf();
  log(
    { stalled_seconds, ...own.culprit },
    "the event loop is stalled: nothing else is served until this code yields",
  );
}

/** Of a call that cannot be interrupted, such as execSync, only the run that was begun last is known. */
async function culpritOf(): Promise<Culprit & { last_begun_run_id?: string }> {
  const json = await inspectStalledThread(`globalThis[Symbol.for("${CULPRIT}")]()`, ASK_MS).catch(
    () => undefined,
  );
  if (json !== undefined) return JSON.parse(json) as Culprit;
  const last = Buffer.from(options.memory, LAST_RUN).toString("latin1").replaceAll("\0", "").trim();
  return last === "" ? {} : { last_begun_run_id: last };
}

/** Nothing but SIGKILL ends a process whose main thread never yields. */
async function end(message: string, isDue: () => boolean): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await stall?.named;
  const stalled_seconds = seconds(stalledMs);
  // What holds it now; several pieces of code may have followed each other.
  const now = await culpritOf();
  isEnding = false;
  if (!isDue()) return;
  log({ stalled_seconds, ...(now.at === undefined ? stall?.culprit : now) }, message);
  process.kill(process.pid, "SIGKILL");
}

function tell(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}

function answer(path: string, res: ServerResponse): void {
  const isKnown = path === "/ok" || path === "/api/health";
  const isStalled = stall !== undefined;
  const body = !isKnown
    ? { error: `there is no route ${path}` }
    : isStalled
      ? { ok: false, stalled_seconds: seconds(stalledMs), ...stall?.culprit }
      : { ok: true };
  res.writeHead(!isKnown ? 404 : isStalled ? 503 : 200, { "Content-Type": "application/json" });
  res.end(JSON.stringify(body));
}

function listen(port: number, host: string): void {
  const server = createServer((req, res) => answer((req.url ?? "").split("?", 1)[0] ?? "", res));
  server.once("error", (error) => tell({ kind: "refused", reason: error.message }));
  server.listen(port, host, () => {
    const { port: actual } = server.address() as AddressInfo;
    const name = host.includes(":") ? `[${host}]` : host;
    tell({ kind: "listening", url: `http://${name}:${actual}/ok` });
  });
}

setInterval(look, TICK_MS);
if (options.health_port !== undefined) listen(options.health_port, options.host);
