/** Finds violations in the servers' rows, the nodes' log and the frames that clients received. */
import type { Run } from "../../src/models/run.js";
import { FRAMES, NODES, type Turn } from "./graph.js";
import type { SseEvent } from "../helpers/sse.js";
import type { Accepted, Followed } from "./traffic.js";

/** Violations by kind; each entry names a run and what was observed. */
export interface Verdict {
  accepted: number;
  /** Runs that did not succeed, with their status and error. */
  notSurvived: string[];
  lost: string[];
  /** Runs that have not ended, or ended twice. */
  unended: string[];
  /** Runs that are missing, duplicated, incomplete or interleaved in the state of their thread. */
  state: string[];
  /** Runs that began before a run accepted earlier. */
  order: string[];
  /** Runs of one thread that overlapped. */
  inFlight: string[];
  /** Readers that missed frames or received them out of order. */
  frames: string[];
}

export interface Evidence {
  accepted: readonly Accepted[];
  /** Tags of requests without a response. */
  unknown: readonly string[];
  followed: readonly Followed[];
  turns: readonly Turn[];
  /** Processes that were killed or frozen; overlaps of their turns are ignored. */
  disturbed: ReadonlySet<number>;
  /** The disturbed processes that ended. */
  ended: ReadonlySet<number>;
  /** Rows of runs by id, each read twice. */
  rows: ReadonlyMap<string, readonly [Run | undefined, Run | undefined]>;
  /** Times at which the frame storage lost its data. */
  lossesAt: readonly number[];
  trails: ReadonlyMap<string, readonly string[]>;
}

const ENDED = new Set(["success", "error", "timeout", "interrupted"]);

export function judge(evidence: Evidence): Verdict {
  const { accepted } = evidence;
  const verdict: Verdict = {
    accepted: accepted.length,
    notSurvived: [],
    lost: [],
    unended: [],
    state: [],
    order: orderBroken(evidence),
    inFlight: overlapping(evidence),
    frames: evidence.followed.flatMap((one) => framesMissing(one, toldOf(one, evidence))),
  };
  for (const { run, thread, tag } of accepted) {
    const [first, second] = evidence.rows.get(run) ?? [];
    const name = `${tag} (${run} of ${thread})`;
    if (!first || !second) verdict.lost.push(name);
    else if (!ENDED.has(second.status) || (ENDED.has(first.status) && first.status !== second.status))
      verdict.unended.push(`${name}: ${first.status}, ${second.status}`);
    else if (second.status !== "success")
      verdict.notSurvived.push(`${name}: ${second.status}: ${second.error ?? ""}`);
  }
  for (const [thread, trail] of evidence.trails)
    verdict.state.push(...stateBroken(trail, tagsOf(evidence, thread)).map((what) => `${thread}: ${what}`));
  return verdict;
}

/** Tags of the thread's successful runs, in the order of acceptance. */
function tagsOf({ accepted, rows }: Evidence, thread: string): string[] {
  return accepted
    .filter((one) => one.thread === thread && rows.get(one.run)?.[1]?.status === "success")
    .map(({ tag }) => tag);
}

const STEPS = ["in", ...NODES];

function stateBroken(trail: readonly string[], tags: readonly string[]): string[] {
  const broken: string[] = [];
  const doubled = trail.filter((entry, index) => trail.indexOf(entry) !== index);
  if (doubled.length > 0) broken.push(`twice in the state: ${doubled.join(", ")}`);
  for (const tag of tags) {
    const at = trail.indexOf(`${tag}:in`);
    const own = trail.slice(at, at + STEPS.length).join();
    if (at < 0) broken.push(`${tag} is not in the state`);
    else if (own !== STEPS.map((step) => `${tag}:${step}`).join())
      broken.push(`${tag} is in the state as ${own}`);
  }
  return broken;
}

/** Compares the order of acceptance with the state and with the nodes' log. */
function orderBroken({ accepted, trails, turns }: Evidence): string[] {
  return [...trails].flatMap(([thread, trail]) => {
    const wanted = accepted.filter((one) => one.thread === thread);
    const inState = sortedBy(wanted, ({ tag }) => trail.indexOf(`${tag}:in`));
    const begun = sortedBy(wanted, ({ run }) => turns.findIndex((turn) => turn.run === run));
    return [...misplaced(wanted, inState), ...misplaced(wanted, begun)].map((what) => `${thread}: ${what}`);
  });
}

/** The runs that have a position, in the order of the positions. */
const sortedBy = (runs: readonly Accepted[], position: (run: Accepted) => number): Accepted[] =>
  runs.filter((run) => position(run) >= 0).sort((one, other) => position(one) - position(other));

function misplaced(accepted: readonly Accepted[], found: readonly Accepted[]): string[] {
  const wanted = accepted.filter((run) => found.includes(run));
  if (wanted.every((run, index) => run === found[index])) return [];
  const listed = (runs: readonly Accepted[]) => runs.map(({ tag, run }) => `${tag} (${run})`).join(", ");
  return [`${listed(found)} instead of ${listed(wanted)}`];
}

/** Nodes that began before a node of another run ended, in undisturbed processes. */
function overlapping({ turns, disturbed }: Evidence): string[] {
  const open = new Map<string, Turn>();
  const found: string[] = [];
  for (const turn of turns) {
    const before = open.get(turn.thread);
    if (turn.what === "end") open.delete(turn.thread);
    else {
      if (before && before.run !== turn.run && !disturbed.has(before.pid) && !disturbed.has(turn.pid))
        found.push(`${turn.thread}: ${turn.run} began during ${before.run}`);
      open.set(turn.thread, turn);
    }
  }
  return found;
}

/** Range of frame ids of one attempt; a summary uses the last three. */
const IDS = 1e9;
const SUMMARY = 3;

/**
 * Whether no frame is missing between two ids: an attempt begins with its first frame, a summary replaces the
 * rest.
 */
const follow = (id: number, next: number): boolean =>
  next === id + 1 || (next > id && (next % IDS === 0 || next % IDS >= IDS - SUMMARY));

interface Told {
  /** Nodes whose frames a reader must receive. */
  nodes: readonly string[];
  /** Whether a summary may replace their frames. */
  mayBeSummary: boolean;
}

/**
 * All nodes or, after a loss of frames, the nodes that the last attempt executed. A live process republishes
 * its frames; they stay lost if the process ended too.
 */
function toldOf({ run }: Followed, { turns, rows, lossesAt, ended }: Evidence): Told {
  if (lossesAt.length === 0) return { nodes: NODES, mayBeSummary: false };
  const last = turns.filter((turn) => turn.run === run && turn.attempt === rows.get(run)?.[1]?.attempt);
  const nodes = last.flatMap(({ what, node }) => (what === "end" ? node : []));
  const mayBeSummary = last.some(({ pid, at }) => ended.has(pid) && lossesAt.some((loss) => at < loss));
  return { nodes, mayBeSummary };
}

const isSummary = (ids: readonly number[]): boolean => ids.some((id) => id % IDS >= IDS - SUMMARY);

/** Violations in the frames that the reader of a run received. */
function framesMissing({ events, isWhole, tag, run }: Followed, { nodes, mayBeSummary }: Told): string[] {
  const name = `${tag} (${run})`;
  if (!isWhole) return [`${name}: the end frame is missing`];
  const ids = events.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
  const gap = ids.findIndex((id, index) => index > 0 && !follow(ids[index - 1] ?? -1, id));
  if (gap >= 0) return [`${name}: frame ${ids[gap - 1]} is followed by ${ids[gap]}`];
  if (mayBeSummary && isSummary(ids)) return [];
  const frames = new Set(events.flatMap(frameOf));
  const wanted = nodes.flatMap((node) =>
    Array.from({ length: FRAMES }, (_, index) => `${tag}:${node}:${index}`),
  );
  const missing = wanted.filter((frame) => !frames.has(frame));
  if (missing.length === 0) return [];
  return [
    `${name}: ${missing.length} of ${wanted.length} frames are missing, of ${ids.join()}: ${missing.join()}`,
  ];
}

const frameOf = ({ event, data }: SseEvent): string[] =>
  event === "custom" ? [(data as { frame: string }).frame] : [];
