/** The watchdog thread, see ./watchdog.ts. It shares nothing with the main thread that could block it. */
import { writeSync } from "node:fs";
import type { ServerResponse } from "node:http";
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

/** Timeout for the main thread to report what it executes, in milliseconds. */
const ASK_MS = 3_000;
/** Extra time after the main thread's deadline to end on its own, in milliseconds. */
const SPARE_MS = 1_000;
/** Maximum time counted per check, in milliseconds: a suspended process or machine was not stalled. */
const LONGEST_STEP_MS = 2 * TICK_MS;
const STDERR = 2;
const warningMs = options.stall_warning_seconds * 1000;
const level = options.log_level_format === "word" ? "error" : 50;
const timeNow = () => (options.log_time_format === "iso" ? new Date().toISOString() : Date.now());

let lastTick = Atomics.load(state, TICKS);
let lastCheck = performance.now();
let stalledMs = 0;
let endsInMs: number | undefined;
/** Set during a stall; `named` settles once the stall is logged, with its culprit if known. */
interface Stall {
  culprit: Culprit;
  named: Promise<void>;
  /** Duration of the stall at which the main thread is asked. */
  asksAtMs: number;
}
let stall: Stall | undefined;
let isEnding = false;

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/**
 * Writes one log line in the server's format. The main thread's stream needs its event loop, so it
 * is written here.
 */
function log(fields: object, message: string): void {
  if (options.format === "none") return;
  const line =
    options.format === "json"
      ? JSON.stringify({ level, time: timeNow(), ...fields, msg: message })
      : ["error", message, ...Object.entries(fields).map(([key, value]) => `${key}=${value}`)].join(" ");
  try {
    writeSync(STDERR, `${line}\n`);
  } catch {
    // A full or closed pipe must not end the watchdog.
  }
}

function check(): void {
  const now = performance.now();
  const step = Math.min(now - lastCheck, LONGEST_STEP_MS);
  lastCheck = now;
  const tick = Atomics.load(state, TICKS);
  if (tick !== lastTick || Atomics.load(state, DEBUGGED) === 1) {
    lastTick = tick;
    recover();
  } else stalledMs += step;
  countDown(step);
  if (stalledMs < warningMs) return;
  const isNew = stall === undefined;
  stall ??= { culprit: {}, named: Promise.resolve(), asksAtMs: warningMs };
  if (stalledMs >= stall.asksAtMs) stall.named = name(stall, isNew);
  const { stall_exit_seconds } = options;
  if (stall_exit_seconds > 0 && stalledMs >= stall_exit_seconds * 1000)
    void end(
      "the event loop was stalled for stall_exit_seconds: killing the process so that its supervisor restarts it",
      () => stall !== undefined && Atomics.load(state, TICKS) === lastTick,
    );
}

function recover(): void {
  if (stall) send({ kind: "recovered", seconds: seconds(stalledMs) });
  stall = undefined;
  stalledMs = 0;
}

/** Limits graceful shutdown even if the main thread cannot. */
function countDown(step: number): void {
  const deadline = Atomics.load(state, DEADLINE);
  if (deadline === 0) return;
  endsInMs = (endsInMs ?? deadline + SPARE_MS) - step;
  if (endsInMs <= 0) void end("graceful shutdown exceeded its time limit: killing the process", () => true);
}

/** Asks again later if there is no answer: the call that cannot be interrupted may return to code that can be. */
async function name(own: Stall, isNew: boolean): Promise<void> {
  const stalled_seconds = seconds(stalledMs);
  own.asksAtMs = Infinity;
  const found = await askCulprit();
  if (!found) own.asksAtMs = stalledMs + warningMs;
  if (!isNew && (!found || stall !== own)) return;
  own.culprit = found ?? lastBegun();
  log(
    { stalled_seconds, ...own.culprit },
    options.serves
      ? "the event loop is stalled: no other requests are served until this code yields"
      : "the event loop is stalled: nothing else happens until this code yields; Ctrl-C ends the command",
  );
}

/** Undefined if the main thread cannot be interrupted. */
async function askCulprit(): Promise<Culprit | undefined> {
  const json = await inspectStalledThread(`globalThis[Symbol.for("${CULPRIT}")]()`, ASK_MS).catch(
    () => undefined,
  );
  return json === undefined ? undefined : (JSON.parse(json) as Culprit);
}

/** A call that cannot be interrupted, such as execSync, is only known by the run that started last. */
function lastBegun(): Culprit & { last_begun_run_id?: string } {
  const last = Buffer.from(options.memory, LAST_RUN).toString("latin1").replaceAll("\0", "").trim();
  return last === "" ? {} : { last_begun_run_id: last };
}

/** Only SIGKILL ends a process whose main thread never yields. */
async function end(message: string, isDue: () => boolean): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await stall?.named;
  const stalled_seconds = seconds(stalledMs);
  // Current culprit; several pieces of code may have followed each other.
  const now = await askCulprit();
  isEnding = false;
  if (!isDue()) return;
  log({ stalled_seconds, ...(now?.at === undefined ? (stall?.culprit ?? lastBegun()) : now) }, message);
  process.kill(process.pid, "SIGKILL");
}

function send(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}

function answer(path: string, res: ServerResponse): void {
  const isKnown = path === "/ok" || path === "/api/health";
  const isStalled = stall !== undefined;
  const body = !isKnown
    ? { error: `route ${path} does not exist` }
    : isStalled
      ? { ok: false, stalled_seconds: seconds(stalledMs), ...stall?.culprit }
      : { ok: true };
  res.writeHead(!isKnown ? 404 : isStalled ? 503 : 200, { "Content-Type": "application/json" });
  res.end(JSON.stringify(body));
}

async function listen(port: number, host: string): Promise<void> {
  const { createServer } = await import("node:http");
  const server = createServer((req, res) => answer((req.url ?? "").split("?", 1)[0] ?? "", res));
  server.once("error", (error) => send({ kind: "refused", reason: error.message }));
  server.listen(port, host, () => {
    const { port: actual } = server.address() as AddressInfo;
    const name = host.includes(":") ? `[${host}]` : host;
    send({ kind: "listening", url: `http://${name}:${actual}/ok` });
  });
}

setInterval(check, TICK_MS);
if (options.health_port !== undefined) void listen(options.health_port, options.host);
