/** Builds another revision of the repository, to measure it next to the working tree. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Compiles `revision` into a temporary folder, with the dependencies of the working tree.
 * @returns the compiled sources, and a function that removes them
 * @throws Error if git does not know the revision, or it does not compile
 */
export function buildRevision(root: string, revision: string): { dist: string; remove: () => void } {
  const folder = join(mkdtempSync(join(tmpdir(), "graph-serve-revision-")), "graph-serve");
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  git("worktree", "add", "--detach", folder, revision);
  const remove = () => {
    if (existsSync(folder)) git("worktree", "remove", "--force", folder);
    rmSync(join(folder, ".."), { recursive: true, force: true });
  };
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    execFileSync(
      process.execPath,
      [tsc, "-p", "tsconfig.build.json", "--declaration", "false", "--emitDeclarationOnly", "false"],
      {
        cwd: folder,
        stdio: ["ignore", "inherit", "inherit"],
      },
    );
  } catch (error) {
    remove();
    throw error;
  }
  return { dist: join(folder, "dist"), remove };
}
