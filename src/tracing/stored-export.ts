/** Sends stored runs to the collector of the environment, and reports what the collector answers. */
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { Run, RunTasks } from "../models/run.js";
import { ConfigError, GraphServeError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { isDisabled, loadSdk, SUCCESS, type Variables, variableOf } from "./provider.js";
import { SpanIds } from "./span-ids.js";
import { Tracing, type TraceSettings } from "./tracing.js";

/** Spans of a request to the collector: those of the run that reaches this number are the last. */
const BATCH_SPANS = 512;

/** What the exporter reports for 429, 502, 503 and 504, after its own attempts. */
const OVERLOADED = "Export failed with retryable status";

export interface StoredExport {
  /** Address of the collector. */
  readonly endpoint: string;
  /** @throws GraphServeError if the collector does not accept the spans (`server_unreachable`) */
  add(run: Run, tasks: RunTasks): Promise<void>;
  /** Sends the remaining spans and returns the number of all. @throws as `add` */
  end(): Promise<number>;
}

/**
 * Samplers do not apply, because the runs are chosen explicitly.
 * @param cwd project folder, whose copies of the packages are used
 * @throws ConfigError if no collector is set, or a package is missing (`config_invalid`)
 */
export function openStoredExport(cwd: string, env: Variables, settings: TraceSettings): StoredExport {
  const variable = requiredVariable(env);
  const { api, sdk, createExporter, resource } = loadSdk(cwd, env, variable);
  const exporter = createExporter();
  // Without a user name and password.
  const { origin, pathname } = new URL(env[variable] ?? "");
  const endpoint = (origin + pathname).replace(/\/$/, "");
  const ids = new SpanIds(new sdk.RandomIdGenerator());
  let waiting: ReadableSpan[] = [];
  let sent = 0;
  const collect = {
    onStart: () => undefined,
    onEnd: (span: ReadableSpan) => void waiting.push(span),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const provider = new sdk.BasicTracerProvider({
    ...{ resource, spanProcessors: [collect], idGenerator: ids, sampler: new sdk.AlwaysOnSampler() },
  });
  const tracing = new Tracing({ api, provider, ids, close: () => exporter.shutdown() }, settings);
  const send = async () => {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    await new Promise<void>((resolve, reject) =>
      exporter.export(batch, ({ code, error }) =>
        Number(code) === SUCCESS ? resolve() : reject(refusal(endpoint, variable, error, sent)),
      ),
    );
    sent += batch.length;
  };
  return {
    endpoint,
    async add(run, tasks) {
      tracing.exportStored(run, tasks);
      if (waiting.length >= BATCH_SPANS) await send();
    },
    async end() {
      await send();
      await tracing.close();
      return sent;
    },
  };
}

function requiredVariable(env: Variables): string {
  const variable = isDisabled(env) ? undefined : variableOf(env);
  if (variable !== undefined) return variable;
  const off = isDisabled(env)
    ? "OTEL_SDK_DISABLED is true"
    : env.OTEL_TRACES_EXPORTER === "none"
      ? "OTEL_TRACES_EXPORTER is none"
      : undefined;
  throw new ConfigError(
    off === undefined
      ? "there is no collector to export to: OTEL_EXPORTER_OTLP_ENDPOINT is not set"
      : `there is no collector to export to: ${off}`,
    {
      hint:
        off === undefined
          ? "name one: OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 graph-serve trace export --since 1h"
          : "remove that variable",
    },
  );
}

function refusal(endpoint: string, variable: string, error: unknown, sent: number): GraphServeError {
  const { code } = (error ?? {}) as { code?: unknown };
  const text = errorMessage(error);
  const isOverloaded = text === OVERLOADED;
  const isRefused = typeof code === "number";
  const why = isOverloaded
    ? "it limits requests or is overloaded (status 429, 502, 503 or 504)"
    : isRefused
      ? `it answered with status ${code}${text === "" ? "" : ` (${text})`}`
      : `it cannot be reached (${text === "" ? String(code) : text})`;
  const already = sent > 0 ? `; ${sent} spans were sent before` : "";
  const hint = isOverloaded
    ? "repeat the command later, or export fewer runs with a shorter --since"
    : isRefused
      ? `check ${variable}, and the key in OTEL_EXPORTER_OTLP_HEADERS`
      : `start the collector, or correct ${variable}`;
  return new GraphServeError(
    "server_unreachable",
    `the collector at ${endpoint} did not accept the spans: ${why}${already}`,
    { hint, cause: error },
  );
}
