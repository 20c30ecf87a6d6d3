/** What the page of a replay is given: the thread, and a step a checkpoint, each as the changes that lead to it. */
import type { Thread } from "../models/thread.js";
import type { ChangeLine } from "./change-lines.js";
import type { Change } from "./changes.js";

export interface PageHead {
  thread: Pick<Thread, "thread_id" | "status" | "error" | "created_at" | "updated_at">;
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
  ms: number | null;
  nodes: string[];
  next: string[];
  changes: Change[];
  /** The changes to read, without new messages, which the chat shows. */
  lines: ChangeLine[];
  interrupts: { id: string; value: unknown }[];
  errors: string[];
  /** Values before the changes, where the page has no step to take them from. */
  base?: unknown;
}
