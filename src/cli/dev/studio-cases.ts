/** Creates case files from runs for the Studio of `dev`, like `test --from-run`. */
import { readFile } from "node:fs/promises";
import { relative } from "node:path";
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
import { resolveCaseFile, refuseLinks } from "./project-file.js";

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
