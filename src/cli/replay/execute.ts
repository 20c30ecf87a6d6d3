/** `replay --execute`: runs a thread again from one of its checkpoints and shows the new steps. */
import { type Client, graphIdOf } from "../../client/client.js";
import { CheckpointPath } from "../../client/walk.js";
import type { ThreadState } from "../../models/state.js";
import type { ThreadInMemory } from "../../service/thread-copy.js";
import { InvalidRequestError } from "../../support/errors.js";
import { escapeControl } from "../../view/text.js";
import { fork, graphToRun, runOn, valuesFlag } from "../fork/branch.js";
import type { RunReport } from "../run/outcome.js";
import { findRun, findState, findThreadId, namedCheckpoint } from "../session/find.js";
import { storageConfig } from "../session/open.js";
import { isEphemeral, withClient } from "../session/open-client.js";
import type { ClientFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { printJsonWithList } from "../terminal/json-list.js";
import { clipped } from "../terminal/text.js";
import { comparedHeading, comparedLines, type ComparedStep, compareSteps } from "./compare.js";
import { type AgainRequest, beginningAt, beginningOfLastRun, beginningOfRun, tipOf } from "./last-run.js";
import { type HistoryStep, HistorySteps, idsAfter } from "./steps.js";
import { innerLines, stepLines } from "./text.js";

export interface ReplayExecuteFlags extends ClientFlags {
  checkpoint?: string;
  run?: string;
  values?: string;
  asNode?: string;
  keep?: boolean;
  inPlace?: boolean;
  against?: string;
  compare?: boolean;
  exitCode?: boolean;
  step?: boolean;
  format: "text" | "html";
}

/** What is repeated, and the steps to compare with. */
interface Found {
  threadId: string;
  from: ThreadState;
  requests: AgainRequest[];
  graph: string | undefined;
  /** The original checkpoints after `from`, oldest first. */
  oldIds: string[];
}

/** The thread of the new run. */
interface Target {
  threadId: string;
  checkpointId: string | undefined;
  /** The checkpoint before its first one. */
  base: string;
  /** The storage in memory with the thread; undefined if it is in the storage that was read. */
  storage: ThreadInMemory["storage"] | undefined;
}

interface Executed {
  found: Found;
  target: Target;
  outcome: RunReport;
  isKept: boolean;
}

const FAILED_EXIT = 1;

export async function replayExecute(
  session: Session,
  thread: string,
  flags: ReplayExecuteFlags,
): Promise<number> {
  refuseExecuteContradictions(thread, flags);
  const found = await withClient(session, flags, {}, (client) => find(session, client, thread, flags));
  const apart = await copyApart(session, found, flags);
  try {
    const target = await forkOf(session, found, apart?.storage, flags);
    try {
      return await executeAndShow(session, found, target, flags);
    } finally {
      // The storage is the user's: it keeps only what the user asked for.
      if (!apart && !keepsThread(flags))
        await withClient(session, flags, { access: "write" }, ({ threads }) =>
          threads.delete(target.threadId),
        );
    }
  } finally {
    await apart?.close();
  }
}

const keepsThread = ({ keep, inPlace }: ReplayExecuteFlags): boolean => keep === true || inPlace === true;

/** A copy in memory, so that the run leaves neither usage nor long-term memory. A server's storage cannot be copied. */
async function copyApart(
  session: Session,
  { threadId, from }: Found,
  flags: ReplayExecuteFlags,
): Promise<ThreadInMemory | undefined> {
  const checkpointId = from.checkpoint?.checkpoint_id;
  if (keepsThread(flags) || flags.url !== undefined || checkpointId == null) return undefined;
  const config = await storageConfig(session, flags);
  if (isEphemeral(config)) return undefined;
  const { threadInMemory } = await import("../../service/thread-copy.js");
  const place = { ...config.settings, cwd: config.baseDir };
  const copy = await threadInMemory(place, { threadId, checkpointId });
  if (copy.lacksItems)
    session.print.warn("the run sees only a part of the long-term memory, which is too large to copy");
  return copy;
}

async function forkOf(
  session: Session,
  { from }: Found,
  storage: Target["storage"],
  flags: ReplayExecuteFlags,
): Promise<Target> {
  const { asNode, inPlace = false } = flags;
  const values = valuesFlag(flags.values);
  const graphs = values !== undefined || asNode !== undefined ? "required" : "optional";
  return withClient(session, flags, { access: "write", graphs, storage }, async (client) => {
    const { thread, ...forked } = await fork(client, from, { branch: inPlace, values, asNode, afresh: true });
    return { ...forked, threadId: thread.thread_id, storage };
  });
}

async function executeAndShow(
  session: Session,
  found: Found,
  target: Target,
  flags: ReplayExecuteFlags,
): Promise<number> {
  const { graph, oldIds } = found;
  const { threadId, checkpointId, base, storage } = target;
  // On the same thread, the checkpoint already contains all answers before the last one.
  const requests = flags.inPlace ? found.requests.slice(-1) : found.requests;
  const outcome = await runOn(session, { threadId, flags, graph, checkpointId, requests, storage });
  const executed = { found, target, outcome, isKept: keepsThread(flags) };
  return withClient(session, flags, {}, (client) =>
    withClient(session, flags, { storage }, async (other) => {
      const old = new HistorySteps(
        client,
        found.threadId,
        new CheckpointPath(client, found.threadId, oldIds),
      );
      const path = new CheckpointPath(other, threadId, await idsAfter(other, threadId, base));
      const now = new HistorySteps(other, threadId, path);
      const differs = flags.compare
        ? await showCompared(session, executed, compareSteps(old.steps(), now.steps()))
        : await showSteps(session, executed, now);
      noteOutcome(session, executed, now.length);
      if (flags.exitCode) return differs ? FAILED_EXIT : 0;
      return outcome.error && !flags.compare ? FAILED_EXIT : 0;
    }),
  );
}

function refuseExecuteContradictions(thread: string, flags: ReplayExecuteFlags): void {
  const refuse = (fault: string, hint: string): never => {
    throw new InvalidRequestError(fault, undefined, { hint });
  };
  if (flags.exitCode && !flags.compare) refuse("--exit-code requires --compare", "add --compare");
  if (flags.run !== undefined && namedCheckpoint(thread, flags.checkpoint).checkpoint !== undefined)
    refuse("--run and a checkpoint cannot be combined", "remove one of them");
  if (flags.against !== undefined && flags.url !== undefined)
    refuse("--against runs in this process and cannot be combined with --url", "remove one of them");
  if (flags.step || flags.format === "html")
    refuse(
      "--execute cannot be combined with --step or --format html",
      "add --keep, and replay the new thread afterwards",
    );
}

async function find(
  session: Session,
  client: Client,
  thread: string,
  flags: ReplayExecuteFlags,
): Promise<Found> {
  const { thread: text, checkpoint: at } = namedCheckpoint(thread, flags.checkpoint);
  const threadId = await findThreadId(client, text);
  const run = flags.run === undefined ? undefined : (await findRun(client, flags.run, threadId)).run;
  // The thread may have runs of several graphs.
  const ran = run && graphIdOf(run) !== undefined ? run : await client.threads.get(threadId);
  const graph = flags.against ?? (await graphToRun(session, ran, flags));
  const { state: from, requests } = run
    ? await beginningOfRun(client, run)
    : at === undefined
      ? await beginningOfLastRun(client, threadId)
      : await beginningAt(client, await findState(client, threadId, { at }));
  const start = from.checkpoint?.checkpoint_id ?? "";
  const end = run && ((await tipOf(client, run)) ?? start);
  const oldIds = start === "" ? [] : await idsAfter(client, threadId, start, end);
  return { threadId, from, requests, graph, oldIds };
}

const documentHead = ({ found, target, outcome, isKept }: Executed) => ({
  thread_id: target.threadId,
  kept: isKept,
  from_checkpoint_id: found.from.checkpoint?.checkpoint_id ?? "",
  run: outcome,
});

function noteOutcome({ print }: Session, { outcome, target, found, isKept }: Executed, now: number): void {
  if (print.isJson) return;
  const error = outcome.error ? `: ${clipped(outcome.error.message, 200)}` : "";
  const place = isKept
    ? `thread ${target.threadId}`
    : `${target.storage ? "not stored" : "copy deleted"} (keep it with --keep)`;
  const { length } = found.oldIds;
  print.note(`${escapeControl(outcome.status)}${error}, ${place}, ${length} steps before, ${now} now`);
}

/** Returns false, because nothing was compared. */
async function showSteps({ print }: Session, executed: Executed, now: HistorySteps): Promise<boolean> {
  const head = documentHead(executed);
  if (print.isJson) await printJsonWithList(print, head, "items", executedDocuments(now.steps()));
  else
    for await (const step of now.steps()) {
      for (const line of stepLines(print, step)) print.data(line);
      for await (const inner of now.inner(step))
        for (const line of innerLines(print, inner)) print.data(line);
      await print.drained();
    }
  return false;
}

async function* executedDocuments(steps: AsyncIterable<HistoryStep>): AsyncGenerator<object> {
  for await (const { state, changes } of steps) yield { ...state, changes };
}

/** Returns true if a step differs. */
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
