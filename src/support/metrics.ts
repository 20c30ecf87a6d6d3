/** Figures for Prometheus, by the package prom-client of the user's project. Nothing here runs while metrics are off. */
import { loadOptional } from "./optional-package.js";
import { withTimeout } from "./pause.js";

interface RunEnd {
  graph: string;
  status: string;
  /** How long it ran; undefined for a run that never had its thread. */
  seconds?: number;
  inputTokens: number;
  outputTokens: number;
}

/** A queue at a time. */
interface QueueLength {
  waiting: number;
  ready: number;
  oldest_seconds: number;
  /** Runs that this process has room for. */
  free: number;
}

/** What is counted and measured, and how it is read. */
export interface Metrics {
  /** A run has its thread, after so long in the queue. */
  runStarted(queuedSeconds: number): void;
  runEnded(end: RunEnd): void;
  /** Nothing handled an error of this graph; of no graph that is known, the name is empty. */
  errorUnhandled(graph: string): void;
  /** Nothing but one piece of code was executed for so long. */
  eventLoopStalled(seconds: number): void;
  streamOpened(): void;
  streamClosed(): void;
  /** Frames of runs were given to other processes, or given up since these could not be reached. */
  framesShared(count: number): void;
  framesDropped(count: number): void;
  frameBusIsAway(isAway: boolean): void;
  /** Frames are kept in memory, of so many bytes. */
  framesKept(bytes: () => number): void;
  /** Runs wait in a queue, which is looked at whenever the figures are read. */
  queueOpened(look: () => Promise<QueueLength>): void;
  /** As for a queue: runs may die. */
  deadRunsKept(count: () => Promise<number>): void;
  readonly storageCalled: (operation: string, seconds: number) => void;
  readonly contentType: string;
  /** All figures in Prometheus's text format. */
  text(): Promise<string>;
}

type Labels = Record<string, string>;

interface Options {
  name: string;
  help: string;
  labelNames?: string[];
  buckets?: number[];
  registers: Registry[];
}

interface Registry {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** The part of prom-client that is used. */
interface PromClient {
  Registry: new () => Registry;
  Counter: new (options: Options) => { inc(labels: Labels, value?: number): void };
  Gauge: new (options: Options) => { inc(): void; dec(): void; set(value: number): void };
  Histogram: new (options: Options) => { observe(labels: Labels, value: number): void };
}

const RUN_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const QUEUE_BUCKETS = [0.01, 0.1, 0.5, 1, 5, 30, 60, 300];
const STORAGE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/**
 * @param cwd folder of the project, whose copy of prom-client is used
 * @throws ConfigError when there is none (`config_invalid`)
 */
export function openMetrics(cwd: string): Metrics {
  const { Registry, Counter, Gauge, Histogram } = loadOptional<PromClient>("prom-client", {
    cwd,
    setting: "metrics",
  });
  const registry = new Registry();
  const define = (name: string, help: string, labelNames: string[] = [], buckets?: number[]): Options => ({
    name: `graph_serve_${name}`,
    help,
    labelNames,
    ...(buckets && { buckets }),
    registers: [registry],
  });
  const runs = new Counter(define("runs_total", "Runs that have ended here.", ["graph", "status"]));
  const active = new Gauge(define("runs_active", "Runs that have their thread."));
  const duration = new Histogram(
    define("run_duration_seconds", "Time of runs, waiting not counted.", ["graph", "status"], RUN_BUCKETS),
  );
  const queue = new Histogram(
    define("run_queue_seconds", "Time that runs waited for their thread.", [], QUEUE_BUCKETS),
  );
  const tokens = new Counter(define("tokens_total", "Tokens that runs used.", ["graph", "kind"]));
  const counter = (name: string, help: string, labels?: string[]) => new Counter(define(name, help, labels));
  const unhandled = counter("unhandled_errors_total", "Errors of graphs that nothing handled.", ["graph"]);
  const streams = new Gauge(define("streams_open", "Event streams that are being read."));
  const gauge = (name: string, help: string) => new Gauge(define(name, help));
  const { refresh, ...lookedUp } = storedFigures(gauge);
  const storage = new Histogram(
    define("storage_seconds", "Time of calls to the storage.", ["operation"], STORAGE_BUCKETS),
  );
  return {
    runStarted: (seconds) => {
      active.inc();
      queue.observe({}, seconds);
    },
    runEnded: ({ graph, status, seconds, inputTokens, outputTokens }) => {
      runs.inc({ graph, status });
      tokens.inc({ graph, kind: "input" }, inputTokens);
      tokens.inc({ graph, kind: "output" }, outputTokens);
      if (seconds === undefined) return;
      active.dec();
      duration.observe({ graph, status }, seconds);
    },
    errorUnhandled: (graph) => unhandled.inc({ graph }),
    ...stallFigures(counter),
    streamOpened: () => streams.inc(),
    streamClosed: () => streams.dec(),
    ...frameFigures(
      new Counter(define("frames_shared_total", "Frames of runs for other processes.", ["outcome"])),
      gauge,
    ),
    ...lookedUp,
    storageCalled: (operation, seconds) => storage.observe({ operation }, seconds),
    contentType: registry.contentType,
    text: async () => {
      await refresh();
      return registry.metrics();
    },
  };
}

type Gauge = InstanceType<PromClient["Gauge"]>;
type Counter = InstanceType<PromClient["Counter"]>;

function stallFigures(counter: (name: string, help: string) => Counter): Pick<Metrics, "eventLoopStalled"> {
  const count = counter("event_loop_stalls_total", "Stalls of the event loop that have ended.");
  const time = counter("event_loop_stalled_seconds_total", "Time of these stalls.");
  return {
    eventLoopStalled: (seconds) => {
      count.inc({});
      time.inc({}, seconds);
    },
  };
}

function frameFigures(
  frames: Counter,
  gauge: (name: string, help: string) => Gauge,
): Pick<Metrics, "framesShared" | "framesDropped" | "frameBusIsAway"> {
  let bus: Gauge | undefined;
  return {
    framesShared: (count) => frames.inc({ outcome: "stored" }, count),
    framesDropped: (count) => frames.inc({ outcome: "dropped" }, count),
    frameBusIsAway: (isAway) => {
      // A process that shares none has no such figure.
      bus ??= gauge("frame_bus_up", "1 while frames of runs can be shared with other processes.");
      bus.set(isAway ? 0 : 1);
    },
  };
}

/** Figures that are looked up whenever they are read, most of them in the storage. */
function storedFigures(
  gauge: (name: string, help: string) => Gauge,
): Pick<Metrics, "framesKept" | "queueOpened" | "deadRunsKept"> & { refresh: () => Promise<unknown> } {
  const looks: (() => Promise<void>)[] = [];
  return {
    framesKept: (bytes) => {
      const kept = gauge("kept_frame_bytes", "Bytes of frames that this process keeps in memory.");
      looks.push(async () => kept.set(bytes()));
    },
    queueOpened: (look) => void looks.push(queueGauges(gauge, look)),
    deadRunsKept: (count) => void looks.push(deadRunGauge(gauge, count)),
    refresh: () => Promise.all(looks.map((look) => look())),
  };
}

/** Longest wait for the storage: less than what those who read the figures wait themselves. */
const LOOK_MS = 2_000;

/** What a look finds; undefined where the storage is away: the other figures are wanted then above all. */
const found = <T>(look: () => Promise<T>): Promise<T | undefined> =>
  withTimeout(LOOK_MS, look()).catch(() => undefined);

/** Returns what brings the figure up to date. */
function deadRunGauge(
  gauge: (name: string, help: string) => Gauge,
  count: () => Promise<number>,
): () => Promise<void> {
  const dead = gauge("runs_dead", "Dead runs of all processes, which can be requeued.");
  return async () => dead.set((await found(count)) ?? NaN);
}

/** Returns what brings the figures of a queue up to date. */
function queueGauges(
  gauge: (name: string, help: string) => Gauge,
  look: () => Promise<QueueLength>,
): () => Promise<void> {
  const gauges: Record<keyof QueueLength, Gauge> = {
    waiting: gauge("runs_waiting", "Runs of all processes that wait in the queue."),
    ready: gauge("runs_ready", "Waiting runs whose thread is free, which need only a process with capacity."),
    oldest_seconds: gauge("runs_ready_oldest_seconds", "How long the oldest of these has waited for one."),
    free: gauge("runs_free", "Runs that this process has room for."),
  };
  return async () => {
    const length = await found(look);
    for (const name of Object.keys(gauges) as (keyof QueueLength)[]) gauges[name].set(length?.[name] ?? NaN);
  };
}
