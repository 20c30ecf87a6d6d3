/** Opens the graphs that cases run, each once, and closes them at the end. */
import { resolve } from "node:path";
import { parseGraphTarget } from "../config/graph-target.js";
import type { LoadedConfig } from "../config/load.js";
import type { GraphDrawing, GraphSchema } from "../models/assistant.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import type { ThreadState } from "../models/state.js";
import type { Thread } from "../models/thread.js";
import type { Service } from "../service.js";
import { ConfigError } from "../support/errors.js";
import { nearest } from "../support/nearest.js";

/** A graph that is ready to be run. */
export interface Host {
  /** The graph as results name it. */
  graph: string;
  target: CaseTarget;
  drawing: GraphDrawing;
  /** Files whose change calls for another run of the cases. */
  files(): string[];
  close(): Promise<void>;
}

/** A graph that a case file names, `folder` being the file's; the default one without a name. */
export interface HostRequest {
  graph?: string;
  folder: string;
}

/** What a request leads to: requests of one key share a host. */
interface HostPlan {
  key: string;
  open: () => Promise<Host>;
}

/** @throws ConfigError when the request names no graph (`config_invalid`) */
export type HostPlanner = (request: HostRequest) => HostPlan;

export class Hosts {
  readonly #plan: HostPlanner;
  readonly #open = new Map<string, Promise<Host>>();

  constructor(plan: HostPlanner) {
    this.#plan = plan;
  }

  /** The host of a request, opened by the first who asks. @throws ConfigError, GraphLoadError */
  async host(request: HostRequest): Promise<Host> {
    const { key, open } = this.#plan(request);
    let opened = this.#open.get(key);
    if (!opened) this.#open.set(key, (opened = open()));
    return opened;
  }

  /** Those that were opened without a fault. */
  async all(): Promise<Host[]> {
    const settled = await Promise.allSettled(this.#open.values());
    return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  async close(): Promise<void> {
    const hosts = await this.all();
    this.#open.clear();
    await Promise.all(hosts.map((host) => host.close()));
  }
}

export type OpenService = (config: Pick<LoadedConfig, "settings" | "baseDir" | "env">) => Promise<Service>;

/** Makes a target of an open service; closing it does not close the service. */
export type Connect = (
  service: Service,
  assistantId: string,
) => Promise<{ target: CaseTarget; close: () => Promise<void> }>;

const inProcess: Connect = (service, assistantId) =>
  Promise.resolve({ target: serviceTarget(service, assistantId), close: () => Promise.resolve() });

/** Hosts in this process: each a service with one graph, in memory, called directly unless `connect` says otherwise. */
export function localHosts(
  config: LoadedConfig,
  open: OpenService,
  connect: Connect = inProcess,
): HostPlanner {
  return (request) => {
    const { id, source } = graphOfRequest(config, request);
    return { key: source, open: () => openHost(config, id, source, open, connect) };
  };
}

async function openHost(
  config: LoadedConfig,
  id: string,
  source: string,
  open: OpenService,
  connect: Connect,
): Promise<Host> {
  const service = await open({ ...config, settings: caseSettings(config, id, source) });
  try {
    const { target, close } = await connect(service, id);
    return {
      graph: source,
      target,
      drawing: await service.assistants.draw(id, { xray: false }),
      files: () => service.watchedFiles(),
      close: async () => {
        await close();
        await service.close(0);
      },
    };
  } catch (error) {
    await service.close(0);
    throw error;
  }
}

/** One graph, nothing stored, nobody asked who they are; the rest as configured. */
function caseSettings({ settings }: LoadedConfig, id: string, source: string): LoadedConfig["settings"] {
  const { checkpointer_uri: _uri, api_keys: _keys, auth: _auth, ...rest } = settings;
  return { ...rest, graphs: { [id]: source }, default_assistant_id: id, checkpointer_scheme: "memory" };
}

/**
 * The graph that a request names, as a configuration would name it.
 * @throws ConfigError when it is neither a key of the configuration nor a file (`config_invalid`)
 */
export function graphOfRequest(
  { settings: { graphs, default_assistant_id } }: LoadedConfig,
  { graph, folder }: HostRequest,
): { id: string; source: string } {
  const ids = Object.keys(graphs);
  const id = graph ?? default_assistant_id ?? ids[0];
  if (id === undefined) {
    throw new ConfigError("the cases name no graph, and there is no configuration with `graphs`", {
      hint: "add to the case file: graph: ./graph.ts:graph",
    });
  }
  const configured = graphs[id];
  if (configured !== undefined) return { id, source: configured };
  const { path, exportName } = parseGraphTarget(id);
  if (!/[\\/.]/.test(path)) {
    const similar = nearest(id, ids);
    throw new ConfigError(`"${id}" is neither a graph of the configuration nor a file`, {
      hint: similar === undefined ? `the graphs: ${ids.join(", ") || "none"}` : `did you mean "${similar}"?`,
    });
  }
  const file = resolve(folder, path);
  return { id: "agent", source: exportName === undefined ? file : `${file}:${exportName}` };
}

// Where cases are run: this process or a server, with the same calls and the same answers.

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
        // Who leaves is told no more frames, but the run has yet to end.
        if (signal.aborted) await endOf(service, run.run);
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

async function endOf(
  { runs }: Service,
  { thread_id, run_id }: Pick<Run, "thread_id" | "run_id">,
): Promise<void> {
  const { answer } = await runs.join(thread_id, run_id);
  await answer.catch(() => undefined);
}
