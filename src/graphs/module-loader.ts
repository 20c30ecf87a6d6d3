/** Evaluates graph modules in this process: JavaScript natively, TypeScript through jiti; anew when asked again. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Jiti } from "jiti";
import { projectFiles, type AliasResolver } from "./module-files.js";
import { versionImports } from "../module-hooks.js";

export type Exports = Record<string, unknown>;

const TYPESCRIPT = /\.([cm]?ts|tsx|jsx)$/;
export const isTypeScript = (file: string): boolean => TYPESCRIPT.test(file);

// Node keeps its module caches for the whole process, so what has been evaluated is known for the whole process too.
const commonJsCache = createRequire(import.meta.url).cache;
const known = new Map<string, string>();
let generation = 0;
let loadedInGeneration = new Set<string>();

/** A module that is about to be evaluated: its project files are known whether or not it evaluates. */
export interface PreparedModule {
  files: string[];
  evaluate(): Promise<Exports>;
}

/**
 * Prepare the module at the absolute path `file`. `key` names what is loaded: a key that comes again, or a file that
 * has changed since it was evaluated, begins a new generation, in which every project file is evaluated anew, once,
 * however many graphs import it. Packages are evaluated once a process.
 */
export async function prepareModule(file: string, key: string): Promise<PreparedModule> {
  const jiti = isTypeScript(file) ? await createLoader(file) : undefined;
  const files = projectFiles(file, jiti && aliasesOf(jiti));
  if (loadedInGeneration.has(key) || files.some(hasChanged)) beginGeneration();
  loadedInGeneration.add(key);
  for (const each of files) known.set(each, signature(each));
  return { files, evaluate: () => evaluate(file, jiti) };
}

/** Changes when the file's text does. */
function signature(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return `${found?.mtimeMs} ${found?.size}`;
}

function hasChanged(file: string): boolean {
  const before = known.get(file);
  return before !== undefined && before !== signature(file);
}

function beginGeneration(): void {
  generation += 1;
  loadedInGeneration = new Set();
  for (const file of known.keys()) {
    delete commonJsCache[file];
    delete commonJsCache[file.replaceAll("\\", "/")];
  }
}

async function evaluate(file: string, jiti: Jiti | undefined): Promise<Exports> {
  // ES modules cannot be dropped from Node's cache; a version in their URL makes them new ones.
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

/** Node's own import(): a TypeScript runner or a bundler that evaluates this file puts another in its place. */
const NATIVE_IMPORT = "data:text/javascript,export const load = (url) => import(url)";

async function importNatively(url: string): Promise<Exports> {
  const { load } = (await import(NATIVE_IMPORT)) as { load: (url: string) => Promise<Exports> };
  return load(url);
}

/** JavaScript that imports TypeScript, which Node does not run before version 22.18. */
function importsTypeScript(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ERR_UNKNOWN_FILE_EXTENSION" && /"\.([cm]?ts|tsx|jsx)"/.test(message);
}

/** A jiti for `file` and what it imports. Imported when first needed: JavaScript graphs go without it. */
export async function createLoader(file: string): Promise<Jiti> {
  const { createJiti } = await import("jiti");
  const { transform } = createJiti(file).options;
  return createJiti(file, {
    moduleCache: true,
    tsconfigPaths: tsconfigWithPaths(file) ?? false,
    jsx: { runtime: "automatic" },
    // With the JSX syntax on, `<T>(value)` of plain TypeScript would not parse.
    transform: (options) =>
      transform!({ ...options, jsx: options.filename?.endsWith("x") ? options.jsx : false }),
  });
}

/** The nearest tsconfig.json, when it may declare `paths`: jiti reads it again for each file. */
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
