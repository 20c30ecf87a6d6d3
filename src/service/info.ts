/** Information about a service and its graphs. */
import { graphSummary, type GraphOutline } from "../graphs/draw.js";
import type { GraphRegistry } from "../graphs/registry.js";
import type { ServerInfo } from "../models/info.js";
import { oneLine } from "../support/errors/thrown.js";
import { VERSION } from "../support/own-package.js";

/**
 * A graph as the startup banner and `validate` show it.
 * @example
 * ```ts
 * import type { GraphSummary } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const [summary]: GraphSummary[] = await service.graphs();
 * summary?.id; // => "agent"
 * summary?.nodes; // => ["greet"]
 * ```
 */
export interface GraphSummary extends GraphOutline {
  /** Assistant id. */
  id: string;
  /** `path:export`, if it was loaded from a file. */
  source?: string;
  /** Load error in one line. Nothing else is known about the graph then. */
  fault?: string;
}

/** One summary per graph, the default graph first. */
export async function graphSummaries(registry: GraphRegistry): Promise<GraphSummary[]> {
  return Promise.all(
    registry.ids.map(async (id) => {
      const { graph } = await registry.reader(id, undefined, "assistants.read");
      const fault = registry.faultOf(id);
      return {
        id,
        source: registry.sourceOf(id),
        ...graphSummary(graph),
        ...(fault && { fault: oneLine(fault.message) }),
      };
    }),
  );
}

interface InfoSettings {
  crons: boolean;
  body_limit: number;
}

/** Identity of the server (docs/specification.md#requests-and-answers). */
export function serverInfo(langgraphVersion: string, settings: InfoSettings): ServerInfo {
  return {
    status: "ok",
    name: "graph-serve",
    version: VERSION,
    langgraph_js_version: langgraphVersion,
    context: "js",
    flags: { assistants: true, crons: settings.crons, langsmith: false, strict_resume: true },
    body_limit: settings.body_limit,
  };
}
