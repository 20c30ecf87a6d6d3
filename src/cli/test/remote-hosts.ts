/** Cases over HTTP and server-sent events: against a server of our own, or one that is deployed. */
import { startServer } from "../../http/server.js";
import type { Connect, Host, HostPlanner } from "../../testing/hosts.js";
import type { CaseTarget } from "../../testing/target.js";
import { remoteTarget } from "../run/remote-target.js";
import { remoteSource } from "../source/remote-source.js";

const MOST_STATES = 1_000;

/** An assistant of a LangGraph-compatible server. */
export async function remoteCases(url: string, assistant?: string): Promise<CaseTarget> {
  const source = remoteSource(url);
  const runs = await remoteTarget(url, assistant);
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
  return { target: await remoteCases(server.url, assistantId), close: () => server.close(0) };
};

/** The assistants of the server at `url`; a case file that names a file runs the server's first one. */
export function deployedHosts(url: string): HostPlanner {
  return ({ graph }) => {
    const assistant = graph === undefined || /[\\/]/.test(graph) ? undefined : graph;
    return { key: assistant ?? "", open: () => openDeployed(url, assistant) };
  };
}

async function openDeployed(url: string, assistant: string | undefined): Promise<Host> {
  const target = await remoteCases(url, assistant);
  return {
    graph: assistant ?? target.assistantId,
    target,
    drawing: await target.draw(),
    files: () => [],
    close: () => Promise.resolve(),
  };
}

/** The graphs of the assistants that a server lists. */
export async function deployedGraphs(url: string): Promise<string[]> {
  const { items } = await remoteSource(url).assistants.search({ limit: MOST_STATES });
  return items.flatMap(({ graph_id }) => (graph_id === undefined ? [] : [graph_id]));
}
