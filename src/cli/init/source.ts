/** Finds out where a new project can install graph-serve from. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { PACKAGE_FOLDER, VERSION } from "../../support/own-package.js";
import { readIfExists } from "../../support/read-text.js";

/** Whether the npm registry has this version. */
const IS_PUBLISHED: boolean = false;

export interface PackageSource {
  /** Version or location, as a package.json contains it. */
  dependency: string;
  /** False if the project is inside a clone, whose packages it resolves. */
  needsInstall: boolean;
  /** Why the dependency cannot be installed, and what to do; undefined if it can. */
  warning?: string;
}

/**
 * The clone that runs, the tarball that it was installed from, or the registry.
 * @param folder the new project's folder
 * @param root the folder of this package
 */
export async function packageSource(folder: string, root = PACKAGE_FOLDER): Promise<PackageSource> {
  const home = resolve(root);
  const parent = dirname(home);
  if (basename(parent) !== "node_modules")
    return { dependency: locationFrom(folder, home), needsInstall: !isInside(folder, home) };
  const resolved = await installedFrom(parent, basename(home));
  const tarball = resolved?.startsWith("file:")
    ? resolve(dirname(parent), resolved.slice("file:".length))
    : undefined;
  if (tarball !== undefined && existsSync(tarball))
    return { dependency: locationFrom(folder, tarball), needsInstall: true };
  const isFound = IS_PUBLISHED || (resolved !== undefined && tarball === undefined);
  return { dependency: VERSION, needsInstall: true, ...(!isFound && { warning: UNPUBLISHED }) };
}

const UNPUBLISHED =
  `graph-serve ${VERSION} is not on the npm registry, so installing the project fails. ` +
  'Set "graph-serve" in its package.json to the tarball or clone you have, such as "file:../graph-serve", first';

/** Where npm installed a package from; a path is relative to the folder that contains node_modules. */
async function installedFrom(packages: string, name: string): Promise<string | undefined> {
  const text = await readIfExists(join(packages, ".package-lock.json"));
  if (text === undefined) return undefined;
  const lock = JSON.parse(text) as { packages?: Record<string, { resolved?: string }> };
  return lock.packages?.[`node_modules/${name}`]?.resolved;
}

function locationFrom(folder: string, target: string): string {
  const path = relative(existing(folder), realpathSync(target));
  return `file:${path.split(sep).join("/")}`;
}

function isInside(folder: string, root: string): boolean {
  const path = relative(realpathSync(root), existing(folder));
  return !path.startsWith("..") && !isAbsolute(path);
}

/** The real path of a folder that may not exist yet. */
function existing(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : join(existing(dirname(folder)), basename(folder));
}
