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

export interface OpenProvider {
  api: typeof Api;
  provider: Api.TracerProvider;
  /** Sends the remaining spans, for at most `CLOSE_MS`. */
  close(): Promise<void>;
}

/** Called with the number of spans of a batch and whether the collector has accepted them. */
export type OnExport = (spans: number, isAccepted: boolean) => void;

/** Result code of an export. */
const SUCCESS = 0;

type Variables = Readonly<Record<string, string | undefined>>;

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

/**
 * @param cwd project folder, whose copies of the packages are used
 * @throws ConfigError if a package is missing, or the endpoint is not an HTTP URL (`config_invalid`)
 */
export function openProvider(cwd: string, env: Variables, onExport: OnExport): OpenProvider | undefined {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === "true") return undefined;
  const load = <T>(name: string, setting: string) =>
    loadOptional<T>(name, { cwd, setting, install: PACKAGES });
  if (isRegistered()) {
    const api = load<typeof Api>("@opentelemetry/api", "OpenTelemetry");
    return { api, provider: api.trace.getTracerProvider(), close: () => Promise.resolve() };
  }
  const variable = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"].find(
    (name) => env[name],
  );
  if (variable === undefined || env.OTEL_TRACES_EXPORTER === "none") return undefined;
  assertHttp(variable, env[variable] ?? "");
  const api = load<typeof Api>("@opentelemetry/api", variable);
  const { BasicTracerProvider, BatchSpanProcessor } = load<typeof Sdk>(
    "@opentelemetry/sdk-trace-base",
    variable,
  );
  const { OTLPTraceExporter } = load<typeof Exporter>("@opentelemetry/exporter-trace-otlp-http", variable);
  const { resourceFromAttributes, defaultResource, detectResources, envDetector } = load<typeof Resources>(
    "@opentelemetry/resources",
    variable,
  );
  const exporter = countExports(new OTLPTraceExporter(), onExport);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": "graph-serve" }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  return {
    api,
    provider,
    close: async () => {
      // A collector that is down must not prevent the shutdown.
      await withTimeout(CLOSE_MS, provider.shutdown()).catch(() => undefined);
    },
  };
}

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
