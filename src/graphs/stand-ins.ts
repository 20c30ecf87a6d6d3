/** Loads what loads of the graphs mapping, and puts a stand-in where a graph does not. */
import { errorMessage, GraphLoadError } from "../errors.js";
import { BareGraph } from "./bare-graph.js";
import type { LoadedGraph } from "./graph.js";
import type { GraphSources } from "./sources.js";

/** The id of the one graph there is when none is configured. */
const NO_GRAPH = "";

export interface StoodIn {
  /** At least one graph, in the order of the mapping. */
  graphs: ReadonlyMap<string, LoadedGraph>;
  /** Why a graph could not be used, by graph id. A factory that fails enters when it is called. */
  faults: ReadonlyMap<string, GraphLoadError>;
}

/** As `GraphSources.load`, but never fails: threads can then be read whatever became of their graph. */
export async function loadWithStandIns(sources: GraphSources): Promise<StoodIn> {
  const faults = new Map<string, GraphLoadError>();
  const standIn = (id: string, error: unknown): BareGraph => {
    const fault = asLoadError(error);
    faults.set(id, fault);
    return new BareGraph(fault);
  };
  const graphs = new Map<string, LoadedGraph>();
  for (const id of sources.ids) {
    try {
      graphs.set(
        id,
        guarded(await sources.loadOne(id), (error) => standIn(id, error)),
      );
    } catch (error) {
      graphs.set(id, { kind: "graph", graph: standIn(id, error) });
    }
  }
  if (graphs.size === 0) {
    const graph = standIn(NO_GRAPH, new GraphLoadError("no graph is configured"));
    graphs.set(NO_GRAPH, { kind: "graph", graph });
  }
  return { graphs, faults };
}

/** A factory may fail for the config of one thread and not for that of another. */
function guarded(loaded: LoadedGraph, standIn: (error: unknown) => BareGraph): LoadedGraph {
  if (loaded.kind !== "factory") return loaded;
  const { factory } = loaded;
  return { ...loaded, factory: async (config) => factory(config).catch(standIn) };
}

function asLoadError(error: unknown): GraphLoadError {
  return error instanceof GraphLoadError ? error : new GraphLoadError(errorMessage(error), { cause: error });
}
