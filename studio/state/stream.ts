/** Reads the event stream of a run to its end, with reconnects that resume after the last frame. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import { ApiError } from "../api.js";
import type { Frame } from "./frame.js";
import { whenOffline } from "./visible.js";

interface StreamOptions {
  /** Opens a connection that starts after this frame; -1 starts at the beginning. */
  connect: (after: number, signal: AbortSignal) => Promise<Response>;
  take: (frame: Frame) => void;
  /** Called when the connection opens or breaks. */
  onLine?: (isConnected: boolean) => void;
  signal: AbortSignal;
  /** Id of the last received frame. */
  after?: number;
}

const LAST = new Set(["end", "error"]);
const WAITS_MS = [500, 1000, 2000, 5000];

/** Frames of one connection. */
export async function* framesOf({ body }: Response): AsyncGenerator<Frame> {
  if (!body) return;
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield { id: Number(value.id ?? -1), event: value.event ?? "message", data: parsed(value.data) };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Read the stream to its end; reconnects if the connection breaks.
 * @returns the id of the last frame
 * @throws ApiError for error responses; AbortError when `signal` aborts
 */
export async function readStream({
  connect,
  take,
  onLine,
  signal,
  after = -1,
}: StreamOptions): Promise<number> {
  let last = after;
  for (let tries = 0; ; tries += 1) {
    const offline = whenOffline();
    try {
      const response = await connect(last, AbortSignal.any([signal, offline.signal]));
      onLine?.(true);
      tries = 0;
      if (response.status === 204) return last;
      for await (const frame of framesOf(response)) {
        if (frame.id >= 0) last = frame.id;
        take(frame);
        if (LAST.has(frame.event)) return last;
      }
    } catch (error) {
      if (signal.aborted || !isBroken(error)) throw error;
    } finally {
      offline.forget();
    }
    onLine?.(false);
    await pause(WAITS_MS[Math.min(tries, WAITS_MS.length - 1)] ?? 0, signal);
  }
}

/** Network and gateway errors, which a later request may not have. */
export const isBroken = (error: unknown): boolean =>
  !(error instanceof ApiError) || [0, 502, 503, 504].includes(error.status);

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("left", "AbortError"));
    });
  });
