/** The project files of a module, found through its import statements without evaluating it. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, extname, resolve, sep } from "node:path";

/** Resolves a specifier that is neither relative nor a package, such as a `paths` alias. */
export type AliasResolver = (specifier: string, importer: string) => string | undefined;

const SPECIFIER = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(["'])([^"'\n]+)\1/g;
const SOURCE = /\.[cm]?[jt]sx?$/;
const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx", ".json"];

const inPackages = (file: string): boolean => file.includes(`${sep}node_modules${sep}`);

/**
 * `entry` and every project file that it imports, directly or indirectly: absolute paths, `entry` first. Imports with a
 * computed specifier are not found.
 */
export function projectFiles(entry: string, alias?: AliasResolver): string[] {
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
export function missingFrom(file: string): string[] {
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
