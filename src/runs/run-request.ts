/** Converts a run request to the call options of its graph and to the run's row. */
import { rootBreakpoints } from "../graphs/breakpoints.js";
import {
  assertPlainData,
  coerceCommand,
  coerceConfigurable,
  coerceValues,
  messageRules,
} from "../graphs/coerce.js";
import type { GraphConfig, ServedGraph } from "../graphs/graph.js";
import type { OutputFilter } from "../graphs/output-filter.js";
import type { BoundGraph } from "../graphs/registry.js";
import { isRecord } from "../models/common.js";
import type { MultitaskStrategy, Run, RunCreateRequest, StreamMode } from "../models/run.js";
import { maskSecrets } from "../support/secrets.js";
import { InvalidRequestError, UnsupportedOptionError } from "../support/errors.js";
import { newId } from "../support/ids.js";
import { webhookSettingFor } from "../support/webhook-hint.js";
import { now } from "../storage/rows/rows.js";
import type { OpsContext } from "../context/context.js";
import { checkpointConfigurable, type CheckpointConfigurable } from "../context/checkpoint-selector.js";
import type { KnownRun } from "./run-options.js";
import { callerConfigurable, stampScope } from "../threads/thread-origin.js";

/** Call options of a run request, without the input: reading the input needs the graph. */
export interface CallOptions {
  /** Options that do not depend on the ids of the run. */
  options: GraphConfig;
  configurable: CheckpointConfigurable;
  modes: StreamMode[];
  subgraphs: boolean;
}

/** A run request that passed all checks. The run has neither a thread lock nor a row yet. */
export interface CheckedRequest extends CallOptions {
  threadId: string;
  request: RunCreateRequest;
  /** The graph with its own output filter. Which other graphs wrote to the thread is known only under its lock. */
  bound: BoundGraph;
  stamp: GraphStamp;
  /** How the run behaves on a busy thread. */
  strategy: MultitaskStrategy;
  /** A command, state values, or null to resume from the checkpoint. */
  input: unknown;
  /** Whether the run stops others that are in flight or queued on its thread. */
  takesOver?: boolean;
  /** Set if the ids of the run are already fixed. */
  known?: KnownRun;
  /** Time at which the request passed the checks, by `performance.now()`. */
  since: number;
  /** Set for a run that another process started. */
  earlier?: EarlierAttempts;
  /** The span below which the run belongs; undefined without tracing. */
  traceParent?: string;
}

/** Progress of the attempts in other processes. */
export interface EarlierAttempts {
  /** The checkpoint to resume from. Undefined if there is none: the graph gets the run's input again. */
  checkpointId: string | undefined;
  /** Total duration of these attempts, in milliseconds. */
  spentMs: number;
}

/**
 * @throws UnsupportedOptionError (`unsupported_option`; docs/specification.md#run-requests, 2)
 * @throws InvalidRequestError if the webhook URL is not allowed (`invalid_request`)
 */
export async function refuseUnsupported({ settings }: OpsContext, request: RunCreateRequest): Promise<void> {
  if (request.after_seconds && settings.delayed_runs)
    throw new UnsupportedOptionError(
      "after_seconds",
      "a request cannot wait for a delayed run or stream it: create the run, then join it",
    );
  if (request.after_seconds != null && !settings.delayed_runs)
    throw new UnsupportedOptionError("after_seconds", "the setting delayed_runs is off");
  if (request.webhook != null && !settings.webhooks)
    throw new UnsupportedOptionError("webhook", webhooksAreOff(request.webhook));
  if (request.webhook != null && settings.webhooks) {
    const { OutboundPolicy } = await import("../support/outbound.js");
    const fault = new OutboundPolicy(settings.webhooks).faultOf(request.webhook);
    if (fault !== undefined) throw InvalidRequestError.at(["body", "webhook"], fault, "url");
  }
}

/** Explains which settings this webhook URL needs. */
function webhooksAreOff(url: string): string {
  const isPath = url.startsWith("/");
  const host = PRIVATE_HOST.exec(url)?.[1]?.toLowerCase();
  const allowed = isPath || host === "localhost" ? "127.0.0.1" : host?.replace(/[[\]]/g, "");
  const fullUrl = isPath ? `; use the full URL, such as http://127.0.0.1:2024${url}` : "";
  return `the setting webhooks is off: set it to ${webhookSettingFor(allowed)}${fullUrl}`;
}

const PRIVATE_HOST =
  /^https?:\/\/(localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|\[::1\])(?=[:/?#]|$)/i;

/**
 * Event payloads contain everything that the graph handles, without a filter.
 * @throws UnsupportedOptionError if the graph's output schema hides state keys (`unsupported_option`)
 */
export function refuseUnfiltered({ settings }: OpsContext, filter: OutputFilter): void {
  if (!filter.narrows || settings.allow_unfiltered_events) return;
  throw new UnsupportedOptionError(
    "stream mode events",
    "its payloads cannot be filtered by the graph's output schema (setting allow_unfiltered_events)",
  );
}

/** Whether the run is enqueued later (`after_seconds`). */
export const isDelayed = ({ settings }: OpsContext, { after_seconds }: RunCreateRequest): boolean =>
  settings.delayed_runs && !!after_seconds;

/**
 * The input of the graph. `command` takes precedence over `input`; a command that does nothing is ignored beside an input.
 * @throws InvalidRequestError (`invalid_request`)
 */
export async function graphInput({ input, command }: RunCreateRequest, graph: ServedGraph): Promise<unknown> {
  const rules = await messageRules(graph);
  const resumed = command ? coerceCommand(command, ["body", "command"], rules.write) : undefined;
  if (command && !resumed && input == null)
    throw InvalidRequestError.at(["body", "command"], "does nothing: give it a resume, an update or a goto");
  return resumed ?? coerceValues(input ?? null, ["body", "input"], rules.input);
}

const isPositive = (value: unknown) => Number.isInteger(value) && (value as number) >= 1;
const isStringList = (value: unknown) =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** Options in the config of a request: their names there and in LangGraph. The schema of a request does not check them. */
const CONFIG_OPTIONS = [
  ["tags", "tags", isStringList, "must be a list of strings"],
  ["run_name", "runName", (value: unknown) => typeof value === "string", "must be a string"],
  ["recursion_limit", "recursionLimit", isPositive, "must be an integer of at least 1"],
  ["max_concurrency", "maxConcurrency", isPositive, "must be an integer of at least 1"],
] as const;

/**
 * The checkpoint to start from, unless `checkpoint` selects it. Clients also send it in `config.configurable`, its place
 * in a LangGraph config. The config of a node has a namespace and the checkpoint of its own run, which is not meant.
 */
function checkpointIdOf(threadId: string, request: RunCreateRequest): string | null {
  const { checkpoint, checkpoint_id, config } = request;
  if (checkpoint_id || checkpoint?.checkpoint_id) return checkpoint_id ?? null;
  const { configurable } = config ?? {};
  if (!isRecord(configurable) || configurable.checkpoint_ns) return null;
  const { thread_id, checkpoint_id: id } = configurable;
  const isElsewhere = typeof thread_id === "string" && thread_id.toLowerCase() !== threadId;
  return typeof id === "string" && !isElsewhere ? id : null;
}

/**
 * Reads the options of a run request. Its input is read by `graphInput`, which needs the graph.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function readRequest(context: OpsContext, threadId: string, request: RunCreateRequest): CallOptions {
  const config = request.config ?? {};
  const metadata = { ...(isRecord(config.metadata) ? config.metadata : {}), ...request.metadata };
  assertPlainData(metadata, ["body", "metadata"]);
  if (request.context) assertPlainData(request.context, ["body", "context"]);
  const configurable = {
    ...(config.configurable != null &&
      coerceConfigurable(config.configurable, ["body", "config", "configurable"])),
    ...(context.caller && callerConfigurable(context.caller)),
    ...checkpointConfigurable(threadId, request.checkpoint, checkpointIdOf(threadId, request)),
  };
  // Graphs may read their context without checking that there is one.
  const options: GraphConfig = { context: request.context ?? {}, metadata };
  // Only given options are set: LangGraph treats a present key as an override.
  for (const [name, option, isValid, rule] of CONFIG_OPTIONS) {
    const value = config[name];
    if (value == null) continue;
    if (!isValid(value)) throw InvalidRequestError.at(["body", "config", name], rule);
    options[option] = value;
  }
  const { interrupt_before, interrupt_after } = request;
  if (interrupt_before) options.interruptBefore = rootBreakpoints(interrupt_before);
  if (interrupt_after) options.interruptAfter = rootBreakpoints(interrupt_after);
  const { durability, checkpoint_during } = request;
  if (durability != null) options.durability = durability;
  else if (checkpoint_during != null) options.durability = checkpoint_during ? "async" : "exit";
  const modes = new Set([request.stream_mode ?? []].flat());
  return {
    options,
    configurable,
    modes: modes.size > 0 ? [...modes] : ["values"],
    subgraphs: request.stream_subgraphs ?? false,
  };
}

/** The graph and the assistant of a run. Its thread stores them too, because clients search threads by them. */
export interface GraphStamp {
  graph_id: string;
  /** The assistant's UUID. */
  assistant_id: string;
  /** Undefined for a graph without a version. */
  graph_version?: string;
}

export function newRun(
  context: OpsContext,
  { threadId, request, stamp, known, traceParent = context.trace, ...checked }: CheckedRequest,
  attempt: number,
): Run {
  const { settings, tracing } = context;
  const at = now();
  // Callbacks cannot be sent over HTTP.
  const { callbacks: _, ...config } = request.config ?? {};
  return {
    run_id: known?.run_id ?? newId(),
    thread_id: threadId,
    // A UUID has several spellings. Rows store one of them, so that they can be searched by it.
    assistant_id: request.assistant_id === stamp.graph_id ? stamp.graph_id : stamp.assistant_id,
    created_at: known?.created_at ?? at,
    updated_at: at,
    status: "pending",
    metadata: {
      ...(context.caller ? stampScope(context, request.metadata ?? {}) : request.metadata),
      ...stamp,
      ...tracing?.accepted(stamp.graph_id, traceParent, settings.queue !== "none"),
    },
    // Invocation parameters (docs/specification.md#runs, 1).
    kwargs: {
      input: request.input ?? null,
      command: request.command ?? null,
      config: request.config ? maskSecrets(config) : {},
      context: request.context ? maskSecrets(request.context) : {},
      checkpoint: request.checkpoint ?? null,
      checkpoint_id: checkpointIdOf(threadId, request),
      stream_mode: checked.modes,
      stream_subgraphs: checked.subgraphs,
      stream_resumable: request.stream_resumable ?? false,
      ...(request.strict_resume && { strict_resume: true }),
      ...(request.budget != null && { budget: request.budget }),
      interrupt_before: request.interrupt_before ?? null,
      interrupt_after: request.interrupt_after ?? null,
      on_disconnect: request.on_disconnect ?? settings.on_disconnect,
      durability: checked.options.durability ?? null,
      if_not_exists: request.if_not_exists ?? "reject",
      ...(request.after_seconds && { after_seconds: request.after_seconds }),
    },
    multitask_strategy: checked.strategy,
    error: null,
    usage: null,
    attempt,
  };
}

/**
 * The span below which a new run belongs; undefined without tracing. An answer belongs to the trace of the run that
 * asked, however much later it comes.
 */
export async function traceParent(
  { tracing, trace, storage }: OpsContext,
  threadId: string,
  { command, input }: RunCreateRequest,
): Promise<string | undefined> {
  if (!tracing) return undefined;
  const resumes = command?.resume !== undefined || (command == null && input == null);
  const [asked] = resumes ? await storage.runs.list({ threadId, limit: 1, offset: 0 }) : [];
  return tracing.parentOf(asked) ?? trace;
}
