/**
 * Programs that the tests start, as JavaScript, and the package, built once per test run: a process starts in a quarter of
 * the time that it takes with a loader for TypeScript.
 */
import { fork, type ChildProcess, type ForkOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { inject } from "vitest";
import { bundle } from "../../scripts/bundle.mjs";
import { compiledFolder } from "./global-setup.js";
import { packageWith } from "./installed.js";

const ROOT = join(import.meta.dirname, "../..");
/** Folders of the programs. */
const PROGRAMS = {
  "serve-ledger": "test/fixtures",
  "serve-sqlite": "test/fixtures",
  "postgres-child": "test/storage",
  "sqlite-writer": "test/storage",
};
/** Packages that load native code or optional parts by their path. */
const SEPARATE = ["better-sqlite3", "express", "mongodb", "pg", "redis"];

/** Starts a program in a process of its own. */
export async function forkProgram(
  name: keyof typeof PROGRAMS,
  args: readonly string[],
  options?: ForkOptions,
): Promise<ChildProcess> {
  const folder = await once("programs", bundlePrograms);
  return fork(join(folder, "code", `${name}.js`), args, { execArgv: [], ...options });
}

/** Creates a folder with the package, whose code is built from these sources. The caller removes the folder. */
export async function installPackage(): Promise<string> {
  const code = await once("package", bundle);
  return packageWith((dist) => cp(code, dist, { recursive: true }));
}

/** The command line of such a package, which all tests of this run share: to start it takes a third as long as the sources. */
export async function installedCli(): Promise<string> {
  const folder = await once("installed", async (place) => rename(await installPackage(), place));
  return join(folder, "bin/graph-serve.js");
}

const built = new Map<string, Promise<string>>();

/** The folder that `fill` has filled in this test run, in this worker or in another one. */
function once(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(compiledFolder(inject("schemaPrefix")), name);
  const found = built.get(folder) ?? build(folder, fill);
  built.set(folder, found);
  return found;
}

/** Workers can build at the same time: the first one that is done puts its folder in place. */
async function build(folder: string, fill: (folder: string) => Promise<void>): Promise<string> {
  if (existsSync(folder)) return folder;
  const own = `${folder}${process.pid}`;
  await mkdir(dirname(own), { recursive: true });
  await fill(own);
  await rename(own, folder).catch(() => rm(own, { recursive: true, force: true }));
  return folder;
}

/** Bundles the programs with most of what they import: Node takes twice as long to load the hundreds of files of LangGraph. */
async function bundlePrograms(folder: string): Promise<void> {
  const build = await rolldown({
    cwd: ROOT,
    input: Object.entries(PROGRAMS).map(([name, folder]) => join(ROOT, folder, `${name}.ts`)),
    platform: "node",
    tsconfig: join(ROOT, "tsconfig.build.json"),
    external: [/^node:/, ...SEPARATE],
  });
  const names = { entryFileNames: "[name].js", chunkFileNames: "chunks/[name].js" };
  try {
    await build.write({ dir: join(folder, "code"), format: "es", keepNames: true, ...names });
  } finally {
    await build.close();
  }
  for (const shared of ["node_modules", "package.json", "dist"])
    await symlink(join(ROOT, shared), join(folder, shared));
}
