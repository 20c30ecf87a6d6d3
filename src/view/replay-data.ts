/** Data of a saved page: the thread row, and the steps as changes to the previous state. */
import type { Interrupt, ThreadTask } from "../models/state.js";
import type { Thread } from "../models/thread.js";
import type { Change } from "./changes.js";

export interface PageHead {
  thread: Pick<Thread, "thread_id" | "status" | "error" | "created_at" | "updated_at" | "state_updated_at">;
  graph_id: string | null;
  place: string;
}

export interface PageStep {
  /** Id of the checkpoint. */
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
  /** Values before the changes, if the page does not contain the previous step. */
  base?: unknown;
}

/** Steps are sorted oldest first. */
export type PageData = PageHead & { steps: PageStep[] };
