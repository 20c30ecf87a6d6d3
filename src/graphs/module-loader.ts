/** Evaluates graph modules in this process: JavaScript natively, TypeScript through jiti. Supports hot reload. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Jiti } from "jiti";
import { versionImports } from "../support/module-hooks.js";
import { type AliasResolver, projectFiles, missingFrom } from "./project-files.js";
import type { Exports } from "./module-exports.js";

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
