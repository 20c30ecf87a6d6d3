/** What went wrong: read from the servers, from the graphs' own log, and from what clients were told. */
import type { Run } from "../../src/models/run.js";
import { FRAMES, NODES, type Turn } from "./graph.js";
import type { SseEvent } from "../helpers/sse.js";
import type { Accepted, Followed } from "./traffic.js";

/** What a fault may do to no run; each with what was seen. */
export interface Verdict {
  accepted: number;
  /** Runs that did not end well, with their status and error. */
  notSurvived: string[];
  /** Runs that are gone. */
  lost: string[];
  /** Runs that have not ended, or ended twice. */
  unended: string[];
  /** Runs that are not in the state of their thread as they should be: once, whole, and together. */
  state: string[];
  /** Runs that began before one that was accepted earlier. */
  order: string[];
  /** Two runs of a thread at once. */
  inFlight: string[];
  /** Readers that were not told all, or not in order. */
  frames: string[];
}

export interface Evidence {
  accepted: readonly Accepted[];
  /** Of requests that had no answer. */
  unknown: readonly string[];
  followed: readonly Followed[];
  turns: readonly Turn[];
  /** Processes that were killed, or stood still for a while: what they did at the end is nobody's. */
  disturbed: ReadonlySet<number>;
  /** Those of them that ended. */
  ended: ReadonlySet<number>;
  /** The rows of runs, by id, read twice. */
  rows: ReadonlyMap<string, readonly [Run | undefined, Run | undefined]>;
  /** When what carries the frames lost all it had. */
  lossesAt: readonly number[];
  /** `trail` of each thread. */
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

/** Tags of the runs of a thread that ended well, in the order in which they were accepted. */
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

/** By the state, and by the log of the nodes. */
function orderBroken({ accepted, trails, turns }: Evidence): string[] {
  return [...trails].flatMap(([thread, trail]) => {
    const wanted = accepted.filter((one) => one.thread === thread);
    const inState = wanted.map(({ tag }) => trail.indexOf(`${tag}:in`)).filter((at) => at >= 0);
    const begun = wanted
      .map(({ run }) => turns.findIndex((turn) => turn.run === run))
      .filter((at) => at >= 0);
    return [
      ...(isRising(inState) ? [] : [`${thread}: in the state`]),
      ...(isRising(begun) ? [] : [`${thread}: in its beginnings`]),
    ];
  });
}

const isRising = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));

/** A node that began while one of another run had not ended, in processes that nothing befell. */
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

/** Ids that the frames of an attempt may have; a summary has the last three of them. */
const IDS = 1e9;
const SUMMARY = 3;

/** Whether nothing is left out between two frames: an attempt begins with its first, a summary takes the place of the rest. */
const follow = (id: number, next: number): boolean =>
  next === id + 1 || (next > id && (next % IDS === 0 || next % IDS >= IDS - SUMMARY));

interface Told {
  /** Nodes whose frames a reader has to have. */
  nodes: readonly string[];
  /** Whether a summary does in their place. */
  mayBeSummary: boolean;
}

/**
 * All of them; where frames were lost, those that the last attempt executed. A process that lives puts them there again:
 * they are gone for good where it ended too.
 */
function toldOf({ run }: Followed, { turns, rows, lossesAt, ended }: Evidence): Told {
  if (lossesAt.length === 0) return { nodes: NODES, mayBeSummary: false };
  const last = turns.filter((turn) => turn.run === run && turn.attempt === rows.get(run)?.[1]?.attempt);
  const nodes = last.flatMap(({ what, node }) => (what === "end" ? node : []));
  const mayBeSummary = last.some(({ pid, at }) => ended.has(pid) && lossesAt.some((loss) => at < loss));
  return { nodes, mayBeSummary };
}

const isSummary = (ids: readonly number[]): boolean => ids.some((id) => id % IDS >= IDS - SUMMARY);

/** What the reader of a run was told wrongly, or not at all. */
function framesMissing({ events, isWhole, tag, run }: Followed, { nodes, mayBeSummary }: Told): string[] {
  const name = `${tag} (${run})`;
  if (!isWhole) return [`${name}: the end did not come`];
  const ids = events.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
  const gap = ids.findIndex((id, index) => index > 0 && !follow(ids[index - 1] ?? -1, id));
  if (gap >= 0) return [`${name}: after the frame ${ids[gap - 1]} came ${ids[gap]}`];
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
