import { InvalidRequestError } from "../../errors.js";
import { fork, valuesFlag } from "../fork/branch.js";
import { runOn } from "../fork/run-on.js";
import { compareFrames, type ComparedStep } from "../replay/compare.js";
import { comparedHeading, comparedLines } from "../replay/compared-text.js";
import { Reel, type Frame } from "../replay/reel.js";
import { idsAfter, startOfLastRun } from "../replay/stretch.js";
import { frameLines } from "../replay/text.js";
import type { RunOutcome } from "../run/outcome.js";
import type { Session } from "../session.js";
import { findState, findThreadId } from "../source/find.js";
import type { SourceFlags } from "../source/source.js";
import { Trail } from "../source/trail.js";
import { withSource } from "../source/with-source.js";
import { printJsonWithList } from "../view/json-list.js";
import { clipped } from "../view/text.js";

export interface ReplayExecuteFlags extends SourceFlags {
  at?: string;
  values?: string;
  asNode?: string;
  inPlace?: boolean;
  against?: string;
  compare?: boolean;
  exitCode?: boolean;
  step?: boolean;
  format: "text" | "html";
}

interface Executed {
  /** The thread that was run again, and the checkpoint it was run from. */
  of: string;
  from: string;
  /** Checkpoints that had come of it, oldest first. */
  oldIds: string[];
  /** The thread that it ran on, and the checkpoint that what came now follows on. */
  threadId: string;
  base: string;
  outcome: RunOutcome;
}

const FAILED_EXIT = 1;

/** `replay --execute`: run a thread again from one of its checkpoints, and show what came of it this time. */
export async function replayExecute(
  session: Session,
  thread: string,
  flags: ReplayExecuteFlags,
): Promise<number> {
  refuseContradictions(flags);
  const executed = await execute(session, thread, flags);
  const { of, oldIds, threadId, base, outcome } = executed;
  return withSource(session, flags, {}, async (source) => {
    const old = new Reel(source, of, new Trail(source, of, oldIds));
    const now = new Reel(
      source,
      threadId,
      new Trail(source, threadId, await idsAfter(source, threadId, base)),
    );
    const differs = flags.compare
      ? await showCompared(session, executed, compareFrames(old.frames(), now.frames()))
      : await showFrames(session, executed, now);
    noteOutcome(session, executed, now.length);
    if (flags.exitCode) return differs ? FAILED_EXIT : 0;
    return outcome.error && !flags.compare ? FAILED_EXIT : 0;
  });
}

function refuseContradictions(flags: ReplayExecuteFlags): void {
  const refuse = (fault: string, hint: string): never => {
    throw new InvalidRequestError(fault, undefined, { hint });
  };
  if (flags.exitCode && !flags.compare) refuse("--exit-code needs something to compare", "add --compare");
  if (flags.against !== undefined && flags.url !== undefined)
    refuse("--against runs in this process, --url does not", "leave one of them out");
  if (flags.step || flags.format === "html")
    refuse("--execute goes without --step and --format html", "replay the new thread afterwards");
}

async function execute(session: Session, thread: string, flags: ReplayExecuteFlags): Promise<Executed> {
  const { at, asNode, inPlace = false, against } = flags;
  const values = valuesFlag(flags.values);
  const needsGraph = values !== undefined || asNode !== undefined;
  const started = await withSource(
    session,
    flags,
    { access: "write", graphs: needsGraph ? "required" : "optional" },
    async (source) => {
      const threadId = await findThreadId(source, thread);
      const from =
        at === undefined ? await startOfLastRun(source, threadId) : await findState(source, threadId, { at });
      const start = from.checkpoint?.checkpoint_id ?? "";
      const oldIds = start === "" ? [] : await idsAfter(source, threadId, start);
      const forked = await fork(source, from, { branch: inPlace, values, asNode });
      return { of: threadId, from: start, oldIds, forked };
    },
  );
  const { forked, ...before } = started;
  const { thread: target, checkpointId, base } = forked;
  const outcome = await runOn(session, { thread: target, flags, against, checkpointId });
  return { ...before, threadId: target.thread_id, base, outcome };
}

const documentHead = ({ from, threadId, outcome }: Executed) => ({
  thread_id: threadId,
  from_checkpoint_id: from,
  run: outcome,
});

function noteOutcome({ print }: Session, { outcome, threadId, oldIds }: Executed, now: number): void {
  if (print.isJson) return;
  const error = outcome.error ? `: ${clipped(outcome.error.message, 200)}` : "";
  print.note(`${outcome.status}${error}, thread ${threadId}, ${oldIds.length} steps before, ${now} now`);
}

/** Nothing was compared: nothing differs. */
async function showFrames({ print }: Session, executed: Executed, now: Reel): Promise<boolean> {
  const head = documentHead(executed);
  if (print.isJson) await printJsonWithList(print, head, "items", documents(now.frames()));
  else
    for await (const frame of now.frames()) {
      for (const line of frameLines(print, frame)) print.data(line);
      await print.drained();
    }
  return false;
}

async function* documents(frames: AsyncIterable<Frame>): AsyncGenerator<object> {
  for await (const { state, changes } of frames) yield { ...state, changes };
}

/** True when a step differs. */
async function showCompared(
  { print }: Session,
  executed: Executed,
  compared: AsyncIterable<ComparedStep>,
): Promise<boolean> {
  const steps: ComparedStep[] = [];
  let equal = true;
  let before: ComparedStep | undefined;
  if (!print.isJson) print.data(comparedHeading(print));
  for await (const step of compared) {
    equal &&= step.equal;
    if (print.isJson) steps.push(step);
    else for (const line of comparedLines(print, step, before)) print.data(line);
    before = step;
    await print.drained();
  }
  if (print.isJson) print.json({ ...documentHead(executed), equal, steps });
  return !equal;
}
