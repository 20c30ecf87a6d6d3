import type { JsonObject } from "../models/common.js";
import type { Cron } from "../models/cron.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import type { Service } from "../service/service.js";
import { GraphServeError } from "../support/errors.js";
import { oneLine } from "../support/errors/thrown.js";
import { type Client, foundOnly, type HiddenReason, graphIdOf, RUN_DEFAULTS } from "./client.js";
import type { RunEvent } from "./run-events.js";

/** A client of a service in this process. Closing it closes the service. */
export function localClient(
  service: Service,
  { unfiltered = false, targets }: { unfiltered?: boolean; targets?: Readonly<Record<string, string>> } = {},
): Client {
  const { threads, runs, state, storage } = service;
  return {
    threads: {
      search: async (request) => (await threads.search(request)).items,
      count: (request) => threads.count(request),
      get: (threadId) => threads.get(threadId),
      create: (request) => threads.create(request),
      update: (threadId, request) => threads.update(threadId, request),
      copy: (threadId, options) => threads.copy(threadId, options),
      async delete(threadId) {
        await refuseBusy(service, threadId);
        await threads.delete(threadId);
      },
      getState: (threadId, options) => state.get(threadId, options),
      getHistory: (threadId, request = {}) => state.history(threadId, request),
      async updateState(threadId, request) {
        await refuseBusy(service, threadId);
        return state.update(threadId, request);
      },
    },
    runs: {
      list: (threadId, filter) => runs.list(threadId, filter),
      search: async (request) => (await runs.search(request)).items,
      get: (threadId, runId) => runs.get(threadId, runId),
      tasks: (threadId, runId) => runs.tasks(threadId, runId),
      dead: async (filter) => (await service.deadRuns.list(filter)).items,
      redrive: async (threadId, runId) => service.deadRuns.redrive(threadId, runId),
      stream: (threadId, request, signal) => eventsOfRun(service, threadId, request, signal),
    },
    assistants: {
      search: async (request) => (await service.assistants.search(request)).items,
      getSchemas: (id) => service.assistants.schemas(id),
      getGraph: (id, options) => service.assistants.draw(id, options),
      delete: async (id) => service.managedAssistants.delete(id),
    },
    crons: {
      search: async (request) => (await service.crons.search(request)).items as Cron[],
      update: async (id, request) => service.crons.update(id, request),
      delete: async (id) => service.crons.delete(id),
    },
    webhooks: {
      list: async (filter) => (await service.webhooks.list(filter)).items,
      send: async (runId) => service.webhooks.send(runId),
      delete: async (runId) => service.webhooks.delete(runId),
    },
    usage: async (filter) => (await service.usage(filter)).items,
    stored: (threadId) => threads.stored(threadId),
    fault: (threadId, runId) => runs.fault(threadId, runId),
    place: storage.location === undefined ? storage.scheme : `${storage.scheme} ${storage.location}`,
    keepsThreads: storage.durable,
    defaultAssistant: () => Promise.resolve(defaultGraph(service) ?? ""),
    graphOf: (thread) => namedGraph(service, thread, targets),
    whyHidden: ({ metadata = {} }) => (unfiltered ? undefined : whyHidden(service, metadata)),
    close: () => service.close(),
  };
}

async function* eventsOfRun(
  service: Service,
  threadId: string,
  request: RunCreateRequest,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  // The first run of a thread creates it.
  await foundOnly(refuseBusy(service, threadId));
  const run = await service.runs.stream(threadId, { ...RUN_DEFAULTS, ...request }, { signal });
  const leave = () => run.disconnect();
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    for await (const frames of run.frames)
      for (const { data, ...frame } of frames) yield { ...frame, data: JSON.parse(data) as unknown };
    // After a disconnect no more frames arrive, but the run must still end.
    if (signal.aborted) await endOf(service, run.run);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

async function endOf(
  { runs }: Service,
  { thread_id, run_id }: Pick<Run, "thread_id" | "run_id">,
): Promise<void> {
  const { answer } = await runs.join(thread_id, run_id);
  await answer.catch(() => undefined);
}

type Configured = Pick<Service, "settings">;

const defaultGraph = ({ settings: { graphs, default_assistant_id } }: Configured): string | undefined =>
  default_assistant_id ?? Object.keys(graphs)[0];

/**
 * Argument that selects the thread's graph in `graph-serve run`; undefined if it is the default
 * graph.
 * @param targets arguments of served graphs that are not in the configuration
 */
function namedGraph(
  service: Configured,
  thread: Parameters<typeof graphIdOf>[0],
  targets: Readonly<Record<string, string>> = {},
): string | undefined {
  const id = graphIdOf(thread);
  if (id !== undefined && Object.hasOwn(targets, id)) return targets[id];
  const isOther = id !== undefined && id !== defaultGraph(service);
  return isOther && Object.hasOwn(service.settings.graphs, id) ? id : undefined;
}

function whyHidden(service: Service, metadata: JsonObject): HiddenReason | undefined {
  const error = service.graphFault(metadata);
  if (error) {
    const message = `values hidden: the graph does not load (${oneLine(error.message)})`;
    return { message, hint: "--raw shows them", isPartial: false };
  }
  const id = graphIdOf({ metadata });
  if (id === undefined || Object.hasOwn(service.settings.graphs, id)) return undefined;
  const message = `graph ${JSON.stringify(id)} is not configured: only state keys visible in a configured graph are shown`;
  return { message, hint: "--raw shows all", isPartial: true };
}

/**
 * Runs of other processes must not be stopped here, and their lock is not always visible.
 * @throws GraphServeError (`thread_busy`)
 */
async function refuseBusy(service: Service, threadId: string): Promise<void> {
  const { thread_id, status } = await service.threads.get(threadId);
  if (status !== "busy") return;
  const isCutOff = (await service.cutOffRuns(thread_id)).length > 0;
  const why = isCutOff
    ? "its run was cut off when its server crashed"
    : "another process is executing a run on it";
  throw new GraphServeError("thread_busy", `thread "${thread_id}" is busy: ${why}`, {
    hint: isCutOff
      ? "the server resumes or ends the run at its next start; graph-serve recover --apply ends it now"
      : "wait for the run to end, or cancel it on its server",
  });
}
