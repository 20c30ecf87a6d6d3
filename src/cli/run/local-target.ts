import type { Service } from "../../service.js";
import { foundOnly, graphIdOf } from "./thread-graph.js";
import { refuseBusy } from "../source/refuse-busy.js";
import type { RunEvent, RunTarget } from "./target.js";

/** Runs in this process, on the storage of the configuration. Closing it closes the service. */
export function localTarget(service: Service): RunTarget {
  const { settings, storage } = service;
  return {
    assistantId: settings.default_assistant_id ?? Object.keys(settings.graphs)[0] ?? "",
    keepsThreads: storage.durable,
    graphOf: async (threadId) => graphIdOf(await foundOnly(service.threads.get(threadId))),
    async *stream(threadId, request, signal): AsyncIterable<RunEvent> {
      // A thread that is not there yet is made by its first run.
      await foundOnly(refuseBusy(service, threadId));
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
