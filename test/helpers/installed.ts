/** The package as npm installs it: bin/ and a dist/ that is built from these sources, in a temporary folder. */
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { transformWithOxc } from "vite";

const ROOT = join(import.meta.dirname, "../..");
const PARTS = ["bin", "package.json", "templates"];

/** Creates a folder with the package that resolves dependencies from this checkout. The caller removes the folder. */
export async function installPackage(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-installed-")));
  await build(join(folder, "dist"));
  // Built by the global setup.
  for (const built of ["dist/pages", "dist/studio"])
    await cp(join(ROOT, built), join(folder, built), { recursive: true });
  for (const name of PARTS) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
  return folder;
}

/** Builds without type checking, for speed. Types are checked in a separate step. */
async function build(outDir: string): Promise<void> {
  const sources = (await readdir(join(ROOT, "src"), { recursive: true })).filter((name) =>
    name.endsWith(".ts"),
  );
  for (const name of sources) {
    const source = await readFile(join(ROOT, "src", name), "utf8");
    const { code } = await transformWithOxc(source, name, {
      target: "es2023",
      typescript: { onlyRemoveTypeImports: true },
    });
    const file = join(outDir, name.replace(/\.ts$/, ".js"));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
  }
}
