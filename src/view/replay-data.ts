/** What the page of a thread is given: its row, and a step a checkpoint, each as the changes that lead to it. */
import type { Interrupt, ThreadTask } from "../models/state.js";
import type { Thread } from "../models/thread.js";
import type { Change } from "./changes.js";

export interface PageHead {
  thread: Pick<Thread, "thread_id" | "status" | "error" | "created_at" | "updated_at" | "state_updated_at">;
  graph_id: string | null;
  place: string;
}

export interface PageStep {
  /** The checkpoint's. */
  id: string;
  parent: string | null;
  step: number | null;
  source: string;
  run_id: string | null;
  created_at: string | null;
  next: string[];
  tasks: ThreadTask[];
  interrupts: Interrupt[];
  changes: Change[];
  /** Values before the changes, where the page has no step to take them from. */
  base?: unknown;
}

/** The steps stand oldest first. */
export type PageData = PageHead & { steps: PageStep[] };
