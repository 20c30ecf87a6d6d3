/** Files and packages that a graph module asks for and that are not there. */
import { readdirSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, resolve } from "node:path";
import { GraphLoadError, type SourceLocation } from "../errors.js";
import { locate, plainPath, readText, shownPath, type FaultyModule } from "./fault-location.js";

export interface MissingImport {
  specifier: string;
  importer?: string;
  /** Manifest of the package that is there, when it is only a part of it that is not. */
  manifest?: string;
}

/** What could not be resolved, and who asked for it, from the errors of Node and of jiti. */
export function missingImport(error: unknown): MissingImport | undefined {
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

export function importNotFound(missing: MissingImport, cause: unknown, module: FaultyModule): GraphLoadError {
  const { specifier } = missing;
  const importer =
    missing.importer ?? module.files.find((file) => locateImport(specifier, file)) ?? module.path;
  const { message, hint } = explain(missing, importer, module.baseDir);
  const location = locateImport(specifier, importer);
  const by = `imported by ${shownPath(importer, module.baseDir)}`;
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
    const hint =
      suggestFiles(path, dirname(importer)) ?? "check the path; it is resolved from the folder of that file";
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

/** The line of the importer that names the specifier; Node gives the resolved path or the package's name. */
function locateImport(specifier: string, importer: string): SourceLocation | undefined {
  const name = isAbsolute(specifier) ? basename(specifier) : specifier;
  const lines = readText(importer).split("\n");
  const index = lines.findIndex((row) => row.includes(name) && /\b(from|import|require)\b/.test(row));
  return index < 0 ? undefined : locate(importer, index + 1, (lines[index] ?? "").indexOf(name) + 1);
}

const SUGGESTIONS = 3;

/** The files of the folder that a missing file may have meant, most alike first. */
export function suggestFiles(path: string, baseDir: string): string | undefined {
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
