/** From an exported value to a graph that can be served. */
import { GraphLoadError, errorMessage, type ErrorDetails } from "../errors.js";
import type { FaultyModule } from "./fault-location.js";
import type { GraphFactory, LoadedGraph, ServedGraph } from "./graph.js";
import { factoryError } from "./load-errors.js";
import { classify, describe, type GraphBuilder, type GraphExport } from "./module-exports.js";

export interface Served {
  loaded: LoadedGraph;
  notices: string[];
}

/**
 * What an export, sorted out, is served as.
 * @throws GraphLoadError when it is no graph (`graph_load_failed`)
 */
export function serveExport(found: GraphExport, module: FaultyModule, name: string): Served {
  const { source } = module;
  if (found.kind === "other") throw notAGraph(source, found.what);
  if (found.kind === "graph") return served(found.graph, source, ownStorage(found.graph, source));
  if (found.kind === "builder") {
    const notice = `${source} was not compiled: compiled it without options`;
    return served(compile(found.builder, module, name), source, [notice]);
  }
  return { loaded: { kind: "factory", factory: factoryOf(found.call, module, name), source }, notices: [] };
}

/**
 * A graph that an embedder hands over as a value, by the rules for exports.
 * @param id the graph's id, which messages name it by
 * @throws GraphLoadError (`graph_load_failed`)
 */
export function graphFromValue(value: unknown, id: string, baseDir: string): Served {
  const { loaded, notices } = serveExport(
    classify(value),
    { path: baseDir, source: id, baseDir, files: [] },
    id,
  );
  return { loaded: { ...loaded, source: undefined }, notices };
}

const served = (graph: ServedGraph, source: string, notices: string[]): Served => ({
  loaded: { kind: "graph", graph, source },
  notices,
});

function ownStorage(graph: ServedGraph, source: string): string[] {
  const own = graph.checkpointer;
  if (typeof own !== "object" || own === null) return [];
  const name = own.constructor.name;
  return [
    `${source} was compiled with its own checkpointer (${name}): the storage of the server is used instead`,
  ];
}

function compile(builder: GraphBuilder, module: FaultyModule, name: string): ServedGraph {
  try {
    const compiled = classify(builder.compile());
    if (compiled.kind === "graph") return compiled.graph;
  } catch (error) {
    throw new GraphLoadError(`${module.source} does not compile: ${errorMessage(error)}`, {
      hint: `complete the graph "${name}", then export builder.compile()`,
      cause: error,
      ...inFile(module),
    });
  }
  throw notAGraph(module.source, "a builder that compiles to something else");
}

/** The user's function, its result checked at each call. */
function factoryOf(call: (config: unknown) => unknown, module: FaultyModule, name: string): GraphFactory {
  return async (config) => {
    let result: unknown;
    try {
      result = await call(config);
    } catch (error) {
      throw factoryError(error, module);
    }
    const made = classify(result);
    if (made.kind === "graph") return made.graph;
    if (made.kind === "builder") return compile(made.builder, module, name);
    throw new GraphLoadError(
      `the factory ${module.source} returned ${article(describe(result))}, not a graph`,
      {
        hint: `return a compiled graph from "${name}": return builder.compile()`,
        ...inFile(module),
      },
    );
  };
}

/** Where it stands, unless it was handed over as a value. */
const inFile = ({ path, files }: FaultyModule): ErrorDetails =>
  files.length > 0 ? { location: { file: path } } : {};

function notAGraph(source: string, what: string): GraphLoadError {
  return new GraphLoadError(`${source} is ${article(what)}, not a graph`, {
    hint: "export a compiled graph, or a function that returns one",
  });
}

const article = (what: string): string => {
  if (/^(undefined|null|a |an )/.test(what)) return what;
  return /^[aeio]/i.test(what) ? `an ${what}` : `a ${what}`;
};
