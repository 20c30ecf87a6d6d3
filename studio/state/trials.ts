/** Answers to an interrupt that are tried on copies of the thread, in parallel. The thread itself stays as it is. */
import { signal } from "@preact/signals";
import type { Interrupt, ThreadState } from "../../src/models/state.js";
import { errorLine } from "../../src/view/text.js";
import { ApiError, ask, LostRequest } from "../api.js";
import { inFlight, pathOf } from "./live-run.js";
import { resumeOf } from "./questions.js";
import { tabList } from "./tab.js";

/** Maximum number of answers that are compared. */
export const MOST_TRIALS = 4;
/** Minutes until a copy is deleted. */
const COPY_MINUTES = 1440;

export interface Trial {
  /** Number among the trials of an interrupt. */
  id: number;
  /** Id of the copy; undefined until it exists. */
  threadId: string | undefined;
  /** Answers in the order of the interrupts. */
  answers: readonly unknown[];
  state: "running" | "done" | "waits" | "failed";
  error?: string;
}

/** This tab keeps the trials across reloads. */
const KEPT = "graph-serve.trials";
/** Maximum number of interrupts whose trials are kept. */
const MOST_KEPT = 20;

/** By thread and interrupts. */
type Trials = ReadonlyMap<string, readonly Trial[]>;
const all = signal<Trials>(new Map(tabList<[string, Trial[]]>(KEPT)));
/** Kept trials whose copies were not read since the reload. */
const unread = new Set(all.peek().keys());

export const trialsOf = (key: string): readonly Trial[] => all.value.get(key) ?? [];

/** Replaces the trial with this id, or adds it; undefined removes it. */
function set(key: string, id: number, trial: Trial | undefined): void {
  const trials = all.peek().get(key) ?? [];
  const others = trials.filter((each) => each.id !== id);
  const next = trial ? [...others, trial].sort((a, b) => a.id - b.id) : others;
  all.value = new Map(all.peek()).set(key, next);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify([...all.peek()].slice(-MOST_KEPT)));
  } catch {
    // The answers exceed the storage of the browser: they are lost on a reload.
  }
}

/** Runs the answers on a copy of the thread. */
export async function tryAnswers(
  key: string,
  { threadId, graph, answers }: { threadId: string; graph: string; answers: readonly unknown[] },
): Promise<void> {
  const id = Math.max(-1, ...trialsOf(key).map((each) => each.id)) + 1;
  let trial: Trial = { id, threadId: undefined, answers, state: "running" };
  set(key, id, trial);
  try {
    const copy = await ask<{ thread_id: string }>("POST", `/threads/${encodeURIComponent(threadId)}/copy`);
    const path = `/threads/${copy.body.thread_id}`;
    trial = { ...trial, threadId: copy.body.thread_id };
    const metadata = { answer: answers.length === 1 ? answers[0] : answers };
    await ask("PATCH", path, { body: { metadata, ttl: COPY_MINUTES } });
    const before = (await ask<ThreadState>("GET", `${path}/state`)).body;
    const command = { resume: resumeFor(before.interrupts, answers) };
    set(key, id, trial);
    await ask("POST", `${path}/runs/wait`, {
      body: { assistant_id: graph, command, on_disconnect: "continue" },
    });
    set(key, id, await withOutcome(trial, copy.body.thread_id));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The run continues on the server. A reload of the page loses the response too.
    if (error instanceof LostRequest && trial.threadId !== undefined) unread.add(key);
    else set(key, id, { ...trial, state: "failed", error: error.message });
  }
}

/** Reads the outcomes of trials that were kept across a reload. Removes those whose copy no longer exists. */
export async function readKeptTrials(key: string): Promise<void> {
  if (!unread.delete(key)) return;
  await Promise.all(
    trialsOf(key).map(async (trial) => {
      const { id, threadId } = trial;
      if (threadId === undefined) return set(key, id, undefined);
      try {
        const run = await inFlight(threadId);
        if (run !== undefined) await ask("GET", `${pathOf(threadId)}/${encodeURIComponent(run)}/join`);
        set(key, id, await withOutcome(trial, threadId));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 404) set(key, id, undefined);
      }
    }),
  );
}

async function withOutcome({ id, answers }: Trial, threadId: string): Promise<Trial> {
  const { tasks, next } = (await ask<ThreadState>("GET", `/threads/${threadId}/state`)).body;
  const failed = tasks.find(({ error }) => error !== null);
  return {
    id,
    threadId,
    answers,
    state: failed ? "failed" : next.length > 0 ? "waits" : "done",
    ...(failed?.error != null && { error: errorLine(failed.error) }),
  };
}

/** The value of `command.resume` for answers in the order of these interrupts. */
export const resumeFor = (
  interrupts: readonly Pick<Interrupt, "id">[],
  answers: readonly unknown[],
): unknown => resumeOf(new Map(interrupts.map(({ id }, index) => [id, answers[index]])), interrupts.length);
