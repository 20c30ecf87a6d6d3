/** Copies timers: crons, delayed runs, webhooks, idempotency keys, and the assistants that are stored with them. */
import type { TimerKind, TimerRow, TimerTable } from "../contract/storage.js";
import { pagesOf } from "../../support/read-ahead.js";
import { digestOf } from "./checkpoints.js";

interface CopyTimersOptions {
  from: TimerTable;
  to: TimerTable;
  kinds: readonly TimerKind[];
  /** Replace rows of the target that differ. */
  overwrite: boolean;
  /** Called for each page; may throw to stop. */
  onPage: () => void;
}

/** Copy all timers of these kinds. Without `overwrite`, a row that the target already has is kept, unless it is an earlier copy. */
export async function copyTimers(options: CopyTimersOptions): Promise<TimerCopy & { left: string[] }> {
  const { from, to, kinds, overwrite, onPage } = options;
  const copy = { total: 0, copied: 0, left: [] as string[] };
  for (const kind of kinds)
    for await (const rows of pagesOf((page) => from.list({ kind, ...page }))) {
      onPage();
      for (const row of rows) {
        const outcome = await copyTimer(to, row, overwrite);
        if (outcome === "exists") copy.left.push(row.id);
        else copy.total += 1;
        if (outcome === "copied") copy.copied += 1;
      }
    }
  return copy;
}

export interface TimerCopy {
  /** Rows that both storages now hold. */
  total: number;
  copied: number;
}

async function copyTimer(
  to: TimerTable,
  row: TimerRow,
  overwrite: boolean,
): Promise<"copied" | "current" | "exists"> {
  if (await to.insert(row)) return "copied";
  const held = await to.get(row.kind, row.id);
  if (held && digestOf(held.data) === digestOf(row.data)) return "current";
  if (!held || !(overwrite || isEarlier(held, row))) return "exists";
  return (await to.replace({ ...row, version: held.version })) ? "copied" : "exists";
}

/** Whether the target's assistant is an earlier copy: it has no version of its own. Other timers also change by themselves. */
function isEarlier(held: TimerRow, row: TimerRow): boolean {
  if (row.kind !== "assistant" || String(held.data.updated_at) > String(row.data.updated_at)) return false;
  const versions = (row.data.versions as { version: number }[]).map((each) => digestOf(each));
  const [oldest] = row.data.versions as { version: number }[];
  return (held.data.versions as { version: number }[]).every(
    (each) => versions.includes(digestOf(each)) || each.version < (oldest?.version ?? 0),
  );
}
