/** One execution of a graph: every run, blocking or streamed, goes through here. */
import type { GraphConfig, ServedGraph } from "../graphs/graph.js";
import { frameworkModes, type StreamFrames } from "../graphs/stream-frames.js";
import { isRecord } from "../models/common.js";
import type { StreamMode } from "../models/run.js";
import { isTransient, MAX_ATTEMPTS, pauseBefore } from "./retry.js";
import { takeAll } from "./yielding.js";

export interface Execution {
  graph: ServedGraph;
  /** A command, state values, or null. */
  input: unknown;
  options: GraphConfig;
  modes: readonly StreamMode[];
  subgraphs: boolean;
  signal: AbortSignal;
  frames: StreamFrames;
  /** True when the thread's latest checkpoint was written by this run: then another attempt goes on from there. */
  hasCheckpoint(): Promise<boolean>;
  onRetry(error: unknown, attempt: number): void;
}

/**
 * Run the graph to its end and hand its chunks to `execution.frames`. A network failure before the first event is
 * tried again; the input is sent again only when no checkpoint took it (no duplicated input, spec, Stream modes 7).
 * Rejects with what the graph threw, or with the signal's reason.
 */
export async function execute(execution: Execution): Promise<void> {
  const { frames, signal } = execution;
  let { input } = execution;
  for (let attempt = 1; ; attempt++) {
    try {
      return await drain(execution, input);
    } catch (error) {
      if (signal.aborted || frames.emitted || attempt === MAX_ATTEMPTS || !isTransient(error)) throw error;
      execution.onRetry(error, attempt);
      await pauseBefore(attempt + 1, signal);
      if (await execution.hasCheckpoint()) input = null;
    }
  }
}

async function drain(execution: Execution, input: unknown): Promise<void> {
  const { graph, options, modes, subgraphs, frames } = execution;
  const settings = { ...options, streamMode: frameworkModes(modes), subgraphs };
  if (modes.includes("events")) {
    const events = graph.streamEvents(input, { ...settings, version: "v2" });
    return takeAll(events, (event) => takeEvent(frames, event, options.runId, subgraphs));
  }
  return takeAll(await graph.stream(input, settings), (chunk) => takeChunk(frames, chunk, subgraphs));
}

function takeChunk(frames: StreamFrames, chunk: unknown, subgraphs: boolean): void {
  const [namespace, mode, payload] = (subgraphs ? chunk : [[], ...(chunk as unknown[])]) as [
    string[],
    string,
    unknown,
  ];
  frames.take(namespace, mode, payload);
}

/** The root run's stream events carry the chunks of the other modes; the rest are the client's events. */
function takeEvent(frames: StreamFrames, event: unknown, rootId: unknown, subgraphs: boolean): void {
  if (isRecord(event) && event.event === "on_chain_stream" && event.run_id === rootId) {
    const chunk = isRecord(event.data) ? event.data.chunk : undefined;
    if (Array.isArray(chunk)) takeChunk(frames, chunk, subgraphs);
    return;
  }
  frames.takeEvent(event);
}
