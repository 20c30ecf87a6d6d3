/** Which files the Studio may write: case files inside of the project's folder, and nothing else. */
import { lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { InvalidRequestError } from "../../support/errors.js";

const CASE_FILE = /\.graph\.(ya?ml|json)$/;
/** Folders in which `graph-serve test` looks for no cases. */
const PASSED_OVER = /^(\..*|node_modules|dist|build|coverage)$/;

/**
 * The absolute path of a case file that is to be written, by its path in the project.
 * @throws InvalidRequestError for any other file, and for one that a link leads out of the project to
 */
export function resolveCaseFile(project: string, path: string): string {
  const file = resolve(project, path);
  const inside = relative(project, file);
  if (isAbsolute(path) || leaves(inside)) throw refused("must lie in the project's folder");
  if (!CASE_FILE.test(file)) throw refused("must end in .graph.yaml, .graph.yml or .graph.json");
  const folder = inside
    .split(sep)
    .slice(0, -1)
    .find((name) => PASSED_OVER.test(name));
  if (folder !== undefined) throw refused(`must not lie in ${folder}, where graph-serve test finds no cases`);
  return file;
}

/** @throws InvalidRequestError for a file that is a link, or that a linked folder puts outside of the project */
export async function refuseLinks(project: string, file: string): Promise<void> {
  const root = await realpath(project);
  let there = file;
  for (;;) {
    const found = await lstat(there).catch(() => undefined);
    if (found?.isSymbolicLink() && there === file) throw refused("is a link; name the file itself");
    if (found) break;
    there = dirname(there);
  }
  const folder = await realpath(there).catch(() => undefined);
  if (folder === undefined)
    throw refused(`cannot be written: ${relative(project, there)} is a link that leads nowhere`);
  if (leaves(relative(root, join(folder, relative(there, file)))))
    throw refused("must lie in the project's folder, and a link leads out of it");
}

const leaves = (path: string): boolean => path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);

const refused = (why: string): InvalidRequestError => InvalidRequestError.at(["body", "file"], why);
