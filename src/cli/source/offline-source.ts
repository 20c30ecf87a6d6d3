/** A source over the configured storage, in this process. */
import type { Service } from "../../service.js";
import type { PlaceFlags } from "../run/next-command.js";
import { refuseBusy } from "./refuse-busy.js";
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
    whyHidden: ({ metadata }) => (raw ? undefined : oneLine(service.graphFault(metadata ?? {}))),
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

const oneLine = (fault: Error | undefined): string | undefined => fault?.message.replace(/\s*\n\s*/g, "; ");
