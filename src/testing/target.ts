/** Where cases are run: this process or a server, with the same calls and the same answers. */
import type { GraphDrawing, GraphSchema } from "../models/assistant.js";
import type { RunCreateRequest } from "../models/run.js";
import type { ThreadState } from "../models/state.js";
import type { Thread } from "../models/thread.js";
import type { Service } from "../service.js";

/** An event of a run; `data` is JSON text. */
export interface TargetEvent {
  event: string;
  data: string;
}

export interface CaseTarget {
  /** The assistant that cases of the target run. */
  readonly assistantId: string;
  /** The events of one run, to its end. Aborting the signal interrupts the run. */
  stream(threadId: string, request: RunCreateRequest, signal: AbortSignal): AsyncIterable<TargetEvent>;
  thread(threadId: string): Promise<Thread>;
  state(threadId: string): Promise<ThreadState>;
  /** Newest first. */
  history(threadId: string): Promise<ThreadState[]>;
  draw(): Promise<GraphDrawing>;
  schemas(): Promise<GraphSchema>;
}

const MOST_STATES = 1_000;

/** The graph `assistantId` of a service in this process. */
export function serviceTarget(service: Service, assistantId: string): CaseTarget {
  return {
    assistantId,
    async *stream(threadId, request, signal) {
      const run = await service.runs.stream(threadId, request, { signal });
      const leave = () => run.disconnect();
      if (signal.aborted) leave();
      signal.addEventListener("abort", leave, { once: true });
      try {
        for await (const frames of run.frames) yield* frames;
      } finally {
        signal.removeEventListener("abort", leave);
      }
    },
    thread: (threadId) => service.threads.get(threadId),
    state: (threadId) => service.state.get(threadId),
    history: (threadId) => service.state.history(threadId, { limit: MOST_STATES }),
    draw: () => service.assistants.draw(assistantId, { xray: false }),
    schemas: () => service.assistants.schemas(assistantId),
  };
}
