/** Runs cases over HTTP and server-sent events, on a local or a deployed server. */
import { resolve } from "node:path";
import { remoteClient } from "../../client/remote.js";
import type { ServerAddress } from "../../client/server.js";
import { parseGraphTarget } from "../../config/graph-target.js";
import type { LoadedConfig } from "../../config/load.js";
import { startServer } from "../../http/server.js";
import { ConfigError } from "../../support/errors.js";
import type { Connect, GraphPlanner, GraphRequest, GraphUnderTest } from "../../testing/graphs.js";

const MOST_ASSISTANTS = 1_000;

/** Serves each graph on its own free local port. Error locations of runs come directly from the service. */
export const overHttp: Connect = async (service) => {
  const server = await startServer(service, { host: "127.0.0.1", port: 0 });
  const client = await remoteClient(server);
  return {
    client: { ...client, fault: (threadId, runId) => service.runs.fault(threadId, runId) },
    leave: () => server.close(0),
  };
};

/** The assistants of a server; a file in a case is mapped to the assistant with its configuration key. */
export function deployedGraphs(address: ServerAddress, config: LoadedConfig): GraphPlanner {
  return (request) => {
    const assistant = assistantOf(config, request);
    return { key: assistant ?? "", open: () => openDeployed(address, assistant) };
  };
}

/**
 * The assistant for a request's graph; undefined for the server's first assistant.
 * @throws ConfigError if the file is not in the configuration (`config_invalid`)
 */
function assistantOf(
  { settings: { graphs, default_assistant_id }, baseDir }: LoadedConfig,
  { graph, folder }: GraphRequest,
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
    `${graph} is not in the configuration, and a server identifies graphs by their keys`,
    {
      hint: "use the server's key in the case file, such as graph: agent",
    },
  );
}

function placed(target: string, folder: string): { path: string; exportName?: string } {
  const { path, exportName } = parseGraphTarget(target);
  return { path: resolve(folder, path), ...(exportName !== undefined && { exportName }) };
}

async function openDeployed(address: ServerAddress, assistant: string | undefined): Promise<GraphUnderTest> {
  const client = await remoteClient(address, assistant);
  const assistantId = await client.defaultAssistant();
  return {
    graph: assistantId,
    client,
    assistantId,
    drawing: await client.assistants.getGraph(assistantId, { xray: false }),
    files: () => [],
    close: () => client.close(),
  };
}

/** The graphs of the assistants that a server lists. */
export async function listedGraphs(address: ServerAddress): Promise<string[]> {
  const client = await remoteClient(address);
  const assistants = await client.assistants.search({ limit: MOST_ASSISTANTS });
  return assistants.flatMap(({ graph_id }) => (graph_id === undefined ? [] : [graph_id]));
}
