/** A run request -> what the graph is called with and what the run's row keeps. */
import { InvalidRequestError, UnsupportedOptionError } from "../errors.js";
import { assertPlainData, coerceCommand, coerceConfigurable, coerceValues } from "../graphs/coerce.js";
import type { GraphConfig } from "../graphs/graph.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { RunCreateRequest, StreamMode } from "../models/run.js";
import { checkpointConfigurable, type CheckpointConfigurable } from "./checkpoint.js";
import type { OpsContext } from "./context.js";
import { callerConfigurable } from "./scope.js";

/** A request whose values the graph can take. */
export interface Invocation {
  /** A command, state values, or null to go on from the checkpoint. */
  input: unknown;
  /** Options of the call that do not depend on the run's ids. */
  options: GraphConfig;
  configurable: CheckpointConfigurable;
  modes: StreamMode[];
  subgraphs: boolean;
}

/** @throws UnsupportedOptionError (`unsupported_option`; spec, RunCreateRequest rule 2) */
export function refuseUnsupported(request: RunCreateRequest): void {
  if (request.after_seconds != null)
    throw new UnsupportedOptionError("after_seconds", "scheduled runs are out of scope");
  if (request.webhook != null) throw new UnsupportedOptionError("webhook", "webhooks are out of scope");
}

/** The requested modes, each once; none or an empty list means `values`. */
export function streamModes(request: RunCreateRequest): StreamMode[] {
  const modes = [request.stream_mode ?? []].flat();
  return modes.length > 0 ? [...new Set(modes)] : ["values"];
}

/** `command` wins over `input`; an empty command counts as none. */
function graphInput({ input, command }: RunCreateRequest): unknown {
  const resumed = command ? coerceCommand(command, ["body", "command"]) : undefined;
  return resumed ?? coerceValues(input ?? null, ["body", "input"]);
}

function positiveInteger(value: unknown, name: string): number | undefined {
  if (value == null) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1) return value;
  throw InvalidRequestError.at(["body", "config", name], "must be an integer of at least 1");
}

function stringList(value: unknown, name: string): string[] | undefined {
  if (value == null) return undefined;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw InvalidRequestError.at(["body", "config", name], "must be a list of strings");
}

function text(value: unknown, name: string): string | undefined {
  if (value == null || typeof value === "string") return value ?? undefined;
  throw InvalidRequestError.at(["body", "config", name], "must be a string");
}

/** Options that are undefined are left out: LangGraph takes a present key as an override. */
function defined(options: GraphConfig): GraphConfig {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function durabilityOf({ durability, checkpoint_during }: RunCreateRequest): string | undefined {
  if (durability != null) return durability;
  if (checkpoint_during == null) return undefined;
  return checkpoint_during ? "async" : "exit";
}

/** `*` is all nodes, also inside a list. */
function interruptNodes(nodes: RunCreateRequest["interrupt_before"]): string[] | "*" | undefined {
  if (nodes == null) return undefined;
  return nodes.includes("*") ? "*" : nodes;
}

/**
 * Read a run request for the thread it names.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function readInvocation(context: OpsContext, threadId: string, request: RunCreateRequest): Invocation {
  const config = request.config ?? {};
  const metadata = { ...(isRecord(config.metadata) ? config.metadata : {}), ...request.metadata };
  assertPlainData(metadata, ["body", "metadata"]);
  if (request.context) assertPlainData(request.context, ["body", "context"]);
  const configurable = {
    ...coerceConfigurable(config.configurable, ["body", "config", "configurable"]),
    ...callerConfigurable(context),
    ...checkpointConfigurable(threadId, request.checkpoint, request.checkpoint_id),
  };
  const options = defined({
    context: request.context ?? undefined,
    metadata,
    tags: stringList(config.tags, "tags"),
    runName: text(config.run_name, "run_name"),
    recursionLimit: positiveInteger(config.recursion_limit, "recursion_limit"),
    maxConcurrency: positiveInteger(config.max_concurrency, "max_concurrency"),
    interruptBefore: interruptNodes(request.interrupt_before),
    interruptAfter: interruptNodes(request.interrupt_after),
    durability: durabilityOf(request),
  });
  return {
    input: graphInput(request),
    options,
    configurable,
    modes: streamModes(request),
    subgraphs: request.stream_subgraphs ?? false,
  };
}

/** Invocation parameters as the run's row keeps them (spec, Run: kwargs). */
export function kwargsOf(request: RunCreateRequest): JsonObject {
  return {
    input: request.input ?? null,
    command: request.command ?? null,
    config: publicConfig(request.config),
    context: request.context ?? {},
    checkpoint: request.checkpoint ?? null,
    checkpoint_id: request.checkpoint_id ?? null,
    stream_mode: streamModes(request),
    stream_subgraphs: request.stream_subgraphs ?? false,
    stream_resumable: request.stream_resumable ?? false,
    interrupt_before: request.interrupt_before ?? null,
    interrupt_after: request.interrupt_after ?? null,
    on_disconnect: request.on_disconnect ?? "cancel",
    durability: durabilityOf(request) ?? null,
    if_not_exists: request.if_not_exists ?? "reject",
  };
}

/** A request's config as rows keep it; callbacks cannot come over the wire. */
export function publicConfig(config: JsonObject | null | undefined): JsonObject {
  const { callbacks: _, ...rest } = config ?? {};
  return rest;
}
