/** Answers to an interrupt that are tried on copies of the thread, in parallel. The thread itself stays as it is. */
import { signal } from "@preact/signals";
import type { Interrupt, ThreadState } from "../../src/models/state.js";
import { errorLine } from "../../src/view/text.js";
import { ApiError, ask } from "../api.js";
import { resumeOf } from "./questions.js";

/** Maximum number of answers that are compared. */
export const MOST_TRIALS = 4;
/** Minutes until a copy is deleted. */
const COPY_MINUTES = 1440;

export interface Trial {
  /** Id of the copy; undefined until it exists. */
  threadId: string | undefined;
  /** Answers in the order of the interrupts. */
  answers: readonly unknown[];
  state: "running" | "done" | "waits" | "failed";
  error?: string;
}

/** By thread and checkpoint. */
const all = signal<ReadonlyMap<string, readonly Trial[]>>(new Map());
export const trialsOf = (key: string): readonly Trial[] => all.value.get(key) ?? [];

/** Runs the answers on a copy of the thread. */
export async function tryAnswers(
  key: string,
  { threadId, graph, answers }: { threadId: string; graph: string; answers: readonly unknown[] },
): Promise<void> {
  const index = trialsOf(key).length;
  const set = (trial: Trial) => {
    const trials = [...(all.peek().get(key) ?? [])];
    trials[index] = trial;
    all.value = new Map(all.peek()).set(key, trials);
  };
  let trial: Trial = { threadId: undefined, answers, state: "running" };
  set(trial);
  try {
    const copy = await ask<{ thread_id: string }>("POST", `/threads/${encodeURIComponent(threadId)}/copy`);
    const path = `/threads/${copy.body.thread_id}`;
    set((trial = { ...trial, threadId: copy.body.thread_id }));
    const metadata = { answer: answers.length === 1 ? answers[0] : answers };
    await ask("PATCH", path, { body: { metadata, ttl: COPY_MINUTES } });
    const before = (await ask<ThreadState>("GET", `${path}/state`)).body;
    const body = { assistant_id: graph, command: { resume: resumeFor(before.interrupts, answers) } };
    await ask("POST", `${path}/runs/wait`, { body });
    const after = (await ask<ThreadState>("GET", `${path}/state`)).body;
    const failed = after.tasks.find(({ error }) => error !== null);
    set({
      ...trial,
      state: failed ? "failed" : after.next.length > 0 ? "waits" : "done",
      ...(failed?.error != null && { error: errorLine(failed.error) }),
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    set({ ...trial, state: "failed", error: error.message });
  }
}

/** The value of `command.resume` for answers in the order of these interrupts. */
export const resumeFor = (
  interrupts: readonly Pick<Interrupt, "id">[],
  answers: readonly unknown[],
): unknown => resumeOf(new Map(interrupts.map(({ id }, index) => [id, answers[index]])), interrupts.length);
