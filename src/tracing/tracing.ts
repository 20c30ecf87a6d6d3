/**
 * Traces of runs (docs/observability.md). A run is one span, below the request that started it. Its tasks are recorded
 * anyway, so their spans are made when it ends, and a run in flight pays nothing for them.
 */
import type { Attributes, Context, Span, SpanContext, SpanOptions, Tracer } from "@opentelemetry/api";
import type { JsonObject } from "../models/common.js";
import type { Run, RunTasks } from "../models/run.js";
import { VERSION } from "../support/own-package.js";
import * as names from "./names.js";
import { type OpenProvider, openProvider, type ProviderEvents } from "./provider.js";
import { beginAttributes, endAttributes, hasFailed, storedSpan } from "./run-span.js";
import { runKey } from "./span-ids.js";
import { type TaskSpan, taskSpans } from "./task-spans.js";
import { parseTraceparent, traceparentOf, TRACEPARENT_KEY as KEY } from "./traceparent.js";

export interface TraceSettings {
  /** Whether spans contain the input and the answer of a run. */
  trace_content: boolean;
  /** Which runs are exported: all if empty. */
  trace_keep: readonly string[];
}

/**
 * Names of the earlier conventions, which backends that predate 0.1.0 read. `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai/dup`
 * adds them, as `http/dup` does in OpenTelemetry's own instrumentation.
 */
const EARLIER: readonly (readonly [name: string, earlier: string])[] = [
  [names.PROVIDER, "gen_ai.system"],
  [names.INPUT_TOKENS, "gen_ai.usage.prompt_tokens"],
  [names.OUTPUT_TOKENS, "gen_ai.usage.completion_tokens"],
  [names.CACHE_WRITE_TOKENS, "gen_ai.usage.cache_creation.input_tokens"],
];

/** The end of a run, or of its part in this process. */
export interface TracedEnd {
  run: Pick<Run, "status" | "usage" | "attempt">;
  tasks: RunTasks | undefined;
  answer: JsonObject;
}

export interface RunTrace {
  /** Calls `work` with the span as the active one, for spans of the graph's own instrumentation. */
  within<T>(work: () => T): T;
  end(end: TracedEnd): void;
}

export interface RequestTrace {
  traceparent: string;
  end(status: number): void;
}

/**
 * Undefined if neither the environment nor the program sets traces up: no package is loaded then.
 * @param cwd project folder, whose copies of the packages are used
 * @throws ConfigError if a package is missing, or the endpoint is not an HTTP URL (`config_invalid`)
 */
export function openTracing(
  cwd: string,
  settings: TraceSettings,
  events: ProviderEvents,
): Tracing | undefined {
  const { env } = process;
  const opened = openProvider(cwd, env, events);
  if (!opened) return undefined;
  const capture = env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase() === "true";
  return new Tracing(
    opened,
    { ...settings, trace_content: settings.trace_content || capture },
    env.OTEL_SEMCONV_STABILITY_OPT_IN,
  );
}

/** The span of an attempt until it ends. */
interface OpenSpan {
  /** `runKey`. */
  key: string;
  thread: string;
  span: Span;
  /** With the span as the active one. */
  inside: Context;
}

export class Tracing {
  readonly #api: OpenProvider["api"];
  readonly #tracer: Tracer;
  readonly #settings: TraceSettings;
  readonly #slowMs: number | undefined;
  readonly #opened: OpenProvider;
  readonly #addsEarlier: boolean;

  constructor(opened: OpenProvider, settings: TraceSettings, optIn = "") {
    this.#addsEarlier = optIn.split(",").some((each) => each.trim() === "gen_ai/dup");
    this.#opened = opened;
    this.#api = opened.api;
    this.#tracer = opened.provider.getTracer("graph-serve", VERSION);
    this.#settings = settings;
    this.#slowMs = slowMsOf(settings.trace_keep);
  }

  /** Sends the remaining spans, for a few seconds at most. */
  close(): Promise<void> {
    return this.#opened.close();
  }

  /**
   * The span of a request, unless instrumentation of the user's program has one already.
   * @param incoming the header `traceparent`; ignored if it is malformed
   */
  request(method: string, route: string, incoming: unknown): RequestTrace {
    const { trace, SpanKind, SpanStatusCode } = this.#api;
    const active = trace.getActiveSpan();
    if (active) return { traceparent: traceparentOf(active.spanContext()), end: () => undefined };
    const attributes = { [names.HTTP_METHOD]: method, [names.HTTP_ROUTE]: route };
    const span = this.#start(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, incoming);
    return {
      traceparent: traceparentOf(span.spanContext()),
      end: (status) => {
        span.setAttribute(names.HTTP_STATUS, status);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  /**
   * The metadata that a run gets when it is accepted.
   * @param parent the span of its request, or of the run whose question it answers
   */
  accepted(graphId: string, parent: string | undefined, isQueued: boolean): { [KEY]?: string } {
    if (parent !== undefined && !isQueued) return { [KEY]: parent };
    const { SpanKind } = this.#api;
    const attributes = { [names.AGENT]: graphId };
    const span = this.#start(`create_run ${graphId}`, { kind: SpanKind.PRODUCER, attributes }, parent);
    span.end();
    return { [KEY]: traceparentOf(span.spanContext()) };
  }

  /** The parent of the run that this one continues, by answering its question. */
  parentOf(asked: Pick<Run, "metadata"> | undefined): string | undefined {
    const parent = asked?.metadata[KEY];
    return parseTraceparent(parent) ? String(parent) : undefined;
  }

  /**
   * Starts the span of an attempt.
   * @param request the span of the request; linked if the run belongs to an earlier trace
   */
  begin(run: Run, attempt: number, request: string | undefined, isQueued: boolean, user?: string): RunTrace {
    const { trace, context, SpanKind } = this.#api;
    const graph = String(run.metadata.graph_id);
    const parent = run.metadata[KEY];
    const linked = isQueued ? parent : request === parent ? undefined : request;
    const link = parseTraceparent(linked);
    const attributes: Attributes = {
      ...beginAttributes(run, attempt),
      ...(user !== undefined && { [names.USER]: user }),
      ...this.#inputOf(run),
    };
    const options = {
      kind: isQueued ? SpanKind.CONSUMER : SpanKind.INTERNAL,
      attributes,
      ...(link && { links: [{ context: remote(link) }] }),
    };
    const key = runKey(run.run_id, attempt);
    const span = this.#derived(key, () => this.#start(`invoke_workflow ${graph}`, options, parent));
    const since = Date.now();
    const inside = trace.setSpan(context.active(), span);
    return {
      within: (work) => context.with(inside, work),
      end: (end) => this.#end({ key, thread: run.thread_id, span, inside }, end, Date.now() - since),
    };
  }

  /** Makes the spans of a stored run, below the span that it was started by. */
  exportStored(run: Run, tasks: RunTasks): void {
    const span = storedSpan(run, tasks);
    Object.assign(span.attributes, this.#inputOf(run));
    this.#emit(span, runKey(run.run_id, run.attempt), this.#below(run.metadata[KEY]));
  }

  #inputOf({ kwargs }: Run): Record<string, string> {
    return this.#settings.trace_content ? { [names.INPUT]: JSON.stringify(kwargs.input ?? null) } : {};
  }

  #end(open: OpenSpan, end: TracedEnd, ms: number): void {
    // A span that never ends is not exported.
    if (!this.#keeps(end, ms)) return;
    if (open.span.isRecording()) this.#fill(open, end, Date.now());
    open.span.end();
  }

  #fill({ key, thread, span, inside }: OpenSpan, { run, tasks, answer }: TracedEnd, endedAt: number): void {
    const { SpanStatusCode } = this.#api;
    span.setAttributes(this.#named(endAttributes(run, tasks)));
    if (hasFailed(run)) {
      const { error } = (answer.__error__ ?? {}) as { error?: unknown };
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute(names.ERROR_TYPE, typeof error === "string" ? error : run.status);
    } else if (this.#settings.trace_content) span.setAttribute(names.OUTPUT, JSON.stringify(answer));
    for (const task of taskSpans(tasks ?? { tasks: [] }, endedAt, thread)) this.#emit(task, key, inside);
  }

  #emit(emitted: TaskSpan, ofRun: string, parent: Context): void {
    const { key, name, isClient, attributes, from, to, hasFailed, children } = emitted;
    const { trace, SpanKind, SpanStatusCode } = this.#api;
    const kind = isClient ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const options = { kind, attributes: this.#named(attributes), startTime: from };
    const span = this.#derived(key === "" ? ofRun : `${ofRun}:${key}`, () =>
      this.#tracer.startSpan(name, options, parent),
    );
    if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
    if (children.length > 0) {
      const inside = trace.setSpan(parent, span);
      for (const child of children) this.#emit(child, ofRun, inside);
    }
    span.end(to);
  }

  #named(attributes: TaskSpan["attributes"]): TaskSpan["attributes"] {
    if (this.#addsEarlier)
      for (const [name, earlier] of EARLIER) {
        const value = attributes[name];
        if (value !== undefined) attributes[earlier] = value;
      }
    return attributes;
  }

  /** Starts a span with the id of its key, if the ids are ours. */
  #derived(key: string, start: () => Span): Span {
    const { ids } = this.#opened;
    return ids ? ids.derived(key, start) : start();
  }

  #keeps({ run }: TracedEnd, ms: number): boolean {
    const { trace_keep: keep } = this.#settings;
    if (keep.length === 0) return true;
    if (keep.includes("error") && hasFailed(run)) return true;
    return this.#slowMs !== undefined && ms >= this.#slowMs;
  }

  #start(name: string, options: SpanOptions, parent: unknown): Span {
    return this.#tracer.startSpan(name, options, this.#below(parent));
  }

  #below(parent: unknown): Context {
    const { trace, ROOT_CONTEXT } = this.#api;
    const ids = parseTraceparent(parent);
    return ids ? trace.setSpanContext(ROOT_CONTEXT, remote(ids)) : ROOT_CONTEXT;
  }
}

const remote = (ids: SpanContext): SpanContext => ({ ...ids, isRemote: true });

/** The time of `slow:30s`, in milliseconds. */
function slowMsOf(keep: readonly string[]): number | undefined {
  const [, number, unit] = keep.map((rule) => /^slow:(\d+(?:\.\d+)?)(ms|s)$/.exec(rule)).find(Boolean) ?? [];
  return number === undefined ? undefined : Number(number) * (unit === "s" ? 1000 : 1);
}
