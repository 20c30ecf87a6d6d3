/** Setup and checks for the guides: projects, packages, types, bundled pages. */
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import ts from "typescript";
import { build, type Rolldown } from "vite";
import { it } from "vitest";
import { type Block, markedBlocks, ROOT } from "./markdown.js";

export const isInstalled = (name: string): boolean => existsSync(join(ROOT, "node_modules", name));

/** Skips a check that needs something from outside, and says so. */
export function skip(title: string, reason: string): void {
  process.stderr.write(`${title}: skipped, ${reason}.\n`);
  it.skip(`${title}: skipped, ${reason}`, () => undefined);
}

/** Copies a template into a folder as `init` and `npm install` leave it; `langgraph` is one without configuration. */
export async function createFromTemplate(name: string, folder: string): Promise<void> {
  await cp(join(ROOT, "templates", name === "langgraph" ? "chat" : name), folder, { recursive: true });
  if (name === "langgraph") await rm(join(folder, "graph-server.config.json"));
  await rename(join(folder, "gitignore"), join(folder, ".gitignore"));
  await writeFile(join(folder, "package-lock.json"), "{}");
}

/** The packages of the `npm install` commands in a shell block. */
export function installedPackages(text: string): string[] {
  return Array.from(text.matchAll(/^npm install (.+)$/gm), ([, names = ""]) => names.split(" "))
    .flat()
    .filter((word) => !word.startsWith("-"))
    .map((word) => word.replace(/(?<=.)@.*$/, ""));
}

/** Packages that a TypeScript file imports. */
export function importedPackages(text: string): string[] {
  return Array.from(
    text.matchAll(/from "(?!\.|node:)((?:@[^/"]+\/)?[^/"]+)[^"]*"/g),
    ([, name = ""]) => name,
  );
}

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  jsx: ts.JsxEmit.ReactJSX,
  types: ["node"],
  paths: { "graph-serve": [join(ROOT, "src/index.ts")] },
};

/** Type errors per document of `documents`, whose TypeScript files lie next to the files of their templates. */
export async function typeErrors(documents: readonly string[]): Promise<Map<string, string[]>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-guide-")));
  try {
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "dir");
    const projects = documents.map((document) => join(folder, basename(document, ".md")));
    const files: string[] = [];
    for (const [index, document] of documents.entries())
      files.push(...(await writeProject(document, projects[index] ?? "")));
    const options = { ...OPTIONS, typeRoots: [join(ROOT, "node_modules/@types")] };
    // One program for all guides, because reading the types of the packages takes most of the time.
    const program = ts.createProgram(files, options);
    const whole = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
    return new Map(
      documents.map((document, index) => {
        const own = diagnosticsIn(program, projects[index] ?? "");
        return [document, [...whole, ...own].map((one) => textOf(one, folder))];
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the template and the TypeScript files of a guide. @returns the paths of the latter */
async function writeProject(document: string, folder: string): Promise<string[]> {
  await mkdir(folder);
  const template = markedBlocks(document).find(({ kind }) => kind === "project")?.name;
  if (template !== undefined) await createFromTemplate(template, folder);
  const files = typeScriptFiles(document).map(({ name, text }) => ({ path: join(folder, name), text }));
  for (const { path, text } of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return files.map(({ path }) => path);
}

/** The sources of this package are checked by `npm run lint`. */
const diagnosticsIn = (program: ts.Program, folder: string): ts.Diagnostic[] =>
  program
    .getSourceFiles()
    .filter(({ fileName }) => fileName.startsWith(`${folder}/`))
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]);

const textOf = ({ file, messageText }: ts.Diagnostic, folder: string): string =>
  `${file?.fileName.slice(folder.length + 1)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;

export const typeScriptFiles = (document: string): Block[] =>
  markedBlocks(document).filter(({ kind, name }) => kind === "file" && /\.tsx?$/.test(name));

/** Bundles the page in a folder with the installed packages. */
export async function bundle(root: string): Promise<ReadonlyMap<string, string | Uint8Array>> {
  const built = (await build({
    root,
    configFile: false,
    logLevel: "error",
    mode: "production",
    define: { "process.env.NODE_ENV": '"production"' },
    oxc: { jsx: { runtime: "automatic", development: false } },
    build: { write: false, target: "es2022", minify: false, modulePreload: false },
  })) as Rolldown.RolldownOutput;
  return new Map(
    built.output.map((file) => [`/${file.fileName}`, file.type === "chunk" ? file.code : file.source]),
  );
}
