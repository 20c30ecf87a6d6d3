/**
 * Deterministic mode: `Date`, `Math.random` and `crypto.randomUUID` return the same values in every execution of the same
 * run. Only code inside nodes of the chosen threads is affected; everything else gets the real values, and nothing is
 * patched while the mode is off.
 */
import crypto, { createHash } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { isRecord, type JsonObject } from "../models/common.js";
import { findId } from "./recording/patch.js";

export interface Seeded {
  seed: string;
  /** The time that nodes see, in milliseconds since 1970. It does not advance. */
  time: number;
}

/** The seed of a thread; undefined if its nodes get real values. */
type FindSeed = (threadId: string) => Seeded | undefined;

/** Time of runs that are not repeated from a stored run. */
export const FIRST_TIME = Date.UTC(2025, 0, 1);

/** After this many reads in one task, the time advances by one millisecond per read, so that waiting loops end. */
const MOST_READS_OF_FROZEN_TIME = 10_000;

interface TaskValues {
  random: () => number;
  time: () => number;
}

interface Given {
  /** Values by run and task. */
  tasks: Map<string, TaskValues>;
  /** The first step of each run, and the number of tasks of each place in it. */
  runs: Map<string, { firstStep: unknown; tasks: Map<string, number> }>;
}

const finders = new Map<FindSeed, Given>();
let restore: (() => void) | undefined;

/** Starts deterministic mode for the threads that `find` knows; returns a function that ends it. */
export async function makeDeterministic(find: FindSeed): Promise<() => void> {
  const { AsyncLocalStorageProviderSingleton: provider } = await import("@langchain/core/singletons");
  finders.set(find, { tasks: new Map(), runs: new Map() });
  restore ??= patchGlobals(() => valuesOf(provider.getRunnableConfig()));
  return () => {
    finders.delete(find);
    if (finders.size > 0) return;
    restore?.();
    restore = undefined;
  };
}

/** The values of the task whose code is executing. */
function valuesOf(config: unknown): TaskValues | undefined {
  const metadata = isRecord(config) && isRecord(config.metadata) ? config.metadata : undefined;
  const threadId = findId("thread_id", [config]);
  if (!metadata || threadId === undefined) return undefined;
  for (const [find, given] of finders) {
    const seeded = find(threadId);
    if (seeded) return taskValues(seeded, metadata, given);
  }
  return undefined;
}

function taskValues({ seed, time }: Seeded, metadata: JsonObject, { tasks, runs }: Given): TaskValues {
  const { langgraph_checkpoint_ns: ns } = metadata;
  const namespace = typeof ns === "string" ? ns : "";
  const runId = String(metadata.run_id ?? metadata.thread_id);
  const key = `${runId} ${namespace}`;
  const known = tasks.get(key);
  if (known) return known;
  const run = runs.get(runId) ?? { firstStep: metadata.langgraph_step, tasks: new Map<string, number>() };
  runs.set(runId, run);
  // The ids of tasks are random; their number at a place is not, also if other nodes are added to the graph.
  const place = `${namespace.replace(/:[0-9a-f-]{36}/g, "")} ${String(metadata.langgraph_node)}`;
  const number = (run.tasks.get(place) ?? 0) + 1;
  run.tasks.set(place, number);
  let reads = 0;
  const values = {
    random: generator(JSON.stringify([seed, run.firstStep, place, number])),
    time: () => time + Math.max(0, (reads += 1) - MOST_READS_OF_FROZEN_TIME),
  };
  tasks.set(key, values);
  return values;
}

/** Numbers from 0 to 1, the same for the same seed (the algorithm sfc32). */
function generator(seed: string): () => number {
  const hash = createHash("sha256").update(seed).digest();
  let [a, b, c, d] = [0, 4, 8, 12].map((at) => hash.readUInt32LE(at)) as [number, number, number, number];
  return () => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
}

function uuidOf(random: () => number): ReturnType<typeof crypto.randomUUID> {
  const bytes = Buffer.from(Array.from({ length: 16 }, () => Math.floor(random() * 256)));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const [, ...parts] = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(bytes.toString("hex")) ?? [];
  return parts.join("-") as ReturnType<typeof crypto.randomUUID>;
}

function patchGlobals(current: () => TaskValues | undefined): () => void {
  const RealDate = globalThis.Date;
  const realNow = RealDate.now;
  const { random } = Math;
  const { randomUUID } = crypto;
  const web = crypto.webcrypto;
  const webUUID = web.randomUUID.bind(web);
  const timeNow = () => current()?.time();
  globalThis.Date = new Proxy(RealDate, {
    construct(target, args: unknown[], newTarget) {
      const time = args.length === 0 ? timeNow() : undefined;
      return Reflect.construct(target, time === undefined ? args : [time], newTarget) as object;
    },
    apply(target) {
      return new target(timeNow() ?? realNow()).toString();
    },
  });
  RealDate.now = () => timeNow() ?? realNow();
  Math.random = () => (current()?.random ?? random)();
  crypto.randomUUID = (options) => {
    const values = current();
    return values ? uuidOf(values.random) : randomUUID(options);
  };
  web.randomUUID = () => {
    const values = current();
    return values ? uuidOf(values.random) : webUUID();
  };
  syncBuiltinESMExports();
  return () => {
    globalThis.Date = RealDate;
    RealDate.now = realNow;
    Math.random = random;
    crypto.randomUUID = randomUUID;
    delete (web as { randomUUID?: unknown }).randomUUID;
    syncBuiltinESMExports();
  };
}
