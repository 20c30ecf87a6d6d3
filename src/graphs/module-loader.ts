/** Evaluates graph modules in this process: JavaScript natively, TypeScript through jiti. Supports hot reload. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, extname, join, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Jiti } from "jiti";
import { GraphLoadError } from "../support/errors.js";
import { versionImports } from "../support/module-hooks.js";
import { isServedGraph, type ServedGraph } from "./graph.js";

export type Exports = Record<string, unknown>;

const TYPESCRIPT = /\.([cm]?ts|tsx|jsx)$/;
export const isTypeScript = (file: string): boolean => TYPESCRIPT.test(file);

// Module state, because Node's module caches are also global to the process.
const commonJsCache = createRequire(import.meta.url).cache;
const known = new Map<string, string>();
let generation = 0;
let loadedInGeneration = new Set<string>();

/** A module before evaluation. Its project files are known even if the evaluation fails. */
export interface PreparedModule {
  files: string[];
  evaluate(): Promise<Exports>;
}

/**
 * Prepare the module at the absolute path `file`. A new generation begins if the same `key` is loaded again, or if a
 * file has changed since it was evaluated. In each generation, every project file is evaluated once, even if several
 * graphs import it. Packages are evaluated once per process.
 * @param key identifies what is loaded
 */
export async function prepareModule(file: string, key: string): Promise<PreparedModule> {
  const jiti = isTypeScript(file) ? await createLoader(file) : undefined;
  const files = projectFiles(file, jiti && aliasesOf(jiti));
  if (loadedInGeneration.has(key) || files.some(hasChanged)) beginGeneration();
  loadedInGeneration.add(key);
  for (const each of files) known.set(each, signature(each));
  return { files, evaluate: () => evaluate(file, jiti) };
}

/**
 * The files to watch for a module that does not load: the module, the project files that it imports, and the paths where
 * missing imports would be found.
 */
export async function filesToWatch(file: string): Promise<string[]> {
  const jiti = isTypeScript(file) ? await createLoader(file) : undefined;
  const files = projectFiles(file, jiti && aliasesOf(jiti));
  const missing = files.flatMap(missingFrom);
  for (const each of missing) known.set(each, known.has(each) ? signature(each) : MISSING);
  // A file that was missing when the module was prepared has been written since.
  for (const each of files) if (!known.has(each)) known.set(each, MISSING);
  return [...files, ...missing];
}

/** The files that have changed since they were loaded; each change is returned once. */
export function takeChanged(files: readonly string[]): string[] {
  const changed = files.filter(hasChanged);
  for (const each of changed) known.set(each, signature(each));
  return changed;
}

const MISSING = "";

/** Changes when the file is modified. */
function signature(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() ? `${found.mtimeMs} ${found.size}` : MISSING;
}

function hasChanged(file: string): boolean {
  const before = known.get(file);
  return before !== undefined && before !== signature(file);
}

/** Whether the file has not changed since it was loaded; true if that is unknown. */
export const isAsLoaded = (file: string): boolean => !hasChanged(file);

function beginGeneration(): void {
  generation += 1;
  loadedInGeneration = new Set();
  for (const file of known.keys()) {
    delete commonJsCache[file];
    delete commonJsCache[file.replaceAll("\\", "/")];
  }
}

async function evaluate(file: string, jiti: Jiti | undefined): Promise<Exports> {
  // ES modules cannot be removed from Node's cache. A version in the URL makes Node load them again.
  if (generation > 0) await versionImports(generation, known.keys());
  if (jiti) return jiti.import<Exports>(file);
  try {
    const version = generation > 0 ? `?graph-serve=${generation}` : "";
    return await importNatively(pathToFileURL(file).href + version);
  } catch (error) {
    if (!importsTypeScript(error)) throw error;
    return (await createLoader(file)).import<Exports>(file);
  }
}

/** Node's own import(). TypeScript runners and bundlers that evaluate this file replace `import()` with their own. */
const NATIVE_IMPORT = "data:text/javascript,export const load = (url) => import(url)";

async function importNatively(url: string): Promise<Exports> {
  const { load } = (await import(NATIVE_IMPORT)) as { load: (url: string) => Promise<Exports> };
  return load(url);
}

/** Whether JavaScript imported TypeScript, which Node supports as of version 22.18. */
function importsTypeScript(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ERR_UNKNOWN_FILE_EXTENSION" && /"\.([cm]?ts|tsx|jsx)"/.test(message);
}

/** A jiti instance for `file` and its imports. Loaded on demand: JavaScript graphs do not need it. */
export async function createLoader(file: string): Promise<Jiti> {
  const { createJiti } = await import("jiti");
  const { transform } = createJiti(file).options;
  return createJiti(file, {
    moduleCache: true,
    // Stack traces then refer to the lines and columns of the source.
    sourceMaps: true,
    tsconfigPaths: tsconfigWithPaths(file) ?? false,
    jsx: { runtime: "automatic" },
    // With JSX enabled, type assertions such as `<T>(value)` in plain TypeScript would not parse.
    transform: (options) =>
      transform!({ ...options, jsx: options.filename?.endsWith("x") ? options.jsx : false }),
  });
}

/** The nearest tsconfig.json, only if it may declare `paths`: jiti reads it again for each file. */
function tsconfigWithPaths(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const tsconfig = join(folder, "tsconfig.json");
    if (existsSync(tsconfig))
      return /"(paths|baseUrl|extends)"/.test(readFileSync(tsconfig, "utf8")) ? tsconfig : undefined;
    if (folder === dirname(folder)) return undefined;
  }
}

function aliasesOf(jiti: Jiti): AliasResolver | undefined {
  if (!jiti.options.tsconfigPaths) return undefined;
  return (specifier, importer) => {
    const found: string | undefined = jiti.esmResolve(specifier, {
      parentURL: pathToFileURL(importer).href,
      try: true,
    });
    return found?.startsWith("file:") ? fileURLToPath(found) : undefined;
  };
}

// The exports of a graph module, and which of them is its graph.

/** A graph that is not compiled yet. */
export interface GraphBuilder {
  compile(): unknown;
}

export type GraphExport =
  | { kind: "graph"; graph: ServedGraph }
  | { kind: "builder"; builder: GraphBuilder }
  | { kind: "function"; call: (config: unknown) => unknown }
  | { kind: "promise"; promise: PromiseLike<unknown> }
  | { kind: "other"; what: string };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Classify an exported value, or the result of a factory. */
export function classify(value: unknown): GraphExport {
  // Check for a wrapper first: the result of createAgent has some methods of a graph, and the full graph in `.graph`.
  if (isObject(value) && isServedGraph(value.graph)) return { kind: "graph", graph: value.graph };
  if (isServedGraph(value)) return { kind: "graph", graph: value };
  if (isBuilder(value)) return { kind: "builder", builder: value };
  if (isPromise(value)) return { kind: "promise", promise: value };
  if (typeof value !== "function") return { kind: "other", what: whatIs(value) };
  if (/^class\b/.test(Function.prototype.toString.call(value))) return { kind: "other", what: "class" };
  return { kind: "function", call: value as (config: unknown) => unknown };
}

function isBuilder(value: unknown): value is GraphBuilder {
  return isObject(value) && typeof value.compile === "function" && typeof value.addNode === "function";
}

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  isObject(value) && typeof value.then === "function";

function whatIs(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "array";
  const name = isObject(value)
    ? (Object.getPrototypeOf(value) as object | null)?.constructor?.name
    : undefined;
  return name === undefined || name === "Object" ? typeof value : name;
}

const KINDS = {
  graph: "compiled graph",
  builder: "StateGraph, not compiled",
  function: "function",
  promise: "promise",
};

export const describe = (value: unknown): string => describeKind(classify(value));

export const describeKind = (found: GraphExport): string =>
  found.kind === "other" ? found.what : KINDS[found.kind];

/** The exports by name. If the default export is a plain object, as for CommonJS, its properties count as exports. */
export function exportsOf(module: Exports): Map<string, unknown> {
  const named = new Map(Object.keys(module).map((name) => [name, module[name]]));
  named.delete("module.exports");
  const whole = module.default;
  if (!isPlainObject(whole) || isServedGraph(whole)) return named;
  // An object with `fetch` is an HTTP app, so the default export is kept.
  if (typeof whole.fetch !== "function") named.delete("default");
  for (const [name, value] of Object.entries(whole)) if (!named.has(name)) named.set(name, value);
  return named;
}

function isPlainObject(value: unknown): value is Exports {
  if (!isObject(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype === Object.prototype;
}

/**
 * The name of the export to serve: the requested one, else `default`, else `graph`, else the module's only compiled
 * graph or promise of one.
 * @param file the module's name in messages
 * @throws GraphLoadError if there is no such export, or several (`graph_load_failed`)
 */
export function selectExport(
  exports: Map<string, unknown>,
  wanted: string | undefined,
  file: string,
): string {
  if (wanted !== undefined) {
    if (exports.has(wanted)) return wanted;
    throw loadError(`export "${wanted}" not found in ${file}`, exports, file);
  }
  const usual = ["default", "graph"].find((name) => isUsable(exports.get(name)));
  if (usual !== undefined) return usual;
  const graphs = [...exports.keys()].filter((name) => mayBeGraph(exports.get(name)));
  if (graphs.length === 1) return graphs[0] as string;
  if (graphs.length > 1) throw loadError(`${file} exports several graphs`, exports, file);
  throw loadError(`${file} exports no graph under the name default or graph`, exports, file);
}

/** A promise may resolve to a graph. */
const mayBeGraph = (value: unknown): boolean => ["graph", "promise"].includes(classify(value).kind);

const isUsable = (value: unknown): boolean => classify(value).kind !== "other";

/** The target names no graph: the file or the export does not exist, or the export is something else. */
export class GraphTargetError extends GraphLoadError {}

function loadError(what: string, exports: Map<string, unknown>, file: string): GraphTargetError {
  const list = Array.from(exports, ([name, value]) => `${name} (${describe(value)})`).join(", ");
  return new GraphTargetError(`${what}\nexports there: ${list || "none"}`, { hint: hintFor(exports, file) });
}

function hintFor(exports: Map<string, unknown>, file: string): string {
  const names = (kind: GraphExport["kind"]) =>
    [...exports.keys()].filter((name) => classify(exports.get(name)).kind === kind);
  const best = [names("graph"), names("promise"), names("builder"), names("function")].find(
    (group) => group.length > 0,
  );
  if (best) return `write ${best.map((name) => `${file}:${name}`).join(" or ")}`;
  return "export the compiled graph: export const graph = builder.compile()";
}

// The project files of a module, found through its import statements without evaluating it.

/** Resolves a specifier that is neither relative nor a package, such as a `paths` alias. */
type AliasResolver = (specifier: string, importer: string) => string | undefined;

const SPECIFIER = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(["'])([^"'\n]+)\1/g;
const SOURCE = /\.[cm]?[jt]sx?$/;
const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx", ".json"];

const inPackages = (file: string): boolean => file.includes(`${sep}node_modules${sep}`);

/**
 * `entry` and every project file that it imports, directly or indirectly: absolute paths, `entry` first. Imports with a
 * computed specifier are not found.
 */
function projectFiles(entry: string, alias?: AliasResolver): string[] {
  const files = new Set([entry]);
  for (const file of files) {
    if (!SOURCE.test(file)) continue;
    for (const specifier of importedBy(file)) {
      const imported = resolveImport(specifier, file, alias);
      if (imported !== undefined && !inPackages(imported)) files.add(imported);
    }
  }
  return [...files];
}

/** The specifiers of a file's imports. */
function importedBy(file: string): string[] {
  try {
    return Array.from(readFileSync(file, "utf8").matchAll(SPECIFIER), (match) => match[2] as string);
  } catch {
    return [];
  }
}

function resolveImport(specifier: string, importer: string, alias?: AliasResolver): string | undefined {
  if (/^\.{0,2}\//.test(specifier)) return existingFile(resolve(dirname(importer), specifier));
  if (isBuiltin(specifier)) return undefined;
  if (!specifier.startsWith("#")) return alias?.(specifier, importer);
  return packageImport(specifier, importer) ?? alias?.(specifier, importer);
}

/** Resolves a specifier such as `#lib/x` through the `imports` of package.json. */
function packageImport(specifier: string, importer: string): string | undefined {
  try {
    return existingFile(createRequire(importer).resolve(specifier));
  } catch {
    return undefined;
  }
}

/** Candidate paths of the missing files that a file imports by a relative path. */
function missingFrom(file: string): string[] {
  const paths = SOURCE.test(file) ? importedBy(file).filter((specifier) => /^\.{1,2}\//.test(specifier)) : [];
  return paths
    .map((specifier) => resolve(dirname(file), specifier))
    .filter((path) => existingFile(path) === undefined)
    .flatMap(candidatesFor);
}

/** Resolves a path without an extension, with the extension of the compiled file, or of a directory. */
function existingFile(path: string): string | undefined {
  return candidatesFor(path).find((candidate) => existsSync(candidate) && statSync(candidate).isFile());
}

function candidatesFor(path: string): string[] {
  const extension = extname(path);
  const candidates = [path, ...EXTENSIONS.map((each) => path + each)];
  if (/^\.[cm]?jsx?$/.test(extension)) {
    const typescript = path.slice(0, -extension.length) + extension.replace("j", "t");
    candidates.push(typescript, typescript.replace(/\.ts$/, ".tsx"));
  }
  candidates.push(...EXTENSIONS.map((each) => resolve(path, `index${each}`)));
  return candidates;
}
