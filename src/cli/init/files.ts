/** Generates the files of a new project. */
import { access, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { packageFile } from "../../support/own-package.js";

export interface ProjectFile {
  /** Relative to the project folder, with forward slashes. */
  path: string;
  content: string;
}

/** Path of the configuration schema in a project. */
const SCHEMA = "./node_modules/graph-serve/graph-server.schema.json";
const SKIPPED = new Set(["node_modules", "dist", ".graph-serve", "package-lock.json"]);
// npm does not publish .gitignore files, and the workflow must not run in this repository.
const PLACES: Readonly<Record<string, string>> = {
  gitignore: ".gitignore",
  "github-workflow.yml": ".github/workflows/graphs.yml",
};
const GRAPH_FILES = ["src/agent", "src/graph", "src/index", "agent", "graph", "index"].flatMap((name) =>
  [".ts", ".tsx", ".mts", ".js", ".mjs"].map((extension) => name + extension),
);

/**
 * The files of a template, with the project name filled in.
 * @param dependency version or location of graph-serve
 */
export async function templateFiles(
  template: string,
  folderName: string,
  dependency: string,
): Promise<ProjectFile[]> {
  const folder = packageFile("templates", template);
  const paths = (await pathsIn(folder)).map((path) => relative(folder, path).split(sep).join("/"));
  return Promise.all(
    paths.sort().map(async (path) => {
      const content = await readFile(join(folder, path), "utf8");
      return {
        path: PLACES[path] ?? path,
        content: path === "package.json" ? ownManifest(content, folderName, dependency) : content,
      };
    }),
  );
}

async function pathsIn(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) paths.push(...(await pathsIn(path)));
    else paths.push(path);
  }
  return paths;
}

function ownManifest(content: string, folderName: string, dependency: string): string {
  const manifest = JSON.parse(content) as { name: string; dependencies?: Record<string, string> };
  manifest.name = packageName(folderName);
  if (manifest.dependencies?.["graph-serve"] !== undefined) manifest.dependencies["graph-serve"] = dependency;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Converts a folder name to a valid npm package name. */
function packageName(folderName: string): string {
  const name = folderName
    .toLowerCase()
    .replace(/[^a-z0-9._~-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "");
  return name || "my-agent";
}

/** A configuration for the graph file found in `folder`, or for the default file. */
export async function configFiles(folder: string): Promise<ProjectFile[]> {
  const present = await Promise.all(GRAPH_FILES.map((file) => exists(join(folder, file))));
  const graph = GRAPH_FILES.find((_file, index) => present[index]) ?? "graph.ts";
  return [{ path: "graph-server.config.json", content: configText({ agent: `./${graph}` }) }];
}

/** A configuration file for these graphs. */
export const configText = (graphs: Readonly<Record<string, string>>): string =>
  `${JSON.stringify({ $schema: SCHEMA, graphs }, null, 2)}\n`;

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** The files that already exist in `folder`. */
export async function existingFiles(folder: string, files: readonly ProjectFile[]): Promise<ProjectFile[]> {
  const present = await Promise.all(
    files.map(({ path }) =>
      access(join(folder, path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((_file, index) => present[index]);
}

export async function writeFiles(folder: string, files: readonly ProjectFile[]): Promise<void> {
  for (const { path, content } of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
