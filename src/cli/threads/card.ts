import type { Thread } from "../../models/thread.js";
import type { Printer } from "../print.js";
import { printFields } from "../view/fields.js";
import { valueTree } from "../view/value-tree.js";

/** A thread's own fields and its values, in a few lines. */
export function printThread(print: Printer, thread: Thread): void {
  const { thread_id, status, metadata, created_at, updated_at, error, ttl, values } = thread;
  printFields(print, [
    ["thread", thread_id],
    ["status", status],
    ["created", created_at],
    ["updated", updated_at],
    ["metadata", JSON.stringify(metadata)],
    ["error", error ?? undefined],
    ["expires", ttl ? `${ttl.expires_at} (${ttl.strategy})` : undefined],
  ]);
  const { colors, width } = print;
  for (const line of ["values:", ...valueTree(values, { colors, width })]) print.data(line);
}
