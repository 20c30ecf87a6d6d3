import { InvalidRequestError } from "../../errors.js";
import { fork, valuesFlag } from "../fork/branch.js";
import { runOn } from "../fork/run-on.js";
import { changeLines } from "../diff/lines.js";
import { compareFrames, type ComparedStep } from "../replay/compare.js";
import type { Frame } from "../replay/reel.js";
import { framesAfter, startOfLastRun } from "../replay/stretch.js";
import { frameLines } from "../replay/text.js";
import type { RunOutcome } from "../run/outcome.js";
import type { Session } from "../session.js";
import { findState, findThreadId } from "../source/find.js";
import type { SourceFlags } from "../source/source.js";
import { withSource } from "../source/with-source.js";
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
  from: string;
  threadId: string;
  outcome: RunOutcome;
  old: Frame[];
  now: Frame[];
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
  const steps = flags.compare ? compareFrames(executed.old, executed.now) : undefined;
  show(session, executed, steps);
  if (flags.exitCode) return steps?.every(({ equal }) => equal) ? 0 : FAILED_EXIT;
  return executed.outcome.error && !flags.compare ? FAILED_EXIT : 0;
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
      const old = start === "" ? [] : await framesAfter(source, threadId, start);
      return { start, old, forked: await fork(source, from, { branch: inPlace, values, asNode }) };
    },
  );
  const { start, old, forked } = started;
  const { thread: target, checkpointId, base } = forked;
  const outcome = await runOn(session, { thread: target, flags, against, checkpointId });
  const now = await withSource(session, flags, {}, (source) => framesAfter(source, target.thread_id, base));
  return { from: start, threadId: target.thread_id, outcome, old, now };
}

function show({ print }: Session, executed: Executed, steps: ComparedStep[] | undefined): void {
  const { from, threadId, outcome, old, now } = executed;
  if (print.isJson) {
    const equal = steps?.every((step) => step.equal);
    print.json({
      thread_id: threadId,
      from_checkpoint_id: from,
      run: outcome,
      ...(steps ? { equal, steps } : { items: now.map(({ state, changes }) => ({ ...state, changes })) }),
    });
    return;
  }
  if (steps) showCompared(print, steps);
  else for (const frame of now) for (const line of frameLines(print, frame)) print.data(line);
  const error = outcome.error ? `: ${clipped(outcome.error.message, 200)}` : "";
  print.note(`${outcome.status}${error}, thread ${threadId}, ${old.length} steps before, ${now.length} now`);
}

function showCompared(print: Session["print"], steps: readonly ComparedStep[]): void {
  const { green, red, yellow, dim } = print.colors;
  const paint = { "+": green, "-": red, "~": yellow };
  const half = Math.max(8, Math.min(40, Math.floor((print.width - 4) / 2)));
  print.data(dim(`  ${"OLD".padEnd(half)}  NEW`));
  for (const step of steps) {
    const sides = [step.old ?? "(ended)", step.new ?? "(ended)"].map((name) => clipped(name, half));
    const mark = step.equal ? dim("=") : red("≠");
    print.data(`${mark} ${(sides[0] ?? "").padEnd(half)}  ${sides[1] ?? ""}`);
    for (const { mark: sign, place, text } of changeLines(step.changes))
      print.data(`    ${paint[sign](sign)} ${clipped(`${place}: ${text}`, print.width - 6)}`);
  }
}
