/** Starts an accepted run under the lease of its thread: row, execution. */
import { Command } from "@langchain/langgraph";
import { withoutBudgetAnswers } from "../runs/budget-guard.js";
import { previewOf } from "../graphs/thread-preview.js";
import type { JsonObject } from "../models/common.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import { now } from "../storage/rows/rows.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { RunHolder, RunKey, RunLease, RunPatch } from "../storage/contract/runs.js";
import type { Storage } from "../storage/contract/storage.js";
import type { ThreadPatch, ThreadRow } from "../storage/contract/threads.js";
import { NotFoundError } from "../support/errors.js";
import type { OpsContext } from "../context/context.js";
import { clockPastRow } from "../context/thread-heads.js";
import {
  addressed,
  type Answer,
  isAnswer,
  isEmpty,
  type Positions,
  unknownInterrupts,
  withoutGiven,
} from "../runs/answers.js";
import { Execution } from "../runs/execute.js";
import { updateRefusal } from "../runs/command-guard.js";
import { RunAborted } from "../runs/run-aborted.js";
import { guardGraph, migrated } from "../runs/graph-guard.js";
import { type EngineContext, LiveRun } from "../runs/live-runs.js";
import { requeuedResumption, resumptionOf } from "../runs/resumption.js";
import type { LiveRunOptions } from "../runs/run-options.js";
import { type CheckedRequest, newRun, refuseUnfiltered } from "../runs/run-request.js";
import { claimed, queued, requeued, started } from "../runs/state.js";
import { onEnd } from "./at-end.js";
import { hasWaiting, MustWait } from "./thread-turns.js";
import { claim, ownThread, scopeOf, writersWith } from "../threads/thread-origin.js";
import { createThread, renewedTtl } from "../threads/thread-state.js";

/** Starts a run that is stored, or being stored, when its thread is free. Never rejects. */
export async function beginQueued(
  context: EngineContext,
  checked: CheckedRequest,
  live: LiveRun,
  waiting: Promise<ThreadLease>,
  stored: Promise<void>,
): Promise<void> {
  try {
    const lease = await waiting;
    const prepare = async () => {
      await stored;
      return prepareRun(context, checked, live, lease, (patch) => resumeThreadRow(context, live, patch));
    };
    await live.begin(lease, prepare());
  } catch (error) {
    // If storing failed, the caller gets that error. A stored run must be settled here.
    await stored.then(
      () => live.fail(error),
      () => undefined,
    );
  }
}

/** Prepares the execution under the lease of the thread. `store` returns whether the row is already `running`. */
export async function prepareRun(
  context: EngineContext,
  checked: CheckedRequest,
  live: LiveRun,
  lease: ThreadLease,
  store: (patch: ThreadPatch) => Promise<boolean>,
  clockWaitMs?: number,
): Promise<Execution> {
  const { threadId, stamp, earlier } = checked;
  const { run, log, watch, holder } = live;
  await context.live.results.flush(threadId);
  let row = await requireThread(context, threadId, checked.request);
  // With a shared queue, interrupted runs are already ahead of this one in the queue.
  if (row.status === "busy" && context.capabilities.takeover && !earlier && !context.queue.isShared) {
    await awaitRecovery(context, threadId, lease);
    row = await requireThread(context, threadId, checked.request);
  }
  const caughtUp = clockPastRow(row, clockWaitMs);
  if (caughtUp) await caughtUp;
  const graphs = await writersWith(context, row, checked.bound.id);
  const bound = { ...checked.bound };
  if (graphs.length > 1) {
    const config = { configurable: checked.configurable };
    bound.filter = await context.registry.filterAmong(checked.bound, graphs, config);
  }
  if (checked.modes.includes("events")) refuseUnfiltered(context, bound.filter);
  const { configurable, input: given } = context.migrations
    ? await migrated(context, row, bound, lease, checked)
    : checked;
  const command = given instanceof Command ? given : undefined;
  const resumes = given === null || command !== undefined;
  // The state of other threads has no open tasks, or they were stopped on purpose.
  const hasTasks = resumes || row.status === "interrupted" || row.status === "error";
  const asked = hasTasks
    ? await guardGraph(context, graphs, { threadId, bound, configurable, resumes })
    : undefined;
  const own = { ...checked, bound, configurable };
  const { refusal, input } = command
    ? await readCommand(context, own, command, live, asked)
    : { refusal: undefined, input: given };
  const ids = { thread_id: threadId, run_id: run.run_id };
  const request = { ...own, input, configurable: { ...configurable, ...ids, ...stamp } };
  // Nothing may throw between storing the row and creating the execution that settles it.
  const { preview: stored } = row;
  const preview = stored?.key ? stored : previewOf(input, bound.filter, { step: stored?.steps });
  const patch = refusal
    ? { updated_at: now() }
    : {
        updated_at: now(),
        status: "busy" as const,
        mergeMetadata: { ...stamp },
        ...(context.caller && claim(context.caller)),
        graphs,
        ...(checked.request.config && { config: run.kwargs.config as JsonObject }),
        ...(preview && preview !== stored && { preview }),
        ...(context.settings.ttl && renewedTtl(context, row)),
      };
  const isBegun = await store(patch);
  const origin = { graphs, scope: scopeOf(context) ?? row.scope };
  const execution = { run, request, origin, holder, earlier, isBegun };
  return new Execution(context, { ...execution, lease, log, watch, refusal, preview });
}

/**
 * What the graph gets for a command, and the error with which the run fails instead: for a strict resume of unknown
 * interrupts, or an update that the graph's state rejects. Answers of an earlier attempt were checked before.
 */
async function readCommand(
  context: OpsContext,
  checked: CheckedRequest,
  command: Answer,
  live: LiveRun,
  asked: boolean | undefined,
): Promise<{ refusal: Error | undefined; input: unknown }> {
  const open = isAnswer(command) ? await openPositions(context, checked, command, live) : undefined;
  const isChecked = checked.request.strict_resume && !live.resumption?.answers;
  const unknown = isChecked && open && unknownInterrupts(live.run, open);
  const refusal = unknown || (await updateRefusal(context, checked, command));
  return {
    refusal,
    input: isAnswer(command) ? await answersOf(checked, command, live, asked, open) : command,
  };
}

/**
 * The answer without the parts that earlier attempts have given, and without those to budget questions. Keeps the positions
 * of the questions for later attempts.
 * @param asked whether a budget question is pending; undefined if that is unknown
 */
async function answersOf(
  { bound, configurable }: CheckedRequest,
  answer: Answer,
  live: LiveRun,
  asked: boolean | undefined,
  open: Positions | undefined,
): Promise<unknown> {
  const before = live.resumption?.answers;
  const left = before && open ? withoutGiven(answer, before, open) : answer;
  if (!isAnswer(left)) return left;
  if (live.resumption && open && !before) live.resumption = { ...live.resumption, answers: open };
  const answers = asked === false ? left : await withoutBudgetAnswers(bound, left, configurable);
  return open && isAnswer(answers) && !before ? addressed(answers, open) : answers;
}

/** Undefined if nothing depends on them: a storage that no other process can take over keeps none for later attempts. */
async function openPositions(
  context: OpsContext,
  { request, bound, configurable }: CheckedRequest,
  answer: Answer,
  { resumption }: LiveRun,
): Promise<Positions | undefined> {
  if (!resumption && !isEmpty(answer) && !request.strict_resume) return undefined;
  const { interruptPositions } = await import("../threads/pending-interrupts.js");
  return interruptPositions(context, bound.graph, configurable);
}

/** An unlocked thread with the status `busy` was left by a dead process. Its runs resume before this one. */
async function awaitRecovery(context: EngineContext, threadId: string, lease: ThreadLease): Promise<void> {
  await context.recover({ threadId, under: lease });
  context.live.stopping.throwIfAborted();
}

export function newLiveRun(
  context: EngineContext,
  checked: CheckedRequest,
  options: LiveRunOptions,
  attempt: number,
): LiveRun {
  const { request, since } = checked;
  const run = newRun(context, checked, attempt);
  const resumption = context.capabilities.takeover ? resumptionOf(context, request, options) : null;
  const { atEnd } = options;
  const ifLost =
    resumption && !options.unattended ? () => requeuedResumption(context, request, options) : undefined;
  const ending = {
    ...options,
    ifLost,
    ...(request.webhook != null && {
      atEnd: onEnd(context, run, atEnd),
      ifUnbegun: () => onEnd(context, run, undefined, run)(false),
    }),
  };
  return new LiveRun(context, run, since, ending, resumption);
}

// The thread of a run that starts. The caller holds its lease.

/**
 * The thread of a run. A missing thread is created with the metadata of the run if the request allows it, so that thread
 * searches find it. An existing thread keeps its metadata.
 * @throws NotFoundError (`thread_not_found`), also for a thread of another caller
 * @throws ThreadExistsError if the thread to create belongs to another caller (`thread_exists`)
 */
export async function requireThread(
  context: OpsContext,
  threadId: string,
  { if_not_exists, metadata }: RunCreateRequest,
): Promise<ThreadRow> {
  const row = await ownThread(context, threadId);
  if (row) return row;
  if (if_not_exists === "create") {
    // Concurrent requests may create the thread without a lock: one succeeds.
    const created =
      (await createThread(context, { thread_id: threadId, metadata })) ??
      (await ownThread(context, threadId));
    if (created) return created;
  }
  throw new NotFoundError("thread", threadId);
}

/** Attempts to store a run whose thread is deleted again and again. */
const MOST_THREADS = 5;

/**
 * Stores a run on its thread, without the lock of the thread: a sweep or a deletion may remove the thread in between. It is
 * then created again, if the request allows it.
 * @throws the same errors as `requireThread`
 */
export async function storeOnThread<T>(
  context: OpsContext,
  threadId: string,
  request: RunCreateRequest,
  store: () => Promise<T>,
): Promise<T> {
  for (let left = MOST_THREADS; ; left -= 1) {
    await requireThread(context, threadId, request);
    try {
      return await store();
    } catch (error) {
      const isGone = error instanceof NotFoundError && error.code === "thread_not_found";
      if (!isGone || request.if_not_exists !== "create" || left <= 1) throw error;
    }
  }
}

/**
 * Stores the row of the run, or takes an existing one over, and updates its thread. After a storage error the row may
 * exist: a run with a known id then continues. With `isNext`, the run only starts if no other process has queued runs on
 * the thread.
 * @throws NotFoundError (`thread_not_found`)
 * @throws MustWait if runs of other processes are queued on the thread
 */
export async function insertRun(
  context: EngineContext,
  checked: CheckedRequest,
  { run, resumption }: LiveRun,
  thread: ThreadPatch,
  isNext = false,
): Promise<false> {
  const { storage, live, ownerId } = context;
  const { known, request, threadId } = checked;
  const lease = { ...(run.attempt === 0 ? queued(ownerId) : started(ownerId)), resumption };
  // The statement that stores a new run checks this too.
  if (isNext && known?.from && (await hasWaiting(context, threadId))) throw new MustWait();
  if (request.webhook != null) await registerRunWebhook(context, run, checked);
  let isStored: boolean;
  try {
    isStored = await (known?.from
      ? takeRun(storage, run, known.from, { updated_at: thread.updated_at, ...lease }, thread)
      : storage.runs.insert({ ...run, ...lease }, thread, isNext));
  } catch (error) {
    live.results.markUncertain(run, known !== undefined);
    throw error;
  }
  if (isStored) return false;
  await withdrawRunWebhook(context, run, checked);
  const mustWait = isNext && !known?.from && (await storage.threads.get(threadId)) !== undefined;
  throw mustWait ? new MustWait() : new NotFoundError("thread", threadId);
}

/** `RunTable.take`, or two updates on a storage that only this process uses. */
async function takeRun(
  { runs, threads }: Storage,
  { run_id, thread_id }: RunKey,
  from: RunHolder,
  patch: RunPatch & RunLease,
  thread: ThreadPatch,
): Promise<boolean> {
  if (runs.take) return runs.take({ run_id, thread_id }, from, patch, thread);
  if (!(await runs.update(run_id, patch, from))) return false;
  return (await threads.update(thread_id, thread)) !== undefined;
}

/**
 * Registers the webhook of a run, if it has one. Call this before storing the run, so that no end is missed. A
 * delayed run has had its webhook registered already.
 */
export async function registerRunWebhook(
  context: OpsContext,
  run: Run,
  { request: { webhook }, known }: Pick<CheckedRequest, "request" | "known">,
): Promise<void> {
  if (webhook == null || known?.from) return;
  const { registerWebhook } = await import("../webhooks/webhooks.js");
  await registerWebhook(context, run, webhook);
}

/** Removes the webhook of a run that was not stored. Another request may have stored a run that was requested earlier. */
export async function withdrawRunWebhook(
  { storage }: OpsContext,
  { run_id }: Run,
  { request: { webhook }, known }: Pick<CheckedRequest, "request" | "known">,
): Promise<void> {
  if (webhook != null && !known) await storage.timers?.delete("webhook", run_id);
}

/**
 * Stores that a queued run is running and its thread busy again.
 * @throws RunAborted if another process has cancelled the run
 * @throws NotFoundError (`run_not_found`)
 */
async function resumeThreadRow(
  { storage }: OpsContext,
  { run, holder: { owner }, resumption }: LiveRun,
  patch: ThreadPatch,
): Promise<true> {
  const { run_id, attempt } = run;
  const begun = {
    updated_at: patch.updated_at,
    status: "running" as const,
    ...claimed(owner, run),
    ...(resumption?.answers && { resumption }),
  };
  if (await takeRun(storage, run, requeued({ attempt }, owner), begun, patch)) return true;
  const isCancelled = (await storage.runs.cancelRequests(owner)).includes(run_id);
  if (isCancelled) throw RunAborted.from("cancelled");
  throw new NotFoundError("run", run_id);
}
