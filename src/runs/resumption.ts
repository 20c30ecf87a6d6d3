/** What a run's row stores so that another process can resume the run, and the request restored from it. */
import { isDeepStrictEqual } from "node:util";
import type { Caller } from "../models/caller.js";
import type { RunCreateRequest } from "../models/run.js";
import type { Resumption, RunRow } from "../storage/contract/runs.js";
import { InvalidRequestError } from "../support/errors.js";
import { tryOr } from "../support/errors/thrown.js";
import { maskSecrets } from "../support/secrets.js";
import type { OpsContext } from "../context/context.js";
import type { LiveRunOptions } from "./run-options.js";

type Options = Pick<LiveRunOptions, "unattended" | "stateless" | "atEnd">;
type RequeueOptions = Pick<LiveRunOptions, "log" | "stateless" | "atEnd">;

/** A run that ends with its client's connection is not resumed, so nothing is stored. */
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

/** What the row of a requeued run stores, whether its client waits or not: every process may execute the run. */
export function requeuedResumption(
  context: OpsContext,
  request: RunCreateRequest,
  { log, ...options }: RequeueOptions,
): Resumption {
  const resumption = resumptionOf(context, request, { ...options, unattended: true });
  if (!log) return { ...resumption, frames: "none" };
  return log.capturesAllModes ? { ...resumption, frames: "all" } : resumption;
}

/** The caller as JSON with secrets masked. Undefined if a custom authentication returned something else. */
export const storable = (caller: Caller): Caller | undefined =>
  tryOr(() => maskSecrets(JSON.parse(JSON.stringify(caller)) as Caller));

/**
 * @param why says that these runs are stored without secrets
 * @throws InvalidRequestError if the request or its caller cannot be stored completely (`invalid_request`)
 */
export function assertStorable({ caller }: OpsContext, request: RunCreateRequest, why: string): void {
  for (const field of ["config", "context"] as const)
    if (!isStorable(request[field]))
      throw InvalidRequestError.at(
        ["body", field],
        `holds a secret, or a value that is not JSON, and ${why}: let the graph read it from its environment`,
        "not_storable",
      );
  if (!isStorable(caller))
    throw InvalidRequestError.at(
      ["body"],
      `the identity returned by the auth function holds a secret, and ${why}: let graphs look the secret up by the identity`,
      "not_storable",
    );
}

/** Whether a row can store the complete value: it is JSON and contains no secrets. */
export const isStorable = (value: unknown): boolean =>
  value == null ||
  (tryOr(() => isDeepStrictEqual(maskSecrets(JSON.parse(JSON.stringify(value))), value)) ?? false);

/** The client's request, as far as the row contains it. */
export function originalRequest({
  assistant_id,
  metadata,
  kwargs,
  multitask_strategy,
}: RunRow): RunCreateRequest {
  const { graph_id, assistant_id: _1, graph_version: _2, ...own } = metadata;
  const request = { ...kwargs, metadata: own, multitask_strategy } as Omit<RunCreateRequest, "assistant_id">;
  // The default graph may have changed since.
  return { ...request, assistant_id: typeof graph_id === "string" ? graph_id : assistant_id };
}
