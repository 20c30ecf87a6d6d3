/**
 * Prometheus metrics, through the package prom-client of the user's project. Not loaded while
 * metrics are off.
 */
import { loadOptional } from "./optional-package.js";
import { withTimeout } from "./pause.js";

interface RunEnd {
  graph: string;
  status: string;
  /** Execution time in seconds; undefined for a run that never acquired its thread. */
  seconds?: number;
  inputTokens: number;
  outputTokens: number;
  /** Known costs of model calls in US dollars. */
  costs: readonly { model: string; usd: number }[];
}

/** State of the queue at one point in time. */
interface QueueLength {
  waiting: number;
  ready: number;
  oldest_seconds: number;
  /** Number of runs that this process has capacity for. */
  free: number;
}

export interface Metrics {
  /** A run has acquired its thread after `queuedSeconds` in the queue. */
  runStarted(queuedSeconds: number): void;
  runEnded(end: RunEnd): void;
  /** An unhandled error of this graph; the name is empty if the graph is unknown. */
  errorUnhandled(graph: string): void;
  /** The event loop was blocked for this many seconds. */
  eventLoopStalled(seconds: number): void;
  streamOpened(): void;
  streamClosed(): void;
  /** Frames of runs were shared with other processes, or dropped because these were unreachable. */
  framesShared(count: number): void;
  framesDropped(count: number): void;
  frameBusIsAway(isAway: boolean): void;
  /** A batch of spans was sent to the collector, or dropped because it did not accept them. */
  spansExported(count: number, isAccepted: boolean): void;
  /** Registers the function that returns the bytes of frames kept in memory. */
  framesKept(bytes: () => number): void;
  /** Registers a queue. Its state is read on every scrape. */
  queueOpened(read: () => Promise<QueueLength>): void;
  deadRunsKept(count: () => Promise<number>): void;
  readonly storageCalled: (operation: string, seconds: number) => void;
  readonly contentType: string;
  text(): Promise<string>;
  /**
   * Makes `text` return the metrics of all processes that listen on one port: adds the label `process` to those of
   * this process, and collects the texts of all.
   * @returns the metrics of this process alone
   */
  joinProcesses(process: number, collect: () => Promise<readonly string[]>): () => Promise<string>;
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
  setDefaultLabels(labels: Labels): void;
}

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
 * @param cwd project folder, whose copy of prom-client is used
 * @throws ConfigError if it is not installed (`config_invalid`)
 */
export function openMetrics(cwd: string): Metrics {
  const need = { cwd, setting: "metrics" };
  const { Registry, Counter, Gauge, Histogram } = loadOptional<PromClient>("prom-client", need);
  const registry = new Registry();
  const define = (name: string, help: string, labelNames: string[] = [], buckets?: number[]): Options => ({
    name: `graph_serve_${name}`,
    help,
    labelNames,
    ...(buckets && { buckets }),
    registers: [registry],
  });
  const runs = new Counter(define("runs_total", "Runs that ended in this process.", ["graph", "status"]));
  const active = new Gauge(define("runs_active", "Runs that are executing in this process."));
  const duration = new Histogram(
    define("run_duration_seconds", "Run time, excluding waiting time.", ["graph", "status"], RUN_BUCKETS),
  );
  const queue = new Histogram(
    define("run_queue_seconds", "Time that runs waited for their thread.", [], QUEUE_BUCKETS),
  );
  const tokens = new Counter(define("tokens_total", "Tokens used by runs.", ["graph", "kind"]));
  const costs = new Counter(define("cost_usd_total", "Known cost of model calls.", ["graph", "model"]));
  const counter = (name: string, help: string, labels?: string[]) => new Counter(define(name, help, labels));
  const unhandled = counter("unhandled_errors_total", "Unhandled errors in graphs.", ["graph"]);
  const streams = new Gauge(define("streams_open", "Open event streams."));
  const gauge = (name: string, help: string) => new Gauge(define(name, help));
  const { refresh, ...stored } = storedMetrics(gauge);
  const storage = new Histogram(
    define("storage_seconds", "Duration of storage calls.", ["operation"], STORAGE_BUCKETS),
  );
  return {
    runStarted: (seconds) => {
      active.inc();
      queue.observe({}, seconds);
    },
    runEnded: ({ graph, status, seconds, inputTokens, outputTokens, costs: own }) => {
      runs.inc({ graph, status });
      tokens.inc({ graph, kind: "input" }, inputTokens);
      tokens.inc({ graph, kind: "output" }, outputTokens);
      for (const { model, usd } of own) if (usd > 0) costs.inc({ graph, model }, usd);
      if (seconds === undefined) return;
      active.dec();
      duration.observe({ graph, status }, seconds);
    },
    errorUnhandled: (graph) => unhandled.inc({ graph }),
    ...stallMetrics(counter),
    streamOpened: () => streams.inc(),
    streamClosed: () => streams.dec(),
    ...frameMetrics(
      new Counter(define("frames_shared_total", "Frames of runs shared with other processes.", ["outcome"])),
      gauge,
    ),
    ...stored,
    storageCalled: (operation, seconds) => storage.observe({ operation }, seconds),
    contentType: registry.contentType,
    ...textOf(registry, refresh),
  };
}

/** The metrics as text: of this process, or of all processes after `joinProcesses`. */
function textOf(
  registry: Registry,
  refresh: () => Promise<unknown>,
): Pick<Metrics, "text" | "joinProcesses"> {
  const own = async () => {
    await refresh();
    return registry.metrics();
  };
  let text = own;
  return {
    text: () => text(),
    joinProcesses: (process, collect) => {
      registry.setDefaultLabels({ process: String(process) });
      text = async () => mergeMetrics(await collect());
      return own;
    },
  };
}

type Gauge = InstanceType<PromClient["Gauge"]>;
type Counter = InstanceType<PromClient["Counter"]>;

function stallMetrics(
  counter: (name: string, help: string, labels?: string[]) => Counter,
): Pick<Metrics, "eventLoopStalled" | "spansExported"> {
  const count = counter("event_loop_stalls_total", "Event loop stalls that have ended.");
  const time = counter("event_loop_stalled_seconds_total", "Total time of event loop stalls.");
  return {
    ...spanMetrics(counter),
    eventLoopStalled: (seconds) => {
      count.inc({});
      time.inc({}, seconds);
    },
  };
}

/** A process that exports no traces does not have this metric. */
function spanMetrics(
  counter: (name: string, help: string, labels?: string[]) => Counter,
): Pick<Metrics, "spansExported"> {
  let spans: Counter | undefined;
  return {
    spansExported: (count, isAccepted) => {
      spans ??= counter("spans_total", "Spans sent to the collector of traces.", ["outcome"]);
      spans.inc({ outcome: isAccepted ? "sent" : "dropped" }, count);
    },
  };
}

function frameMetrics(
  frames: Counter,
  gauge: (name: string, help: string) => Gauge,
): Pick<Metrics, "framesShared" | "framesDropped" | "frameBusIsAway"> {
  let bus: Gauge | undefined;
  return {
    framesShared: (count) => frames.inc({ outcome: "stored" }, count),
    framesDropped: (count) => frames.inc({ outcome: "dropped" }, count),
    frameBusIsAway: (isAway) => {
      // A process that shares no frames does not have this metric.
      bus ??= gauge("frame_bus_up", "1 if frames of runs can be shared with other processes, else 0.");
      bus.set(isAway ? 0 : 1);
    },
  };
}

/** Metrics that are read on every scrape, most of them from the storage. */
function storedMetrics(
  gauge: (name: string, help: string) => Gauge,
): Pick<Metrics, "framesKept" | "queueOpened" | "deadRunsKept"> & { refresh: () => Promise<unknown> } {
  const refreshers: (() => Promise<void>)[] = [];
  return {
    framesKept: (bytes) => {
      const kept = gauge("kept_frame_bytes", "Bytes of frames kept in memory by this process.");
      refreshers.push(async () => kept.set(bytes()));
    },
    queueOpened: (read) => void refreshers.push(queueGauges(gauge, read)),
    deadRunsKept: (count) => void refreshers.push(deadRunGauge(gauge, count)),
    refresh: () => Promise.all(refreshers.map((refresh) => refresh())),
  };
}

/** Timeout of a storage read, in milliseconds; shorter than the usual scrape timeout. */
const READ_TIMEOUT_MS = 2_000;

/**
 * Result of a read; undefined if the storage is unreachable. The other metrics matter most then and
 * must still be served.
 */
const readOrUndefined = <T>(read: () => Promise<T>): Promise<T | undefined> =>
  withTimeout(READ_TIMEOUT_MS, read()).catch(() => undefined);

function deadRunGauge(
  gauge: (name: string, help: string) => Gauge,
  count: () => Promise<number>,
): () => Promise<void> {
  const dead = gauge("runs_dead", "Dead runs of all processes, which can be requeued.");
  return async () => dead.set((await readOrUndefined(count)) ?? NaN);
}

/** Returns a function that refreshes the metrics of a queue. */
function queueGauges(
  gauge: (name: string, help: string) => Gauge,
  read: () => Promise<QueueLength>,
): () => Promise<void> {
  const gauges: Record<keyof QueueLength, Gauge> = {
    waiting: gauge("runs_waiting", "Runs of all processes waiting in the queue."),
    ready: gauge("runs_ready", "Waiting runs whose thread is free: they only need a process with capacity."),
    oldest_seconds: gauge("runs_ready_oldest_seconds", "Waiting time of the oldest ready run."),
    free: gauge("runs_free", "Runs that this process has capacity for."),
  };
  return async () => {
    const length = await readOrUndefined(read);
    for (const name of Object.keys(gauges) as (keyof QueueLength)[]) gauges[name].set(length?.[name] ?? NaN);
  };
}

// Merges the metrics of several processes. Each process labels its own samples.

interface Family {
  /** The lines `# HELP` and `# TYPE`. */
  head: string[];
  samples: string[];
}

/** One text with each metric described once, as Prometheus requires, and the samples of all texts. */
function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) addFamilies(text, families);
  return [...families.values()].map(({ head, samples }) => [...head, ...samples, ""].join("\n")).join("\n");
}

function addFamilies(text: string, families: Map<string, Family>): void {
  let family: Family | undefined;
  let isNew = false;
  for (const line of text.split("\n")) {
    const [, kind, name = ""] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
    if (kind === "HELP") {
      family = families.get(name);
      isNew = family === undefined;
      family ??= { head: [], samples: [] };
      families.set(name, family);
    }
    if (kind !== undefined) {
      if (isNew) family?.head.push(line);
    } else if (line !== "") family?.samples.push(line);
  }
}
