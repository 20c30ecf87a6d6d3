/** Places the spans of a run, which are those of its trace, on a time axis that shortens pauses. */
import type { RunTask } from "../../src/models/run.js";
import { type TaskSpan, taskSpans } from "../../src/tracing/task-spans.js";

export interface TimedRow {
  task: RunTask;
  /** Number of nodes around it. */
  depth: number;
  /** Milliseconds since the start of the first task. */
  at: number;
  ms: number;
  /** Start and length of the bar, as fractions of the axis. */
  left: number;
  width: number;
}

export interface Pause {
  ms: number;
  /** Center of the pause, as a fraction of the axis. */
  left: number;
}

export interface Timeline {
  rows: TimedRow[];
  pauses: Pause[];
  /** Milliseconds from the first start to the last end. */
  ms: number;
}

/** Shorter pauses are not shortened. */
const PAUSE_MS = 500;
/** Length of a shortened pause, as a fraction of the busy time. */
const PAUSE_SHARE = 0.04;

type Span = Pick<TaskSpan, "from" | "to">;

/** @param now milliseconds since 1970, used as the end of running tasks */
export function timeline(tasks: readonly RunTask[], now: number): Timeline {
  const spans = [...rowsOf(taskSpans({ tasks }, now, ""))];
  const [first] = spans;
  if (!first) return { rows: [], pauses: [], ms: 0 };
  const start = spans.reduce((least, { from }) => Math.min(least, from), first.from);
  const end = spans.reduce((most, { to }) => Math.max(most, to), first.to);
  const gaps = gapsIn(spans);
  const busy = end - start - gaps.reduce((sum, { from, to }) => sum + to - from, 0);
  const room = Math.max(1, busy * PAUSE_SHARE);
  const whole = Math.max(1, busy + gaps.length * room);
  const placeOf = (time: number): number => {
    let place = time - start;
    for (const { from, to } of gaps) {
      if (time >= to) place -= to - from - room;
      else if (time > from) place -= (time - from) * (1 - room / (to - from));
    }
    return place / whole;
  };
  return {
    ms: end - start,
    pauses: gaps.map(({ from, to }) => ({ ms: to - from, left: placeOf(from) + room / whole / 2 })),
    rows: spans.map(({ task, depth, from, to }) => {
      const left = placeOf(from);
      return { task, depth, at: from - start, ms: to - from, left, width: placeOf(to) - left };
    }),
  };
}

interface RowSpan extends Span {
  task: RunTask;
  depth: number;
}

/** A subgraph has no row of its own: its node has the same time. */
function* rowsOf(spans: readonly TaskSpan[], depth = 0): Generator<RowSpan> {
  for (const { task, from, to, children } of spans) {
    if (task) yield { task, depth, from, to };
    yield* rowsOf(children, task ? depth + 1 : depth);
  }
}

/** Long pauses in which no task ran. */
function gapsIn(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => a.from - b.from);
  const gaps: Span[] = [];
  let until = sorted[0]?.from ?? 0;
  for (const { from, to } of sorted) {
    if (from - until > PAUSE_MS) gaps.push({ from: until, to: from });
    until = Math.max(until, to);
  }
  return gaps;
}

const partsOf = (namespace: string): string[] =>
  namespace.split("|").filter((part) => part !== "" && !/^\d+$/.test(part));

/** Namespace of the graph that contains the task; empty for the root graph. */
export const graphAround = ({ namespace }: RunTask): string => partsOf(namespace).slice(0, -1).join("|");

/** Tasks of this superstep of the root graph, at any depth. */
export function rootTasks(tasks: readonly RunTask[], step: number): RunTask[] {
  const roots = new Set(
    tasks
      .filter((task) => task.kind === "node" && task.step === step && graphAround(task) === "")
      .map(({ namespace }) => namespace),
  );
  return tasks.filter(({ namespace }) => roots.has(partsOf(namespace)[0] ?? ""));
}
