/** Statuses of runs without schemas, because pages use them too. */

export const RUN_STATUSES = ["pending", "running", "success", "error", "timeout", "interrupted"] as const;
/**
 * Status of a run; `pending` and `running` are the statuses of a run that has not ended.
 * @example
 * ```ts
 * import type { RunStatus } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const { thread_id } = await service.threads.create({});
 * const status: RunStatus = "pending";
 * await service.runs.list(thread_id, { status }); // => []
 * ```
 */
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Statuses of a run that has not ended. */
export const UNFINISHED = ["pending", "running"] as const satisfies readonly RunStatus[];

/**
 * Whether a run has ended.
 * @param run a run row, or its status
 * @returns false if it is `pending` or `running`
 * @example
 * ```ts
 * import { isFinished } from "graph-serve";
 *
 * isFinished({ status: "success" }); // => true
 * isFinished({ status: "pending" }); // => false
 * ```
 */
export const isFinished = ({ status }: { status: RunStatus }): boolean =>
  !(UNFINISHED as readonly RunStatus[]).includes(status);

/** Status of a run that has ended. */
export type EndStatus = Exclude<RunStatus, (typeof UNFINISHED)[number]>;
