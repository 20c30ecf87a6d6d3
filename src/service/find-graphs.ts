/** Finds the compiled graphs of a project without a configuration. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative, sep } from "node:path";
import { compiledExports } from "../graphs/load.js";

export { takeChanged } from "../graphs/module-loader.js";
export { runFault } from "../graphs/run-fault.js";

const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs"];
const SKIPPED = /^(\..*|node_modules|dist|build|coverage)$/;
/** Maximum number of files that are evaluated. */
const MOST_FILES = 50;
/** A module that mentions none of these exports no graph, and may have side effects when it is evaluated. */
const GRAPH_CODE = /lang(graph|chain)|deepagents|\.compile\(/;

/**
 * Sources of the graph files that a project usually has, as keys to files: `graph`, `src/agent` and every `graph` below
 * `src`. No file is evaluated.
 * @param baseDir absolute path of the project
 */
export async function graphFiles(baseDir: string): Promise<string[]> {
  const usual = ["graph", join("src", "agent")].flatMap((name) =>
    EXTENSIONS.map((extension) => join(baseDir, name + extension)).filter((file) => existsSync(file)),
  );
  const files = [...new Set([...usual, ...(await graphsBelow(join(baseDir, "src")))])];
  const kept: string[] = [];
  for (const file of files.slice(0, MOST_FILES))
    if (GRAPH_CODE.test(await readFile(file, "utf8")))
      kept.push(`./${relative(baseDir, file).split(sep).join("/")}`);
  return kept;
}

async function graphsBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files: string[] = [];
  for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.test(entry.name)) files.push(...(await graphsBelow(path)));
    else if (EXTENSIONS.some((extension) => entry.name === `graph${extension}`)) files.push(path);
  }
  return files;
}

/**
 * The graphs that the files export, by id: `path:export`. A file that does not load is returned without an export, so
 * that loading it reports why.
 * @param files relative to `baseDir`
 */
export async function exportedGraphs(
  files: readonly string[],
  baseDir: string,
): Promise<Record<string, string>> {
  const graphs: Record<string, string> = {};
  for (const file of files) {
    const names = await compiledExports(join(baseDir, file), { baseDir }).catch(() => undefined);
    if (names === undefined) graphs[freeId(idOf(file), graphs)] = file;
    for (const name of names ?? []) {
      const id = names?.length === 1 ? idOf(file) : name;
      graphs[freeId(id, graphs)] = `${file}:${name}`;
    }
  }
  return graphs;
}

/** `agent` for `./graph.ts`, `./src/graph.ts` and `./src/agent.ts`; for other files, the name of their folder. */
function idOf(file: string): string {
  const folder = basename(dirname(file));
  if (basename(file, extname(file)) === "agent" || folder === "." || folder === "src") return "agent";
  return folder;
}

function freeId(id: string, taken: Readonly<Record<string, string>>): string {
  let candidate = id;
  for (let number = 2; Object.hasOwn(taken, candidate); number += 1) candidate = `${id}-${number}`;
  return candidate;
}
