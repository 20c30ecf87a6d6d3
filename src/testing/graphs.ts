/** Opens each graph of the cases once, and closes them at the end. */
import { resolve } from "node:path";
import type { Client } from "../client/client.js";
import { localClient } from "../client/local.js";
import { neitherKeyNorFile, parseGraphTarget } from "../config/graph-target.js";
import type { LoadedConfig } from "../config/load.js";
import { inMemory } from "../config/local-settings.js";
import type { Service } from "../service/service.js";
import { ConfigError } from "../support/errors.js";
import type { Tested } from "./case.js";
import type { Drawn } from "./coverage.js";

/** An open graph. */
export interface GraphUnderTest extends Tested, Drawn {
  /** Files whose changes require another run of the cases. */
  files(): string[];
  close(): Promise<void>;
}

/** A graph as named by a case file in `folder`; without a name, the default graph. */
export interface GraphRequest {
  graph?: string;
  folder: string;
}

/** The plan for a request; requests with the same key share a graph. */
interface GraphPlan {
  key: string;
  open: () => Promise<GraphUnderTest>;
}

/** @throws ConfigError if the graph is unknown (`config_invalid`) */
export type GraphPlanner = (request: GraphRequest) => GraphPlan;

export class GraphsUnderTest {
  readonly #plan: GraphPlanner;
  readonly #open = new Map<string, Promise<GraphUnderTest>>();

  constructor(plan: GraphPlanner) {
    this.#plan = plan;
  }

  /** The graph of a request; opened on first use. @throws ConfigError, GraphLoadError */
  async open(request: GraphRequest): Promise<GraphUnderTest> {
    const { key, open } = this.#plan(request);
    let opened = this.#open.get(key);
    if (!opened) this.#open.set(key, (opened = open()));
    return opened;
  }

  /** The graphs that opened successfully. */
  async all(): Promise<GraphUnderTest[]> {
    const settled = await Promise.allSettled(this.#open.values());
    return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  async close(): Promise<void> {
    const graphs = await this.all();
    this.#open.clear();
    await Promise.all(graphs.map((graph) => graph.close()));
  }
}

export type OpenService = (config: Pick<LoadedConfig, "settings" | "baseDir" | "env">) => Promise<Service>;

/** Creates a client for an open service; `leave` closes its resources, except the service. */
export type Connect = (service: Service) => Promise<{ client: Client; leave: () => Promise<void> }>;

const inProcess: Connect = (service) =>
  Promise.resolve({ client: localClient(service), leave: () => Promise.resolve() });

/** Graphs in this process: one in-memory service per graph, called directly unless `connect` is given. */
export function localGraphs(
  config: LoadedConfig,
  open: OpenService,
  connect: Connect = inProcess,
): GraphPlanner {
  return (request) => {
    const { id, source } = graphOfRequest(config, request);
    return { key: source, open: () => openLocal(config, id, source, open, connect) };
  };
}

async function openLocal(
  config: LoadedConfig,
  id: string,
  source: string,
  open: OpenService,
  connect: Connect,
): Promise<GraphUnderTest> {
  const service = await open({ ...config, settings: caseSettings(config, id, source) });
  try {
    const { client, leave } = await connect(service);
    return {
      graph: source,
      client,
      assistantId: id,
      drawing: await client.assistants.getGraph(id, { xray: false }),
      files: () => service.watchedFiles(),
      close: async () => {
        await leave();
        await service.close(0);
      },
    };
  } catch (error) {
    await service.close(0);
    throw error;
  }
}

/** The configured settings with one graph, memory as the storage and no authentication. */
export function caseSettings(
  { settings }: LoadedConfig,
  id: string,
  source: string,
): LoadedConfig["settings"] {
  const { api_keys: _keys, auth: _auth, ...rest } = inMemory(settings);
  return { ...rest, graphs: { [id]: source }, default_assistant_id: id };
}

/**
 * The id and source of a request's graph.
 * @throws ConfigError if it is neither a key of the configuration nor a file (`config_invalid`)
 */
export function graphOfRequest(
  { settings: { graphs, default_assistant_id } }: LoadedConfig,
  { graph, folder }: GraphRequest,
): { id: string; source: string } {
  const ids = Object.keys(graphs);
  const id = graph ?? default_assistant_id ?? ids[0];
  if (id === undefined) {
    throw new ConfigError("the case file has no graph, and no configuration with `graphs` was found", {
      hint: "add to the case file: graph: ./graph.ts:graph",
    });
  }
  const configured = graphs[id];
  if (configured !== undefined) return { id, source: configured };
  const { path, exportName } = parseGraphTarget(id);
  if (!/[\\/.]/.test(path)) throw neitherKeyNorFile(id, ids);
  const file = resolve(folder, path);
  return { id: "agent", source: exportName === undefined ? file : `${file}:${exportName}` };
}
