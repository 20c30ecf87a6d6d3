/** What a run's row keeps for the case that its process dies, and the request that another process reads from it. */
import { isDeepStrictEqual } from "node:util";
import type { Caller } from "../models/caller.js";
import type { RunCreateRequest } from "../models/run.js";
import type { Resumption, RunRow } from "../storage/contract/storage.js";
import { tryOr } from "../support/errors.js";
import { maskSecrets } from "../support/secrets.js";
import type { OpsContext } from "../context/context.js";
import type { LiveRunOptions } from "./run-options.js";

type Options = Pick<LiveRunOptions, "unattended" | "stateless" | "atEnd">;

/** A run that ends with its client's connection is not gone on with: nothing of it need be known. */
const ATTENDED: Resumption = { unattended: false, isWhole: false, caller: null, spent_ms: 0 };

export function resumptionOf(
  { caller }: OpsContext,
  { config, context, webhook }: RunCreateRequest,
  { unattended = false, stateless, atEnd }: Options,
): Resumption {
  if (!unattended) return ATTENDED;
  const stored = caller && storable(caller);
  return {
    unattended,
    isWhole: isStorable(config) && isStorable(context) && isStorable(caller),
    caller: stored ?? null,
    ...(stateless && { stateless: { temporary: atEnd !== undefined } }),
    ...(webhook != null && { webhook }),
    spent_ms: 0,
  };
}

/** What the authentication gives is JSON, or should be. */
export const storable = (caller: Caller): Caller | undefined =>
  tryOr(() => maskSecrets(JSON.parse(JSON.stringify(caller)) as Caller));

/** Whether rows keep all of it: JSON, and no secret. */
export const isStorable = (value: unknown): boolean =>
  value == null ||
  (tryOr(() => isDeepStrictEqual(maskSecrets(JSON.parse(JSON.stringify(value))), value)) ?? false);

/** The request as the client sent it, as far as the row has it. */
export function originalRequest({
  assistant_id,
  metadata,
  kwargs,
  multitask_strategy,
}: RunRow): RunCreateRequest {
  const { graph_id, assistant_id: _, ...own } = metadata;
  const request = { ...kwargs, metadata: own, multitask_strategy } as Omit<RunCreateRequest, "assistant_id">;
  // Another graph may be the default by now.
  return { ...request, assistant_id: typeof graph_id === "string" ? graph_id : assistant_id };
}
