/** Converts the model calls of an attempt to rows of the storage. */
import type { OpsContext } from "../context/context.js";
import type { ModelUsage } from "../models/model-calls.js";
import type { Run } from "../models/run.js";
import { now } from "../storage/rows/rows.js";
import type { UsageRow } from "../storage/contract/usage.js";
import { scopeOf } from "../threads/thread-origin.js";

/** Undefined if no model was called, or the storage does not record usage. */
export function usageRows(
  context: OpsContext,
  { run_id, thread_id, metadata }: Run,
  attempt: number,
  usages: readonly ModelUsage[],
): readonly UsageRow[] | undefined {
  if (usages.length === 0 || !context.capabilities.usage) return undefined;
  const of = {
    run_id,
    attempt,
    thread_id,
    graph_id: String(metadata.graph_id),
    user_id: context.caller?.user.identity ?? null,
    scope: scopeOf(context),
    at: now(),
  };
  return usages.map((usage, seq) => ({ ...of, seq, ...usage }));
}
