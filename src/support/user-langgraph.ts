/**
 * The user's copy of LangGraph: graphs are built with the packages of the user's project, so the server must use
 * those too. This file imports none of them, and must run before anything that does.
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
  /** Whether the graph's folder and the server have one copy of each package on disk. */
  shared: boolean;
  versions: Record<SharedPackage, PackageVersions>;
}

/** Its version is read from disk when it is asked for. */
interface Copy {
  folder: string;
  readonly version: string;
}

const HERE = dirname(fileURLToPath(import.meta.url));
const redirected = new Set<SharedPackage>();

/**
 * Make imports of LangGraph's packages, ours and those of our dependencies, resolve to the copies that a module in
 * `dir` gets. Does nothing where the copies are the same, or where `dir` has none. The first folder wins: a process
 * has one copy.
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
    // From within its own folder a package's name leads to itself, wherever the folder lies.
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

/** The version of LangGraph that a module in `dir` gets, if it gets one. */
export function langgraphVersion(dir: string): string | undefined {
  return findPackage("@langchain/langgraph", dir)?.version;
}

/** A line for the user when the graph module at `path` meets two copies of @langchain/core; undefined when one. */
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

/** LangGraph's own checkpoint package need not be visible from the project, only from LangGraph. */
function copyOfProject(name: SharedPackage, dir: string): Copy | undefined {
  if (name !== "@langchain/langgraph-checkpoint") return findPackage(name, dir);
  const langgraph = findPackage("@langchain/langgraph", dir);
  return langgraph && findPackage(name, langgraph.folder);
}

/** The copy of a package that a module in `dir` gets, by its real path. */
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
