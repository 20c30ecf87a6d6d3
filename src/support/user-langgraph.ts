/**
 * Makes the server use the project's copies of LangGraph's packages, because the user's graphs are
 * built with them. This file must not import these packages and must run before anything that does.
 */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { redirectImports, type Redirect } from "./module-hooks.js";

export const SHARED_PACKAGES = [
  "@langchain/core",
  "@langchain/langgraph",
  "@langchain/langgraph-checkpoint",
] as const;
type SharedPackage = (typeof SHARED_PACKAGES)[number];

interface PackageVersions {
  readonly ours?: string;
  readonly theirs?: string;
}

interface SharedLangGraph {
  /** Whether the graph's folder and the server share one copy of each package on disk. */
  shared: boolean;
  versions: Record<SharedPackage, PackageVersions>;
}

/** The version is read from disk on access. */
interface Copy {
  folder: string;
  readonly version: string;
}

const HERE = dirname(fileURLToPath(import.meta.url));
const redirected = new Set<SharedPackage>();

/**
 * Makes imports of LangGraph's packages, by us and by our dependencies, resolve to the copies
 * visible to a module in `dir`. No effect if the copies are the same or `dir` has none. The first
 * folder wins: a process uses one copy.
 */
export function useLangGraphOf(dir: string): SharedLangGraph {
  const versions = {} as Record<SharedPackage, PackageVersions>;
  const redirects: Redirect[] = [];
  for (const name of SHARED_PACKAGES) {
    const ours = findPackage(name, HERE);
    const theirs = copyOfProject(name, dir);
    versions[name] = versionsOf(ours, theirs);
    if (!theirs || ours?.folder === theirs.folder || redirected.has(name)) continue;
    redirected.add(name);
    // Inside its own folder, a package's name resolves to itself, wherever the folder is.
    redirects.push({ name, from: folderUrl((ours ?? theirs).folder), parent: folderUrl(theirs.folder) });
  }
  if (redirects.length > 0) redirectImports(redirects);
  return { shared: redirects.length === 0, versions };
}

const versionsOf = (ours: Copy | undefined, theirs: Copy | undefined): PackageVersions => ({
  get ours() {
    return ours?.version;
  },
  get theirs() {
    return theirs?.version;
  },
});

/** Version of LangGraph visible to a module in `dir`; undefined if there is none. */
export function langgraphVersion(dir: string): string | undefined {
  return findPackage("@langchain/langgraph", dir)?.version;
}

/**
 * Warning for the user if the graph module at `path` loads two copies of @langchain/core; undefined
 * otherwise.
 */
export function duplicateCoreNotice(path: string): string | undefined {
  const dir = dirname(path);
  const graphs = findPackage("@langchain/core", dir);
  const langgraph = findPackage("@langchain/langgraph", dir);
  if (!graphs || !langgraph) return undefined;
  const langgraphs = findPackage("@langchain/core", langgraph.folder);
  if (langgraphs && langgraphs.folder !== graphs.folder) {
    return twoCopies(graphs, `${langgraphs.version} for its LangGraph`, "npm dedupe @langchain/core");
  }
  const ours = findPackage("@langchain/core", HERE);
  if (!ours || ours.folder === graphs.folder || redirected.has("@langchain/core")) return undefined;
  return twoCopies(
    graphs,
    `${ours.version} for graph-serve`,
    "install graph-serve in the project: npm install -D graph-serve",
  );
}

function twoCopies(graphs: Copy, others: string, fix: string): string {
  return `two copies of @langchain/core: ${graphs.version} for the graph, ${others}; ${fix}`;
}

/** LangGraph's checkpoint package may be visible only from LangGraph, not from the project. */
function copyOfProject(name: SharedPackage, dir: string): Copy | undefined {
  if (name !== "@langchain/langgraph-checkpoint") return findPackage(name, dir);
  const langgraph = findPackage("@langchain/langgraph", dir);
  return langgraph && findPackage(name, langgraph.folder);
}

/** The copy of a package visible to a module in `dir`, by its real path. */
function findPackage(name: SharedPackage, dir: string): Copy | undefined {
  let manifest: string;
  try {
    manifest = realpathSync(createRequire(join(dir, "_.js")).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
  return {
    folder: dirname(manifest),
    get version() {
      return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
    },
  };
}

const folderUrl = (folder: string): string => `${pathToFileURL(folder).href}/`;
