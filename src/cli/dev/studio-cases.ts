/** Creates case files from runs for the Studio of `dev`, like `test --from-run`. */
import { readFile, lstat, realpath } from "node:fs/promises";
import { relative, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { localClient } from "../../client/local.js";
import type { CaseRequest } from "../../http/studio/helpers.js";
import type { StudioCase } from "../../models/studio.js";
import type { Service } from "../../service/service.js";
import { ConfigError, InvalidRequestError } from "../../support/errors.js";
import { loadSettings, type Session } from "../session/session.js";
import {
  type CaseHome,
  caseFiles,
  caseOfRun,
  existingCaseFiles,
  withExpected,
  writeCase,
} from "../from-run/case-of-run.js";

interface Project {
  readonly service: Service;
  readonly baseDir: string;
  readonly transcripts: string;
}

/**
 * @throws NotFoundError (`run_not_found`), ThreadBusyError (`thread_busy`)
 * @throws InvalidRequestError if a case cannot represent the run, or the file cannot be written (`invalid_request`)
 */
export async function makeCase(
  session: Session,
  project: Project,
  request: CaseRequest,
): Promise<StudioCase> {
  try {
    return await caseOf(session, project, request);
  } catch (error) {
    // Include the hint: the developer reads this and can fix the project.
    if (error instanceof ConfigError)
      throw new InvalidRequestError([error.message, error.hint].filter(Boolean).join("; "));
    throw error;
  }
}

async function caseOf(
  session: Session,
  { service, baseDir, transcripts }: Project,
  { thread_id, run_id, file, write = false, replace = false, expect }: CaseRequest,
): Promise<StudioCase> {
  const out = file === undefined ? undefined : resolveCaseFile(baseDir, file);
  // Load the settings as `test` will, without the flags that `dev` was started with.
  const config = await loadSettings(session, { warn: () => undefined });
  const run = await service.runs.get(thread_id, run_id);
  const home: CaseHome = {
    config,
    cwd: baseDir,
    env: session.io.env,
    transcripts,
    ...(out !== undefined && { out }),
    ...(expect !== undefined && { expect }),
  };
  let made = await caseOfRun(localClient(service), run, home);
  let taken = await existingCaseFiles(made);
  const isExtended = expect !== undefined && taken.includes(made.file);
  if (isExtended) {
    await refuseLinks(baseDir, made.file);
    made = { ...made, text: withExpected(await readFile(made.file, "utf8"), made), mock: undefined };
    taken = [];
  }
  if (write) {
    for (const each of caseFiles(made)) await refuseLinks(baseDir, each);
    await writeCase(made, { cwd: baseDir, replace: replace || isExtended });
  }
  const pathOf = (path: string) => relative(baseDir, path).replaceAll("\\", "/");
  return {
    file: made.file,
    path: pathOf(made.file),
    text: made.text,
    mock: made.mock ? { path: pathOf(made.mock.file), calls: made.recordedCalls } : null,
    taken: taken.map(pathOf),
    extends: isExtended,
    notes: made.notes,
    written: write,
  };
}

// Restricts the files that the Studio can write to case files in the project folder.

const CASE_FILE = /\.graph\.(ya?ml|json)$/;
/** Folders that `graph-serve test` does not search. */
const PASSED_OVER = /^(\..*|node_modules|dist|build|coverage)$/;

/**
 * The absolute path of a case file to write, from its path in the project.
 * @throws InvalidRequestError if it is not a case file, or if it is outside the project, also through a link
 */
function resolveCaseFile(project: string, path: string): string {
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
async function refuseLinks(project: string, file: string): Promise<void> {
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
