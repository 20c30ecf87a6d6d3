/** Setup and checks for the guides: projects, packages, types, bundled pages. */
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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

/** Type errors in the TypeScript files of a guide, next to the files of its template. */
export async function typeErrors(document: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-guide-"));
  try {
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "dir");
    const blocks = markedBlocks(document);
    const template = blocks.find(({ kind }) => kind === "project")?.name;
    if (template !== undefined) await createFromTemplate(template, folder);
    const files: string[] = [];
    for (const { name, text } of typeScriptFiles(document)) {
      const file = join(folder, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      files.push(file);
    }
    const program = ts.createProgram(files, { ...OPTIONS, typeRoots: [join(ROOT, "node_modules/@types")] });
    return ts
      .getPreEmitDiagnostics(program)
      .filter(({ file }) => file?.fileName.startsWith(folder) ?? true)
      .map(({ file, messageText }) => {
        const name = file?.fileName.slice(folder.length + 1);
        return `${name}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
      });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

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
