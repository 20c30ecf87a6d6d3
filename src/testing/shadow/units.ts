/** What is executed again as one: a run with input, and the runs that resumed from it. */
import { createHash } from "node:crypto";
import type { Client } from "../../client/client.js";
import { walkAllRuns, walkRuns } from "../../client/walk.js";
import { isRecord } from "../../models/common.js";
import type { Run } from "../../models/run.js";
import { isFinished } from "../../models/run-status.js";

/** The ids of the runs of a unit, oldest first. */
export interface UnitRef {
  thread_id: string;
  run_ids: string[];
}

export interface UnitFilter {
  /** Only runs that were created at or after this time, ISO 8601. */
  since?: string | undefined;
  /** Only runs with this status, up to which their units are executed. */
  status?: Run["status"] | undefined;
  /** Only runs of this graph. */
  graphId?: string | undefined;
  /** Maximum number of units; the same ones in every call with the same runs. */
  sample?: number | undefined;
}

export const graphOfRun = ({ metadata }: Pick<Run, "metadata">): string | undefined =>
  typeof metadata.graph_id === "string" ? metadata.graph_id : undefined;

/** The units of the runs that match, by thread, and oldest first in each thread. */
export async function findUnits(client: Client, filter: UnitFilter): Promise<UnitRef[]> {
  const threads = new Map<string, UnitRef[]>();
  const found = new Map<string, UnitRef>();
  const { sample = Infinity, status } = filter;
  for (const { run_id, thread_id } of await selectedRuns(client, filter)) {
    if (found.size >= sample) break;
    const units = threads.get(thread_id) ?? (await unitsOf(client, thread_id));
    threads.set(thread_id, units);
    const whole = units.find(({ run_ids }) => run_ids.includes(run_id));
    if (!whole) continue;
    const run_ids = status === undefined ? whole.run_ids : upTo(whole.run_ids, run_id);
    const key = run_ids[0] ?? "";
    if ((found.get(key)?.run_ids.length ?? 0) < run_ids.length) found.set(key, { thread_id, run_ids });
  }
  const inOrder = [...threads].flatMap(([, units]) => units.map(({ run_ids: [first = ""] }) => first));
  return inOrder.flatMap((first) => found.get(first) ?? []);
}

const upTo = (ids: readonly string[], last: string): string[] => ids.slice(0, ids.indexOf(last) + 1);

type SelectedRun = Pick<Run, "run_id" | "thread_id">;

/** Newest first; with a sample, in an order that does not depend on their times. */
async function selectedRuns(
  client: Client,
  { since = "", status, graphId, sample }: UnitFilter,
): Promise<SelectedRun[]> {
  const selected: SelectedRun[] = [];
  for await (const run of walkAllRuns(client, status === undefined ? {} : { status })) {
    const { run_id, thread_id, created_at, metadata } = run as Run;
    if (created_at < since) break;
    const isOfGraph = graphId === undefined || graphOfRun({ metadata }) === graphId;
    if (isOfGraph && isFinished(run)) selected.push({ run_id, thread_id });
  }
  if (sample === undefined) return selected;
  const rank = ({ run_id }: SelectedRun) => createHash("sha256").update(run_id).digest("hex");
  return selected
    .map((run) => [rank(run), run] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, run]) => run);
}

/** All units of a thread, oldest first. */
async function unitsOf(client: Client, threadId: string): Promise<UnitRef[]> {
  const runs: Run[] = [];
  for await (const run of walkRuns(client, threadId)) if (isFinished(run)) runs.unshift(run);
  const units: UnitRef[] = [];
  for (const [index, run] of runs.entries()) {
    const unit = units.at(-1);
    const before = runs[index - 1];
    if (!unit || !before || begins(run) || graphOfRun(run) !== graphOfRun(before))
      units.push({ thread_id: threadId, run_ids: [run.run_id] });
    else unit.run_ids.push(run.run_id);
  }
  return units;
}

/** Whether a run does not resume from where the previous run stopped. */
const begins = (run: Run): boolean =>
  chosenCheckpoint(run) !== undefined || (run.kwargs.command == null && run.kwargs.input != null);

/** The checkpoint that the request selected to start from. */
export function chosenCheckpoint({ kwargs }: Pick<Run, "kwargs">): string | undefined {
  const { checkpoint, checkpoint_id, config } = kwargs;
  const configurable = isRecord(config) && isRecord(config.configurable) ? config.configurable : {};
  const named = [
    checkpoint_id,
    isRecord(checkpoint) ? checkpoint.checkpoint_id : undefined,
    configurable.checkpoint_id,
  ];
  return named.find((id) => typeof id === "string");
}
