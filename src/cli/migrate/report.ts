/** Says what a copy did, and decides what its end is worth. */
import type { MigrationReport } from "../../migration.js";
import type { Printer } from "../print.js";

type Left = MigrationReport["left"][number]["reason"];

export const LEFT_TEXTS: Readonly<Record<Left, string>> = {
  busy: "a run is in flight on it",
  busy_in_target: "a run is in flight on it in the target",
  changed_meanwhile: "it changed while it was copied",
  exists: "the target has another thread under this id",
  differs: "what the target holds is not what was copied",
};

const FAILED_EXIT = 1;
const LEFT_EXIT = 5;

/** 0 when all is in both storages, 1 when a comparison failed, 5 when something was left out. */
export function exitCodeOf({ left, left_items }: MigrationReport): number {
  const all = [...left, ...left_items];
  if (all.some(({ reason }) => reason === "differs")) return FAILED_EXIT;
  return all.length > 0 ? LEFT_EXIT : 0;
}

export async function printReport(print: Printer, report: MigrationReport): Promise<void> {
  const { from, to, left, left_items, ...counts } = report;
  if (print.isJson) {
    const place = ({ scheme, location }: typeof from) => ({ scheme, location: location ?? null });
    print.json({ from: place(from), to: place(to), ...counts, left, left_items });
  } else {
    const { threads, runs, checkpoints, items } = counts;
    await print.table(
      ["", "COPIED", "THERE BEFORE", "LEFT OUT"],
      [
        ["threads", threads.copied, threads.current, left.length],
        ["runs", runs.copied, runs.total - runs.copied, ""],
        ["checkpoints", checkpoints.copied, checkpoints.total - checkpoints.copied, ""],
        ["items", items.copied, items.total - items.copied, left_items.length],
      ].map((cells) => cells.map(String)),
    );
  }
  warnings(print, report);
}

function warnings(print: Printer, { from, to, left, left_items }: MigrationReport): void {
  for (const { thread_id, reason } of left)
    print.warn(`thread ${thread_id} was left out: ${LEFT_TEXTS[reason]}`);
  for (const { namespace, key } of left_items)
    print.warn(
      `item ${JSON.stringify(key)} of ${JSON.stringify(namespace)} was left out: the target has another`,
    );
  if (left.some(({ reason }) => reason === "busy" || reason === "changed_meanwhile"))
    print.note("run it again when they rest; runs of a dead server end with graph-serve recover --apply");
  if ([...left, ...left_items].some(({ reason }) => reason === "exists"))
    print.note("--overwrite replaces what is in the way");
  if (!from.durable || !to.durable)
    print.warn(
      `scheme ${from.durable ? to.scheme : from.scheme} keeps checkpoints only, no threads and no runs`,
    );
  if (from.keepsItems && !to.keepsItems) print.warn(`scheme ${to.scheme} keeps no long-term memory`);
}
