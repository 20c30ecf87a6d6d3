/** Converts errors of graph modules into a GraphLoadError with cause, location and fix. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, relative, resolve, sep } from "node:path";
import { codeFrame } from "../support/code-frame.js";
import { GraphLoadError } from "../support/errors.js";
import type { SourceLocation } from "../support/errors/codes.js";
import { errorMessage, errorName } from "../support/errors/thrown.js";
import { parseStackLine, plainPath } from "../support/stack.js";
import { GraphTargetError } from "./module-exports.js";
import { createLoader, isTypeScript } from "./module-loader.js";

/** The error for a missing graph file, with suggestions from its directory. */
export function fileNotFound(path: string, baseDir: string): GraphLoadError {
  const hint = suggestFiles(path, baseDir) ?? `check the path; it is relative to ${baseDir}`;
  return new GraphTargetError(`graph file ${shownPath(path, baseDir)} not found`, { hint });
}

export function unsupportedExtension(path: string, baseDir: string): GraphLoadError {
  return new GraphTargetError(`${shownPath(path, baseDir)} is not a JavaScript or TypeScript file`, {
    hint: "name a .ts, .tsx, .mts, .cts, .js, .mjs or .cjs file",
  });
}

/** Convert an error thrown while the module was evaluated. */
export async function evaluationError(error: unknown, module: BrokenModule): Promise<GraphLoadError> {
  if (error instanceof GraphLoadError) return error;
  const missing = missingImport(error);
  if (missing) return importNotFound(missing, error, module);
  const syntax = await syntaxFault(error, module);
  if (syntax) return syntaxError(syntax, error, module);
  return thrown(`${module.source} throws when it is imported`, error, module);
}

/** Convert an error thrown by a graph factory. */
export function factoryError(error: unknown, module: BrokenModule): GraphLoadError {
  if (error instanceof GraphLoadError) return error;
  return thrown(`the factory ${module.source} throws`, error, module);
}

/** Convert the rejection of a promise that a module exports. */
export function rejectionError(error: unknown, module: BrokenModule): GraphLoadError {
  if (error instanceof GraphLoadError) return error;
  return thrown(`${module.source} is a promise that was rejected`, error, module);
}

function thrown(what: string, error: unknown, module: BrokenModule): GraphLoadError {
  const location = ownFrame(error, module.files);
  const at = location ? `${shownPath(location.file, module.baseDir)}:${location.line}` : module.source;
  return new GraphLoadError(`${what}\n${errorName(error)}: ${errorMessage(error)}`, {
    hint: `fix the error at ${at}`,
    cause: error,
    ...(location && { location }),
  });
}

// Locations of errors in the project's files.

/** A module that fails to load: its path, its name in messages and its project files. */
export interface BrokenModule {
  path: string;
  source: string;
  baseDir: string;
  files: readonly string[];
}

/** A path for messages: relative to the base directory if it is inside. */
export function shownPath(path: string, baseDir: string): string {
  const inside = relative(baseDir, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : `./${inside.replaceAll(sep, "/")}`;
}

/** The first stack frame in the project's own files. */
function ownFrame(error: unknown, files: readonly string[]): SourceLocation | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frames = stack.split("\n").flatMap((row) => parseStackLine(row) ?? []);
  const own = frames.find(({ file }) => files.includes(file));
  return own && locate(own.file, own.line);
}

/** The line that exports a name, if it can be found by text search; otherwise only the file. */
export function exportLocation({ path, files }: BrokenModule, name: string): SourceLocation | undefined {
  if (files.length === 0) return undefined;
  const exports = name === "default" ? /\bexport\s+default\b|\bmodule\.exports\b/ : /\bexports?\b/;
  const lines = readText(path).split("\n");
  const index = lines.findIndex((row) => exports.test(row) && (name === "default" || namesOf(row).has(name)));
  return index < 0 ? { file: path } : locate(path, index + 1);
}

const namesOf = (row: string): Set<string> => new Set(row.match(/[\p{ID_Continue}$]+/gu));

function locate(file: string, line: number, column?: number): SourceLocation {
  const frame = codeFrame(readText(file), line, column);
  return { file, line, ...(column !== undefined && { column }), ...(frame && { frame }) };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

// Missing files and packages that a graph module imports.

interface MissingImport {
  specifier: string;
  importer?: string;
  /** Path of package.json, if the package is installed but lacks the imported subpath. */
  manifest?: string;
}

/** The unresolved specifier and its importer, from an error of Node or jiti. */
function missingImport(error: unknown): MissingImport | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, message, requireStack } = error as NodeJS.ErrnoException & { requireStack?: string[] };
  const importer = / imported from (.+)$/m.exec(message)?.[1] ?? requireStack?.[0];
  const asked = importer === undefined ? {} : { importer: plainPath(importer) };
  if (code === "ERR_PACKAGE_PATH_NOT_EXPORTED") {
    const [, part, manifest] =
      /^Package subpath '\.(\/[^']*)' is not defined by "exports" in (.+?package\.json)/.exec(message) ?? [];
    if (part === undefined || manifest === undefined) return undefined;
    return { specifier: packageOf(manifest) + part, manifest, ...asked };
  }
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return undefined;
  const specifier = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1];
  return specifier === undefined ? undefined : { specifier, ...asked };
}

/** The name of a package, from the path of its manifest. */
function packageOf(manifest: string): string {
  const [last = ""] = dirname(manifest).replaceAll("\\", "/").split("/node_modules/").slice(-1);
  return last;
}

function importNotFound(missing: MissingImport, cause: unknown, module: BrokenModule): GraphLoadError {
  const { specifier } = missing;
  const importer =
    missing.importer ?? module.files.find((file) => locateImport(specifier, file)) ?? module.path;
  const { message, hint } = explain(missing, importer, module.baseDir);
  const location = locateImport(specifier, importer);
  const line = location?.line === undefined ? "" : `:${location.line}`;
  const by = `imported by ${shownPath(importer, module.baseDir)}${line}`;
  return new GraphLoadError(`${message}, ${by}`, { hint, cause, ...(location && { location }) });
}

function explain({ specifier, manifest }: MissingImport, importer: string, baseDir: string) {
  const name = packageName(specifier);
  if (manifest !== undefined) {
    const { version } = JSON.parse(readText(manifest)) as { version: string };
    const hint = `the installed version is ${version}: import something it has, or npm install ${name}@latest`;
    return { message: `package "${name}" has no "${specifier}"`, hint };
  }
  if (isAbsolute(specifier) || /^(\.|file:)/.test(specifier)) {
    const path = specifier.startsWith(".") ? resolve(dirname(importer), specifier) : plainPath(specifier);
    const hint = suggestFiles(path, dirname(importer)) ?? "check the path; it is relative to that file";
    return { message: `file ${shownPath(path, baseDir)} not found`, hint };
  }
  const alias = /^[@~#]\//.exec(specifier)?.[0];
  const hint = alias
    ? `declare "${alias}*" under compilerOptions.paths of tsconfig.json`
    : `npm install ${name}`;
  return { message: `package "${name}" is not installed`, hint };
}

function packageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

/** The importer's line with the specifier, for which Node reports a resolved path or a package name. */
function locateImport(specifier: string, importer: string): SourceLocation | undefined {
  const name = isAbsolute(specifier) ? basename(specifier) : specifier;
  const lines = readText(importer).split("\n");
  const index = lines.findIndex((row) => row.includes(name) && /\b(from|import|require)\b/.test(row));
  return index < 0 ? undefined : locate(importer, index + 1, (lines[index] ?? "").indexOf(name) + 1);
}

const SUGGESTIONS = 3;

/** A hint with the most similar file names in the directory of a missing file. */
function suggestFiles(path: string, baseDir: string): string | undefined {
  const wanted = basename(path, extname(path)).toLowerCase();
  let names: string[] = [];
  try {
    names = readdirSync(dirname(path)).filter((name) => /\.([cm]?[jt]s|tsx|jsx|json)$/.test(name));
  } catch {
    return undefined;
  }
  const ranked = names
    .map((name) => ({ name, alike: commonPrefix(wanted, name.toLowerCase()) }))
    .filter(({ alike }) => alike >= Math.min(2, wanted.length))
    .sort((a, b) => b.alike - a.alike || a.name.localeCompare(b.name))
    .slice(0, SUGGESTIONS);
  if (ranked.length === 0) return undefined;
  const shown = ranked.map(({ name }) => shownPath(`${dirname(path)}/${name}`, baseDir));
  return `did you mean ${shown.join(" or ")}?`;
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

// Syntax errors in the files of a graph module.

function syntaxError(fault: SyntaxFault, cause: unknown, module: BrokenModule): GraphLoadError {
  const location = locate(fault.file, fault.line, fault.column);
  const at = `${shownPath(fault.file, module.baseDir)}:${fault.line}`;
  return new GraphLoadError(`syntax error in ${at}: ${fault.message}`, {
    hint: `correct ${at}`,
    location,
    cause,
  });
}

interface SyntaxFault {
  message: string;
  file: string;
  line: number;
  column?: number;
}

async function syntaxFault(error: unknown, module: BrokenModule): Promise<SyntaxFault | undefined> {
  if (!(error instanceof Error)) return undefined;
  const parsed = parseFault(error.message);
  if (parsed) return parsed;
  if (!(error instanceof SyntaxError)) return undefined;
  const [, url, line] = /^(file:.+?|\/.+?):(\d+)\n/.exec(error.stack ?? "") ?? [];
  if (url !== undefined) return { message: error.message, file: plainPath(url), line: Number(line) };
  return findFault(module.files);
}

/** Parses jiti's message for a file with a syntax error. */
function parseFault(message: string): SyntaxFault | undefined {
  const match = /^(?:\w*Error|undefined): ([^]*?)\s*\n (.+):(\d+):(\d+)$/.exec(message);
  if (!match) return undefined;
  const [, what = "", file = "", line, column] = match;
  return { message: what, file, line: Number(line), column: Number(column) + 1 };
}

/** Node does not report the location of a syntax error in an ES module, so parse the files until one fails. */
async function findFault(files: readonly string[]): Promise<SyntaxFault | undefined> {
  for (const file of files.filter((each) => extname(each) !== ".json")) {
    const { transform } = await createLoader(file);
    const code = transform({ source: readText(file), filename: file, async: true, ts: isTypeScript(file) });
    const fault = /__JITI_ERROR__ = (\{.*\})/.exec(code)?.[1];
    if (fault === undefined) continue;
    const { message, line, column } = JSON.parse(fault) as { message: string; line: number; column: number };
    return { message: message.trim(), file, line, column: column + 1 };
  }
  return undefined;
}
