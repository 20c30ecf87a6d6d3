/** This package: version and folder. Other code does not rely on its own place, because a build moves it into chunks. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "graph-serve";

interface Manifest {
  name: string;
  version: string;
  engines: { node: string };
  peerDependencies: Record<string, string>;
}

const FILE = fileURLToPath(import.meta.url);
const EXTENSION = extname(FILE);

/** False if the code runs from its TypeScript sources. */
export const IS_BUILT = EXTENSION === ".js";

/** Folder and manifest of this package. */
export const { PACKAGE_FOLDER, MANIFEST } = findPackage(dirname(FILE));

/**
 * Version of this package, as reported by the health, info and initial-message endpoints
 * (docs/specification.md#versions, 2).
 * @example
 * ```ts
 * import { VERSION } from "graph-serve";
 *
 * /^\d+\.\d+\.\d+/.test(VERSION); // => true
 * ```
 */
export const VERSION = MANIFEST.version;

/** Folder of the running code: `src` or `dist`. */
export const CODE_FOLDER = join(PACKAGE_FOLDER, relative(PACKAGE_FOLDER, FILE).split(sep, 1)[0] ?? "");

/** Path of a file of this package, relative to its folder. */
export const packageFile = (...path: string[]): string => join(PACKAGE_FOLDER, ...path);

/** Path of a module that a process, a thread or another loader loads by its path: an entry point of the build. */
export const entryFile = (module: "cli/main" | "config/define" | "support/watchdog/thread"): string =>
  join(CODE_FOLDER, module + EXTENSION);

function findPackage(folder: string): { PACKAGE_FOLDER: string; MANIFEST: Manifest } {
  const file = join(folder, "package.json");
  const manifest = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Manifest) : undefined;
  if (manifest?.name === NAME) return { PACKAGE_FOLDER: folder, MANIFEST: manifest };
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`${FILE} is not in the package ${NAME}`);
  return findPackage(parent);
}
