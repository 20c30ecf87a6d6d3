/** Other programs that make spans of model calls: beside them, each call appears twice. */

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
export function warnOfDoubles(warn: (message: string) => void): void {
  const other = OTHERS.find(({ isLoaded }) => isLoaded(globalThis as unknown as Record<string, unknown>));
  if (!other || hasWarned) return;
  hasWarned = true;
  warn(
    `traces: ${other.name} and graph-serve both export model calls, which then appear twice: ${other.off}, or turn off the traces of graph-serve with OTEL_SDK_DISABLED=true`,
  );
}
