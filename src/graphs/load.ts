/** Loads graphs from the exports of files. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { GraphLoadError } from "../support/errors.js";
import type { ErrorDetails } from "../support/errors/codes.js";
import { errorMessage } from "../support/errors/thrown.js";
import { whileLoading } from "../support/graph-code.js";
import { duplicateCoreNotice } from "../support/user-langgraph.js";
import { evaluated, returned, settledExport } from "./awaited.js";
import type { FactoryRuntime, GraphFactory, LoadedGraph, ServedGraph } from "./graph.js";
import {
  evaluationError,
  factoryError,
  type BrokenModule,
  fileNotFound,
  shownPath,
  unsupportedExtension,
} from "./load-errors.js";
import {
  classify,
  describe,
  type Exports,
  exportsOf,
  GraphTargetError,
  type GraphBuilder,
  type GraphExport,
  selectExport,
  describeKind,
} from "./module-exports.js";
import { filesToWatch, type PreparedModule, prepareModule } from "./module-loader.js";

interface LoadTarget {
  /** Absolute path of the module. */
  path: string;
  exportName?: string;
}

interface LoadResult {
  loaded: LoadedGraph;
  /** Name of the selected export. */
  exportName: string;
  /** The module and every file of the project that it imports. */
  files: string[];
  /** Notices for the user, one line each. They do not prevent the graph from being served. */
  notices: string[];
}

/**
 * Load the graph at `target`: a compiled graph, a functional entrypoint, an object with a `graph` (such as the result of
 * createAgent), a factory `(config) => graph`, which is called for each use and may be async, an uncompiled builder, or a
 * promise of one of these. A builder is compiled without arguments, with a notice. If no export is named, `default` is
 * used, else `graph`, else the module's only compiled graph. Loading the same target again reloads its project files, but
 * not packages.
 * @throws GraphLoadError (`graph_load_failed`)
 */
export async function loadGraph(target: LoadTarget, { baseDir }: { baseDir: string }): Promise<LoadResult> {
  const { path, exportName } = target;
  const { exports, module } = await loadModule(target, { baseDir });
  const { source: file, files } = module;
  const name = selectExport(exports, exportName, file);
  const named = { ...module, source: `${file}:${name}` };
  const { loaded, notices } = await serveExport(exports.get(name), named, name);
  const copies = duplicateCoreNotice(path);
  return {
    loaded,
    exportName: name,
    files: [...files],
    notices: copies ? [...notices, copies] : notices,
  };
}

/**
 * Names of the exports that are compiled graphs, each graph once; a name other than `default` is preferred.
 * @throws GraphLoadError if the module does not load (`graph_load_failed`)
 */
export async function compiledExports(path: string, { baseDir }: { baseDir: string }): Promise<string[]> {
  const { exports } = await loadModule({ path }, { baseDir });
  const names = new Map<unknown, string>();
  for (const [name, value] of exports) {
    const found = classify(value);
    if (found.kind === "graph" && [undefined, "default"].includes(names.get(found.graph)))
      names.set(found.graph, name);
  }
  return [...names.values()];
}

/** An export of a project module, of any type. */
interface LoadedExport {
  /** Undefined if there is no such export. Promises are awaited. */
  value: unknown;
  /** All names that the module exports. */
  names: string[];
  /** The module and every file of the project that it imports. */
  files: readonly string[];
}

/**
 * Load an export of a module. Loading it again reloads the project files.
 * @throws GraphLoadError (`graph_load_failed`)
 */
export async function loadExport(
  { path, exportName }: Required<LoadTarget>,
  { baseDir }: { baseDir: string },
): Promise<LoadedExport> {
  const { exports, module } = await loadModule({ path, exportName }, { baseDir });
  const found = classify(exports.get(exportName));
  const named = { ...module, source: `${module.source}:${exportName}` };
  const value =
    found.kind === "promise"
      ? await settledExport(found.promise, named, exportName)
      : exports.get(exportName);
  return { value, names: [...exports.keys()], files: module.files };
}

/**
 * Evaluate the module of a target. Loading the same target again reloads its project files.
 * @throws GraphLoadError (`graph_load_failed`)
 */
async function loadModule(
  { path, exportName }: LoadTarget,
  { baseDir }: { baseDir: string },
): Promise<{ exports: Map<string, unknown>; module: BrokenModule }> {
  assertModuleFile(path, baseDir);
  const prepared = await prepareModule(path, `${path}:${exportName ?? ""}`);
  const module: BrokenModule = {
    path,
    source: shownPath(path, baseDir),
    baseDir,
    files: prepared.files,
  };
  return { exports: exportsOf(await evaluate(prepared, module)), module };
}

async function evaluate(prepared: PreparedModule, module: BrokenModule): Promise<Exports> {
  try {
    return await evaluated(
      whileLoading(() => prepared.evaluate()),
      module,
    );
  } catch (error) {
    throw await evaluationError(error, module);
  }
}

function assertModuleFile(path: string, baseDir: string): void {
  if (!existsSync(path) || !statSync(path).isFile()) throw fileNotFound(path, baseDir);
  if (!/\.([cm]?[jt]s|[jt]sx)$/.test(path)) throw unsupportedExtension(path, baseDir);
}

// Converts an exported value to a LoadedGraph.

interface Served {
  loaded: LoadedGraph;
  notices: string[];
}

/**
 * Convert an exported value to a graph; promises are awaited.
 * @throws GraphLoadError if the value is not a graph (`graph_load_failed`)
 */
async function serveExport(value: unknown, module: BrokenModule, name: string): Promise<Served> {
  const { source } = module;
  const given = classify(value);
  if (given.kind !== "promise") return serve(given, module, name);
  const found = classify(await settledExport(given.promise, module, name));
  if (found.kind === "other") throw notAGraph(source, `promise of ${article(found.what)}`);
  return serve(found, module, name);
}

function serve(found: GraphExport, module: BrokenModule, name: string): Served {
  const { source } = module;
  if (found.kind === "other" || found.kind === "promise") throw notAGraph(source, describeKind(found));
  if (found.kind === "graph") return served(found.graph, source, ownStorage(found.graph, source));
  if (found.kind === "builder") {
    const notice = `${source} was not compiled: compiled it without options`;
    return served(compile(found.builder, module, name), source, [notice]);
  }
  return { loaded: { kind: "factory", factory: factoryOf(found.call, module, name), source }, notices: [] };
}

/**
 * Convert a value passed by an embedder, by the rules for exports.
 * @param id the graph's id, used in messages
 * @throws GraphLoadError (`graph_load_failed`)
 */
async function graphFromValue(value: unknown, id: string, baseDir: string): Promise<Served> {
  const module = { path: baseDir, source: id, baseDir, files: [] };
  const { loaded, notices } = await serveExport(value, module, id);
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

function compile(builder: GraphBuilder, module: BrokenModule, name: string): ServedGraph {
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

/** Wraps the user's function, and validates its result on each call. */
function factoryOf(
  call: (config: unknown, runtime: FactoryRuntime) => unknown,
  module: BrokenModule,
  name: string,
): GraphFactory {
  return async (config, access_context = "threads.create_run") => {
    const user = config.configurable?.langgraph_auth_user;
    let result: unknown;
    try {
      result = await whileLoading(() =>
        call(config, { access_context, ...(user !== undefined && { user }) }),
      );
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

/** The location of the module; empty for a graph that was passed as a value. */
const inFile = ({ path, files }: BrokenModule): ErrorDetails =>
  files.length > 0 ? { location: { file: path } } : {};

function notAGraph(source: string, what: string): GraphLoadError {
  return new GraphTargetError(`${source} is ${article(what)}, not a graph`, {
    hint: "export a compiled graph, or a function that returns one",
  });
}

const article = (what: string): string => {
  if (/^(undefined|null|a |an )/.test(what)) return what;
  return /^[aeio]/i.test(what) ? `an ${what}` : `a ${what}`;
};

// The graphs mapping; can be loaded repeatedly.

/** Source of a graph: an export of a file, or a value like one that a module exports. */
export type GraphSource =
  { kind: "file"; path: string; exportName?: string } | { kind: "value"; value: unknown };

/** Id of the placeholder graph if no graph is configured. */
const NO_GRAPH = "";

interface SourceOptions {
  /** Directory that relative paths are resolved against. */
  cwd: string;
  /** Whether to call each factory once with an empty configuration, to detect factories that throw. */
  callFactories?: boolean;
  /**
   * Whether each call of a factory is limited, not only the first one. A command would wait without a word, and exit
   * silently if nothing else keeps its process alive.
   */
  limitFactories?: boolean;
}

interface Found {
  loaded: LoadedGraph;
  notices: string[];
  files: string[];
}

export class GraphSources {
  readonly #sources: ReadonlyMap<string, GraphSource>;
  readonly #options: SourceOptions;
  #files: string[] = [];
  #notices: string[] = [];

  constructor(sources: ReadonlyMap<string, GraphSource>, options: SourceOptions) {
    this.#sources = sources;
    this.#options = options;
  }

  get ids(): string[] {
    return [...this.#sources.keys()];
  }

  /** Files that the last load read: graph files and what they import. */
  get files(): string[] {
    return this.#files;
  }

  get notices(): readonly string[] {
    return this.#notices;
  }

  /**
   * Load all graphs; fails if one of them does not load.
   * @throws GraphLoadError (`graph_load_failed`)
   */
  load(): Promise<ReadonlyMap<string, LoadedGraph>> {
    return this.#loadAll((error) => {
      throw error;
    });
  }

  /**
   * Load all graphs. A graph that does not load has kind `fault`. Never empty.
   * @throws GraphTargetError with `existing` if a file or an export does not exist (`graph_load_failed`)
   */
  async loadEach({ existing = false } = {}): Promise<ReadonlyMap<string, LoadedGraph>> {
    const graphs = await this.#loadAll(async (error, source) => {
      if (existing && error instanceof GraphTargetError) throw error;
      return {
        loaded: { kind: "fault", fault: asLoadError(error) },
        files: source.kind === "file" ? await filesToWatch(resolve(this.#options.cwd, source.path)) : [],
        notices: [],
      };
    });
    if (graphs.size > 0) return graphs;
    return new Map([[NO_GRAPH, { kind: "fault", fault: new GraphLoadError("no graph is configured") }]]);
  }

  async #loadAll(onFault: (error: unknown, source: GraphSource) => Promise<Found>) {
    const graphs = new Map<string, LoadedGraph>();
    const files = new Set<string>();
    const notices: string[] = [];
    for (const [id, source] of this.#sources) {
      const found = await this.#load(id, source).catch((error: unknown) => onFault(error, source));
      graphs.set(id, found.loaded);
      found.files.forEach((file) => files.add(file));
      notices.push(...found.notices);
    }
    this.#files = [...files];
    this.#notices = notices;
    return graphs;
  }

  async #load(id: string, source: GraphSource): Promise<Found> {
    const { cwd, callFactories, limitFactories } = this.#options;
    const found =
      source.kind === "value"
        ? { ...(await graphFromValue(source.value, id, cwd)), files: [] }
        : await loadGraph(
            { path: resolve(cwd, source.path), exportName: source.exportName },
            { baseDir: cwd },
          );
    const { loaded } = found;
    if (loaded.kind !== "factory") return found;
    const factory: GraphFactory = (config, access) => returned(loaded.factory(config, access), loaded.source);
    if (callFactories) await factory({ configurable: {} });
    return limitFactories ? { ...found, loaded: { ...loaded, factory } } : found;
  }
}

function asLoadError(error: unknown): GraphLoadError {
  return error instanceof GraphLoadError ? error : new GraphLoadError(errorMessage(error), { cause: error });
}
