/** Which files of the project a module is made of, read from its import statements without evaluating it. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, extname, resolve, sep } from "node:path";

/** Finds the file behind a specifier that is neither relative nor of a package, such as a `paths` alias. */
export type AliasResolver = (specifier: string, importer: string) => string | undefined;

const SPECIFIER = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(["'])([^"'\n]+)\1/g;
const SOURCE = /\.[cm]?[jt]sx?$/;
const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx", ".json"];

const inPackages = (file: string): boolean => file.includes(`${sep}node_modules${sep}`);

/**
 * `entry` and every file that it imports, directly or not, packages left out; absolute paths, entry first. Files that
 * are named by an expression at run time are not seen.
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

/** The specifiers that stand in a file's imports. */
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

/** A specifier such as `#lib/x`, by the `imports` of package.json. */
function packageImport(specifier: string, importer: string): string | undefined {
  try {
    return existingFile(createRequire(importer).resolve(specifier));
  } catch {
    return undefined;
  }
}

/** The file that a path without extension, with the extension of its compiled form, or of a folder stands for. */
export function existingFile(path: string): string | undefined {
  const extension = extname(path);
  const candidates = [path, ...EXTENSIONS.map((each) => path + each)];
  if (/^\.[cm]?jsx?$/.test(extension)) {
    const typescript = path.slice(0, -extension.length) + extension.replace("j", "t");
    candidates.push(typescript, typescript.replace(/\.ts$/, ".tsx"));
  }
  candidates.push(...EXTENSIONS.map((each) => resolve(path, `index${each}`)));
  return candidates.find((candidate) => existsSync(candidate) && statSync(candidate).isFile());
}
