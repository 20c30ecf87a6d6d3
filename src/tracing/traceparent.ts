/**
 * The header `traceparent` of W3C Trace Context. The propagator of OpenTelemetry is in a package that a program with its own
 * provider may not have.
 */

export interface TraceIds {
  traceId: string;
  spanId: string;
  traceFlags: number;
}

/** In the metadata of a run: the span below which its spans belong. */
export const TRACEPARENT_KEY = "traceparent";

/** Version, trace id, span id and flags. Later versions may append fields. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);

/** Undefined for a malformed value, which the standard requires to be ignored. */
export function parseTraceparent(text: unknown): TraceIds | undefined {
  if (typeof text !== "string") return undefined;
  const [, version, traceId = NO_TRACE, spanId = NO_SPAN, flags = "00", more] = TRACEPARENT.exec(text) ?? [];
  if (traceId === NO_TRACE || spanId === NO_SPAN || version === "ff") return undefined;
  if (version === "00" && more !== undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

export const traceparentOf = ({ traceId, spanId, traceFlags }: TraceIds): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, "0")}`;
