/** From a file and an export to a graph that can be served. */
import { existsSync, statSync } from "node:fs";
import { shownPath, type FaultyModule } from "./fault-location.js";
import type { LoadedGraph } from "./graph.js";
import { evaluationError, fileNotFound, unsupportedExtension } from "./load-errors.js";
import { classify, exportsOf, selectExport } from "./module-exports.js";
import { prepareModule, type Exports, type PreparedModule } from "./module-loader.js";
import { serveExport } from "./served-export.js";
import { duplicateCoreNotice } from "../user-langgraph.js";

export interface LoadTarget {
  /** Absolute path of the module. */
  path: string;
  exportName?: string;
}

export interface LoadResult {
  loaded: LoadedGraph;
  /** The export that was taken. */
  exportName: string;
  /** The module and every file of the project that it imports. */
  files: string[];
  /** What the user should know, a line each; the graph serves all the same. */
  notices: string[];
}

/**
 * Load the graph at `target`: a compiled graph, a functional entrypoint, an object whose `graph` is one (what
 * createAgent gives), a function `(config) => graph`, which is called for each use and may be async, or a builder
 * that was not compiled. A builder is compiled here, with a notice, since without arguments there is one way to do it.
 * Without a name the export is `default`, else `graph`, else the module's only compiled graph. Loading the same
 * target again evaluates its project files anew; packages stay as they are.
 * @throws GraphLoadError (`graph_load_failed`)
 */
export async function loadGraph(target: LoadTarget, { baseDir }: { baseDir: string }): Promise<LoadResult> {
  const { path, exportName } = target;
  const { exports, module } = await loadModule(target, { baseDir });
  const { source: file, files } = module;
  const name = selectExport(exports, exportName, file);
  const found = classify(exports.get(name));
  const { loaded, notices } = serveExport(found, { ...module, source: `${file}:${name}` }, name);
  const copies = duplicateCoreNotice(path);
  return {
    loaded,
    exportName: name,
    files: [...files],
    notices: copies ? [...notices, copies] : notices,
  };
}

/**
 * Evaluate the module of a target, anew when the same target is loaded again.
 * @throws GraphLoadError (`graph_load_failed`)
 */
export async function loadModule(
  { path, exportName }: LoadTarget,
  { baseDir }: { baseDir: string },
): Promise<{ exports: Map<string, unknown>; module: FaultyModule }> {
  assertModuleFile(path, baseDir);
  const prepared = await prepareModule(path, `${path}:${exportName ?? ""}`);
  const module: FaultyModule = {
    path,
    source: shownPath(path, baseDir),
    baseDir,
    files: prepared.files,
  };
  return { exports: exportsOf(await evaluate(prepared, module)), module };
}

async function evaluate(prepared: PreparedModule, module: FaultyModule): Promise<Exports> {
  try {
    return await prepared.evaluate();
  } catch (error) {
    throw await evaluationError(error, module);
  }
}

function assertModuleFile(path: string, baseDir: string): void {
  if (!existsSync(path) || !statSync(path).isFile()) throw fileNotFound(path, baseDir);
  if (!/\.([cm]?[jt]s|[jt]sx)$/.test(path)) throw unsupportedExtension(path, baseDir);
}
