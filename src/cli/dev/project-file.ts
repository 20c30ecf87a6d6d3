/** Restricts the files that the Studio can write to case files in the project folder. */
import { lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { InvalidRequestError } from "../../support/errors.js";

const CASE_FILE = /\.graph\.(ya?ml|json)$/;
/** Folders that `graph-serve test` does not search. */
const PASSED_OVER = /^(\..*|node_modules|dist|build|coverage)$/;

/**
 * The absolute path of a case file to write, from its path in the project.
 * @throws InvalidRequestError if it is not a case file, or if it is outside the project, also through a link
 */
export function resolveCaseFile(project: string, path: string): string {
  const file = resolve(project, path);
  const inside = relative(project, file);
  if (isAbsolute(path) || leaves(inside)) throw refused("must be in the project folder");
  if (!CASE_FILE.test(file)) throw refused("must end in .graph.yaml, .graph.yml or .graph.json");
  const folder = inside
    .split(sep)
    .slice(0, -1)
    .find((name) => PASSED_OVER.test(name));
  if (folder !== undefined) throw refused(`must not be in ${folder}, which graph-serve test does not search`);
  return file;
}

/** @throws InvalidRequestError if the file is a link, or if a linked folder leads outside the project */
export async function refuseLinks(project: string, file: string): Promise<void> {
  const root = await realpath(project);
  let there = file;
  for (;;) {
    const found = await lstat(there).catch(() => undefined);
    if (found?.isSymbolicLink() && there === file) throw refused("is a symbolic link; use the file itself");
    if (found) break;
    there = dirname(there);
  }
  const folder = await realpath(there).catch(() => undefined);
  if (folder === undefined)
    throw refused(`cannot be written: ${relative(project, there)} is a broken symbolic link`);
  if (leaves(relative(root, join(folder, relative(there, file)))))
    throw refused("must be in the project folder, but a symbolic link leads outside");
}

const leaves = (path: string): boolean => path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);

const refused = (why: string): InvalidRequestError => InvalidRequestError.at(["body", "file"], why);
