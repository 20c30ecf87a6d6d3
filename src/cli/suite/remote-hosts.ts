/** Cases over HTTP and server-sent events: against a server of our own, or one that is deployed. */
import { resolve } from "node:path";
import { parseGraphTarget } from "../../config/graph-target.js";
import type { LoadedConfig } from "../../config/load.js";
import { startServer } from "../../http/server.js";
import { ConfigError } from "../../support/errors.js";
import type { CaseTarget, Connect, Host, HostPlanner, HostRequest } from "../../testing/graphs.js";
import type { ServerAddress } from "../server-client.js";
import { remoteSource, remoteTarget } from "../source/remote-source.js";

const MOST_STATES = 1_000;

/** An assistant of a LangGraph-compatible server. */
async function remoteCases(address: ServerAddress, assistant?: string): Promise<CaseTarget> {
  const source = remoteSource(address);
  const runs = await remoteTarget(address, assistant);
  const { assistantId } = runs;
  return {
    assistantId,
    stream: (threadId, request, signal) => runs.stream(threadId, request, signal),
    thread: (threadId) => source.threads.get(threadId),
    state: (threadId) => source.state.get(threadId),
    history: (threadId) => source.state.history(threadId, { limit: MOST_STATES }),
    draw: () => source.assistants.draw(assistantId, { xray: false }),
    schemas: () => source.assistants.schemas(assistantId),
  };
}

/** Each graph behind a server of its own, on a free port of this machine. */
export const overHttp: Connect = async (service, assistantId) => {
  const server = await startServer(service, { host: "127.0.0.1", port: 0 });
  return { target: await remoteCases(server, assistantId), close: () => server.close(0) };
};

/** The assistants of a server: a file that a case names is the one whose key has it in the configuration. */
export function deployedHosts(address: ServerAddress, config: LoadedConfig): HostPlanner {
  return (request) => {
    const assistant = assistantOf(config, request);
    return { key: assistant ?? "", open: () => openDeployed(address, assistant) };
  };
}

/**
 * The assistant that runs the graph of a request; undefined for the server's first one.
 * @throws ConfigError for a file that is not in the configuration (`config_invalid`)
 */
function assistantOf(
  { settings: { graphs, default_assistant_id }, baseDir }: LoadedConfig,
  { graph, folder }: HostRequest,
): string | undefined {
  if (graph === undefined) return default_assistant_id ?? Object.keys(graphs)[0];
  if (Object.hasOwn(graphs, graph) || !/[\\/.]/.test(graph)) return graph;
  const wanted = placed(graph, folder);
  const fits = Object.entries(graphs).filter(([, source]) => {
    const { path, exportName } = placed(source, baseDir);
    return path === wanted.path && (exportName ?? wanted.exportName) === (wanted.exportName ?? exportName);
  });
  const [only] = fits;
  if (only && fits.length === 1) return only[0];
  throw new ConfigError(
    `no key of the configuration leads to ${graph}, and a server knows its graphs by keys`,
    {
      hint: "write the key of the server into the case file, such as graph: agent",
    },
  );
}

function placed(target: string, folder: string): { path: string; exportName?: string } {
  const { path, exportName } = parseGraphTarget(target);
  return { path: resolve(folder, path), ...(exportName !== undefined && { exportName }) };
}

async function openDeployed(address: ServerAddress, assistant: string | undefined): Promise<Host> {
  const target = await remoteCases(address, assistant);
  return {
    graph: assistant ?? target.assistantId,
    target,
    drawing: await target.draw(),
    files: () => [],
    close: () => Promise.resolve(),
  };
}

/** The graphs of the assistants that a server lists. */
export async function deployedGraphs(address: ServerAddress): Promise<string[]> {
  const { items } = await remoteSource(address).assistants.search({ limit: MOST_STATES });
  return items.flatMap(({ graph_id }) => (graph_id === undefined ? [] : [graph_id]));
}
