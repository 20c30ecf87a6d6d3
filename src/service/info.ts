/** What a service says of itself and of its graphs. */
import { graphSummary, type GraphOutline } from "../graphs/draw.js";
import type { GraphRegistry } from "../graphs/registry.js";
import type { ServerInfo } from "../models/info.js";
import { oneLine } from "../support/errors.js";
import { VERSION } from "../support/version.js";

/** What a banner or a check list says of a graph. */
export interface GraphSummary extends GraphOutline {
  id: string;
  /** `path:export`, when it was loaded from a file. */
  source?: string;
  /** Why it does not load, in a line; nothing more is known of it then. */
  fault?: string;
}

/** Of each graph, default first. */
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
