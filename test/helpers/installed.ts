/** The package as npm installs it: bin/ and dist/, in a temporary folder. */
import { cp, mkdtemp, realpath, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
