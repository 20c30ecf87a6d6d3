/** A source over the configured storage, in this process. */
import type { JsonObject } from "../../models/common.js";
import type { Service } from "../../service.js";
import { GraphServeError } from "../../support/errors.js";
import type { PlaceFlags } from "../run/outcome.js";
import type { RunEvent, RunTarget } from "../run/target.js";
import { foundOnly, graphIdOf } from "./remote-source.js";
import type { Source } from "./source.js";

/** Closing it closes the service. */
export function offlineSource(
  service: Service,
  { placeFlags, raw }: { placeFlags: PlaceFlags; raw: boolean },
): Source {
  const { threads, runs, state, assistants, storage } = service;
  return {
    threads: {
      search: (request) => threads.search(request),
      count: (request) => threads.count(request),
      get: (threadId) => threads.get(threadId),
      create: (request) => threads.create(request),
      update: (threadId, request) => threads.update(threadId, request),
      copy: (threadId, options) => threads.copy(threadId, options),
      async delete(threadId) {
        await refuseBusy(service, threadId);
        await threads.delete(threadId);
      },
    },
    runs,
    state: {
      get: (threadId, options) => state.get(threadId, options),
      history: (threadId, request) => state.history(threadId, request),
      async update(threadId, request) {
        await refuseBusy(service, threadId);
        return state.update(threadId, request);
      },
    },
    assistants,
    stored: (threadId) => threads.stored(threadId),
    place: storage.location === undefined ? storage.scheme : `${storage.scheme} ${storage.location}`,
    placeFlags,
    graphOf: ({ metadata }) => namedGraph(service, metadata?.graph_id),
    whyHidden: ({ metadata = {} }) => (raw ? undefined : whyHidden(service, metadata)),
    close: () => service.close(0),
  };
}

/** How `graph-serve run` names the graph of this id; undefined for the one it takes by itself. */
export function namedGraph(
  { settings: { graphs, default_assistant_id } }: Pick<Service, "settings">,
  id: unknown,
): string | undefined {
  const fallback = default_assistant_id ?? Object.keys(graphs)[0];
  return typeof id === "string" && id !== fallback && Object.hasOwn(graphs, id) ? id : undefined;
}

function whyHidden(service: Service, metadata: JsonObject): string | undefined {
  const fault = service.graphFault(metadata);
  if (fault) {
    const why = fault.message.replace(/\s*\n\s*/g, "; ");
    return `values hidden: the graph does not load (${why}); --raw shows them`;
  }
  const { graph_id: id } = metadata;
  if (typeof id !== "string" || Object.hasOwn(service.settings.graphs, id)) return undefined;
  return `graph ${JSON.stringify(id)} is not configured: only keys that a configured one shows are shown`;
}

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

/**
 * Runs of other processes are not ours to stop, and their lock is not always ours to see.
 * @throws GraphServeError (`thread_busy`)
 */
async function refuseBusy(service: Service, threadId: string): Promise<void> {
  const { thread_id, status } = await service.threads.get(threadId);
  if (status !== "busy") return;
  const isCutOff = (await service.cutOffRuns()).some((run) => run.thread_id === thread_id);
  const why = isCutOff
    ? "its run was cut off when its server died"
    : "a run of another process is in flight on it";
  throw new GraphServeError("thread_busy", `thread "${thread_id}" is busy: ${why}`, {
    hint: isCutOff
      ? "graph-serve recover --apply settles it; so does the next start of the server"
      : "wait for the run to end, or cancel it at its server",
  });
}
