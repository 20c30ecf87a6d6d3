import type { Service } from "../../service.js";
import { refuseBusy } from "../source/refuse-busy.js";
import type { RunEvent, RunTarget } from "./target.js";

/** Runs in this process, on the storage of the configuration. Closing it closes the service. */
export function localTarget(service: Service): RunTarget {
  const { settings, storage } = service;
  return {
    assistantId: settings.default_assistant_id ?? Object.keys(settings.graphs)[0] ?? "",
    keepsThreads: storage.durable,
    async *stream(threadId, request, signal): AsyncIterable<RunEvent> {
      await refuseBusyIfThere(service, threadId);
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

/** A thread that is not there yet is made by its first run. */
async function refuseBusyIfThere(service: Service, threadId: string): Promise<void> {
  try {
    await refuseBusy(service, threadId);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "thread_not_found") throw error;
  }
}
