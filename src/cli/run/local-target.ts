import type { Service } from "../../service.js";
import type { RunEvent, RunTarget } from "./target.js";

/** Runs in this process, on the storage of the configuration. Closing it closes the service. */
export function localTarget(service: Service): RunTarget {
  const { settings, storage } = service;
  return {
    assistantId: settings.default_assistant_id ?? Object.keys(settings.graphs)[0] ?? "",
    keepsThreads: storage.durable,
    async *stream(threadId, request, signal): AsyncIterable<RunEvent> {
      const run = await service.runs.stream(threadId, request, { signal });
      const disconnect = () => run.disconnect();
      signal.addEventListener("abort", disconnect, { once: true });
      try {
        for await (const batch of run.frames) yield* batch;
      } finally {
        signal.removeEventListener("abort", disconnect);
      }
    },
    close: () => service.close(),
  };
}
