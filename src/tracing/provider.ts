/**
 * The tracer provider: the one that the user's program has registered, or the official SDK with its OTLP exporter if the
 * environment names an endpoint. Without both, no package is loaded.
 */
import type * as Api from "@opentelemetry/api";
import type * as Exporter from "@opentelemetry/exporter-trace-otlp-http";
import type * as Resources from "@opentelemetry/resources";
import type * as Sdk from "@opentelemetry/sdk-trace-base";
import { ConfigError } from "../support/errors.js";
import { loadOptional } from "../support/optional-package.js";
import { withTimeout } from "../support/pause.js";
import { SpanIds } from "./span-ids.js";

export interface OpenProvider {
  api: typeof Api;
  provider: Api.TracerProvider;
  /** Undefined for the provider of the user's program, which has its own ids. */
  ids?: SpanIds;
  /** Sends the remaining spans, for at most `CLOSE_MS`. */
  close(): Promise<void>;
}

/** Called with the number of spans of a batch and whether the collector has accepted them. */
export type OnExport = (spans: number, isAccepted: boolean) => void;

/** Result code of an export. */
export const SUCCESS = 0;

export type Variables = Readonly<Record<string, string | undefined>>;

const PACKAGES = [
  "@opentelemetry/api",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/resources",
  "@opentelemetry/exporter-trace-otlp-http",
];
/** How long a shutdown waits for the collector, in milliseconds. */
const CLOSE_MS = 5_000;
/** Where every copy of `@opentelemetry/api` 1.x keeps what is registered. */
const REGISTRY = Symbol.for("opentelemetry.js.api.1");

export interface ProviderEvents {
  onExport: OnExport;
  warn: (message: string) => void;
}

/**
 * @param cwd project folder, whose copies of the packages are used
 * @throws ConfigError if a package is missing, or the endpoint is not an HTTP URL (`config_invalid`)
 */
export function openProvider(
  cwd: string,
  env: Variables,
  { onExport, warn }: ProviderEvents,
): OpenProvider | undefined {
  if (isDisabled(env)) return undefined;
  if (isRegistered()) {
    warnOfDoubles(warn);
    const api = load<typeof Api>("@opentelemetry/api", cwd, "OpenTelemetry");
    return { api, provider: api.trace.getTracerProvider(), close: () => Promise.resolve() };
  }
  const variable = variableOf(env);
  if (variable === undefined) return undefined;
  const { api, sdk, createExporter, resource } = loadSdk(cwd, env, variable);
  const exporter = countExports(createExporter(), onExport);
  const spanProcessors = [new sdk.BatchSpanProcessor(exporter)];
  const ids = new SpanIds(new sdk.RandomIdGenerator());
  const provider = new sdk.BasicTracerProvider({ resource, spanProcessors, idGenerator: ids });
  return {
    api,
    provider,
    ids,
    close: async () => {
      // A collector that is down must not prevent the shutdown.
      await withTimeout(CLOSE_MS, provider.shutdown()).catch(() => undefined);
    },
  };
}

export const isDisabled = (env: Variables): boolean => env.OTEL_SDK_DISABLED?.toLowerCase() === "true";

/** The variable that names the collector. */
export function variableOf(env: Variables): string | undefined {
  if (env.OTEL_TRACES_EXPORTER === "none") return undefined;
  return ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"].find((name) => env[name]);
}

/** @throws ConfigError if a package is missing, or the endpoint is not an HTTP URL (`config_invalid`) */
export function loadSdk(cwd: string, env: Variables, variable: string) {
  assertHttp(variable, env[variable] ?? "");
  const api = load<typeof Api>("@opentelemetry/api", cwd, variable);
  const sdk = load<typeof Sdk>("@opentelemetry/sdk-trace-base", cwd, variable);
  const { OTLPTraceExporter } = load<typeof Exporter>(
    "@opentelemetry/exporter-trace-otlp-http",
    cwd,
    variable,
  );
  const { resourceFromAttributes, defaultResource, detectResources, envDetector } = load<typeof Resources>(
    "@opentelemetry/resources",
    cwd,
    variable,
  );
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": "graph-serve" }))
    .merge(detectResources({ detectors: [envDetector] }));
  const createExporter = (): Sdk.SpanExporter => new OTLPTraceExporter();
  return { api, sdk, createExporter, resource };
}

const load = <T>(name: string, cwd: string, setting: string): T =>
  loadOptional<T>(name, { cwd, setting, install: PACKAGES });

function isRegistered(): boolean {
  const registered = (globalThis as Record<symbol, { trace?: unknown } | undefined>)[REGISTRY];
  return registered?.trace !== undefined;
}

function assertHttp(variable: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return;
  throw new ConfigError(`${variable}: "${text}" is not an HTTP URL`, {
    hint: "name the collector, for example http://localhost:4318, or remove the variable",
  });
}

function countExports(exporter: Sdk.SpanExporter, onExport: OnExport): Sdk.SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        onExport(spans.length, Number(result.code) === SUCCESS);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

// Other programs that make spans of model calls: beside them, each call appears twice.

interface Instrumentation {
  name: string;
  /** How to turn its spans off. */
  off: string;
  isLoaded: (globals: Readonly<Record<string, unknown>>) => boolean;
}

const OTHERS: readonly Instrumentation[] = [
  {
    name: "Sentry",
    off: "remove its integrations LangChain and LangGraph",
    isLoaded: ({ __SENTRY__ }) => __SENTRY__ !== undefined,
  },
  {
    name: "dd-trace",
    off: "set DD_TRACE_DISABLED_INSTRUMENTATIONS=langchain",
    isLoaded: ({ _ddtrace }) => _ddtrace !== undefined,
  },
];

let hasWarned = false;

/** Warns once per process. Called if the program has registered a tracer provider, which gets the spans of both. */
function warnOfDoubles(warn: (message: string) => void): void {
  const other = OTHERS.find(({ isLoaded }) => isLoaded(globalThis as unknown as Record<string, unknown>));
  if (!other || hasWarned) return;
  hasWarned = true;
  warn(
    `traces: ${other.name} and graph-serve both export model calls, which then appear twice: ${other.off}, or turn off the traces of graph-serve with OTEL_SDK_DISABLED=true`,
  );
}
