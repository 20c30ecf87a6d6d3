/** The runs of a thread up to a given run, each with its checkpoints. */
import { InvalidRequestError, ThreadBusyError } from "../../support/errors.js";
import { isRecord } from "../../models/common.js";
import type { Run } from "../../models/run.js";
import { isFinished } from "../../models/run-status.js";
import type { ThreadState } from "../../models/state.js";
import type { Thread } from "../../models/thread.js";
import type { Client } from "../../client/client.js";
import { walkRuns, walkStates } from "../../client/walk.js";
import { chosenCheckpoint } from "../../testing/shadow/units.js";

export interface RecordedRun {
  run: Run;
  /** State at the start; undefined for the first run of a thread, or if it is no longer stored. */
  start: ThreadState | undefined;
  /** State at the end; undefined if the run wrote no checkpoint. */
  end: ThreadState | undefined;
  /** Checkpoints of the run, oldest first. */
  made: ThreadState[];
  /** States before the run, newest first. */
  before: ThreadState[];
  /** The run that resumed from its end, and whether that run stopped at the same interrupt. */
  next?: { run: Run; isStillThere: boolean };
}

/**
 * The runs that a case must repeat to reproduce `target`, oldest first.
 * @throws ThreadBusyError if one of them is in flight (`thread_busy`)
 * @throws InvalidRequestError if a case cannot repeat one of them (`invalid_request`)
 */
export async function storedRuns(
  client: Client,
  target: Run,
  thread: Pick<Thread, "status">,
): Promise<RecordedRun[]> {
  const all: Run[] = [];
  for await (const run of walkRuns(client, target.thread_id)) all.unshift(run);
  // By position: several runs can be created in the same millisecond.
  const end = all.findIndex(({ run_id }) => run_id === target.run_id) + 1;
  const runs = all.slice(0, end);
  runs.forEach(refuseUnrepeatable);
  const states: ThreadState[] = [];
  for await (const state of walkStates(client, target.thread_id)) states.unshift(state);
  refuseEdited(
    [...statesBefore(runs.at(-1) ?? target, all, states), ...states.filter((state) => isOf(state, target))],
    new Set(runs.map(({ run_id }) => run_id)),
  );
  const found = runs.map((run) => storedRun(run, all, states)).map(withNext);
  refuseCancelled(found, thread, end === all.length);
  return found;
}

function withNext(one: RecordedRun, index: number, all: readonly RecordedRun[]): RecordedRun {
  const next = all.slice(index + 1).find(({ start }) => start !== undefined && start === one.end);
  return next ? { ...one, next: { run: next.run, isStillThere: next.end === one.end } } : one;
}

function refuseUnrepeatable(run: Run, index: number): void {
  const { run_id, thread_id, status, error } = run;
  if (!isFinished(run)) throw new ThreadBusyError(thread_id, `run ${run_id} is ${status}`);
  if (status !== "timeout") return;
  throw new InvalidRequestError(
    `run ${index + 1} of the thread (${run_id}) timed out${error === null ? "" : `: ${error}`}; a case cannot repeat that`,
  );
}

/** Rejects threads with states that were written outside of runs, because a case cannot reproduce them. */
function refuseEdited(states: readonly ThreadState[], runIds: ReadonlySet<string>): void {
  const foreign = states.find(
    ({ metadata: { run_id, source } }) => source === "update" || !runIds.has(String(run_id)),
  );
  if (!foreign) return;
  const { step, source } = foreign.metadata;
  throw new InvalidRequestError(
    `the thread has a state that was not created by one of its runs (step ${String(step)}, ${String(source)}); a case cannot repeat that`,
    undefined,
    { hint: "choose an earlier run, or a run of another thread" },
  );
}

const isOf = ({ metadata }: ThreadState, { run_id }: Run): boolean => metadata.run_id === run_id;

/**
 * The states before the first one of the run, oldest first. A run without a state follows all that existed when it ended:
 * earlier runs may have written their states after it was created, while it waited for its turn.
 */
function statesBefore(run: Run, all: readonly Run[], states: readonly ThreadState[]): ThreadState[] {
  const first = states.findIndex((state) => isOf(state, run));
  if (first !== -1) return states.slice(0, first);
  const later = new Set<unknown>(all.slice(all.indexOf(run) + 1).map(({ run_id }) => run_id));
  return states.filter(
    ({ created_at, metadata: { run_id } }) =>
      created_at !== null && created_at <= run.updated_at && !later.has(run_id),
  );
}

function storedRun(run: Run, all: readonly Run[], states: readonly ThreadState[]): RecordedRun {
  const made = states.filter((state) => isOf(state, run));
  const before = statesBefore(run, all, states).reverse();
  const chosen = chosenCheckpoint(run);
  const start =
    chosen === undefined ? before[0] : before.find(({ checkpoint }) => checkpoint?.checkpoint_id === chosen);
  const end = made.at(-1) ?? start;
  return { run: withPause(run, end), start, end, made, before };
}

/** A server with LangGraph's statuses reports interrupted runs as `success`. */
function withPause(run: Run, end: ThreadState | undefined): Run {
  const hasMore = end !== undefined && end.next.length > 0;
  return run.status === "success" && hasMore ? { ...run, status: "interrupted" } : run;
}

/**
 * The executed nodes, in start order; undefined if the checkpoints do not contain them: some are deleted, or the run
 * used `goto`.
 */
export function executedNodes(stored: RecordedRun): string[] | undefined {
  const { run, start, made } = stored;
  const { command } = run.kwargs;
  const wasSent = isRecord(command) && (command.goto != null || command.update != null);
  const beginsWithInput = made[0]?.metadata.source === "input";
  if (wasSent || (beginsWithInput ? false : !start)) return undefined;
  const chain = beginsWithInput ? made : [...(start ? [start] : []), ...made];
  const isWhole = chain.every(
    (state, index) =>
      index === 0 || state.parent_checkpoint?.checkpoint_id === chain[index - 1]?.checkpoint?.checkpoint_id,
  );
  if (!isWhole) return undefined;
  const isInside = hasStopped(stored);
  const steps = isInside ? chain : chain.slice(0, -1);
  if (run.status === "error" && !isInside) return undefined;
  return steps.flatMap(({ tasks }) => tasks.map(({ name }) => name)).filter((name) => name !== "__start__");
}

/**
 * Whether a superstep had started when the run ended: it was interrupted or failed in it, instead of stopping before it at
 * a breakpoint. Pending writes can belong to a later run; if the next run resumed with an answer, this one was interrupted.
 */
export function hasStopped({ run, end, next }: RecordedRun): boolean {
  if (next && chosenCheckpoint(next.run) === undefined) {
    const { command } = next.run.kwargs;
    return isRecord(command) && command.resume != null;
  }
  const tasks = end?.tasks ?? [];
  return tasks.some(({ error, interrupts }) =>
    run.status === "error" ? error !== null : interrupts.length > 0,
  );
}

/** Rejects cancelled runs; at a breakpoint or an interrupt, the next run resumes from there instead. */
function refuseCancelled(
  found: readonly RecordedRun[],
  { status }: Pick<Thread, "status">,
  isLatest: boolean,
): void {
  found.forEach((stored, index) => {
    if (stored.run.status !== "interrupted" || hasStopped(stored)) return;
    const following = found[index + 1]?.run.kwargs;
    const isLeft = following
      ? following.input != null && following.command == null
      : isLatest && status !== "interrupted";
    if (!isLeft) return;
    throw new InvalidRequestError(`run ${stored.run.run_id} was cancelled; a case cannot repeat that`);
  });
}
