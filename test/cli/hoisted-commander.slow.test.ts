/** The package in a project that has another version of commander: the code contains its own. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, realpath, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installPackage } from "../helpers/compiled.js";
import { ROOT } from "../helpers/markdown.js";

const MODULES = join(ROOT, "node_modules");
const SCOPE = "@commander-js";

let project: string;
let cli: string;
beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-hoisted-")));
  const root = join(project, "node_modules");
  await mkdir(root);
  for (const name of await readdir(MODULES))
    if (!name.startsWith(".") && !name.startsWith("commander") && name !== SCOPE)
      await symlink(join(MODULES, name), join(root, name), "junction");
  // Copied: symlinked packages would resolve their imports from this checkout.
  await cp(join(MODULES, "commander-9"), join(root, "commander"), { recursive: true });
  await cp(join(MODULES, SCOPE), join(root, SCOPE), { recursive: true });
  const installed = join(root, "graph-serve");
  await rename(await installPackage(), installed);
  await rm(join(installed, "node_modules"));
  cli = join(installed, "bin/graph-serve.js");
}, 120_000);
afterAll(() => rm(project, { recursive: true, force: true }));

it.each(["--help", "dev --help", "config print"])(
  "graph-serve %s works next to commander 9.5.0",
  async (line) => {
    const argv = [cli, ...line.split(" ")];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: project });
    expect(stdout).not.toBe("");
  },
);
