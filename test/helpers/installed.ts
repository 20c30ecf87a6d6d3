/** The package as npm installs it: bin/ and dist/, in a temporary folder. */
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { transformWithOxc } from "vite";

const ROOT = join(import.meta.dirname, "../..");
const PARTS = ["bin", "package.json", "templates"];

/**
 * Creates a folder with the package that resolves dependencies from this checkout. The caller removes the folder.
 * @param putCode writes the code of the package into a folder
 */
export async function packageWith(putCode: (dist: string) => Promise<unknown>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-installed-")));
  await putCode(join(folder, "dist"));
  // Built by the global setup.
  for (const built of ["dist/pages", "dist/studio"])
    await cp(join(ROOT, built), join(folder, built), { recursive: true });
  for (const name of PARTS) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
  return folder;
}

/** TypeScript files in a folder of this checkout, below it too. */
export async function typeScriptIn(folder: string): Promise<string[]> {
  const names = await readdir(join(ROOT, folder), { recursive: true });
  return names.filter((name) => name.endsWith(".ts"));
}

/** Writes files of a folder of this checkout as JavaScript, without type checking, which is a separate step. */
export async function transpile(folder: string, names: readonly string[], outDir: string): Promise<void> {
  for (const name of names) {
    const source = await readFile(join(ROOT, folder, name), "utf8");
    const { code } = await transformWithOxc(source, name, {
      target: "es2023",
      typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: "rewrite" },
    });
    const file = join(outDir, name.replace(/\.ts$/, ".js"));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
  }
}
