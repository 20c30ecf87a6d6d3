/** `test --from-run`: writes a case file from a stored run. */
import { resolve } from "node:path";
import { TRANSCRIPTS } from "../session/open.js";
import { shortPath } from "../session/report-error.js";
import { loadSettings, type Session } from "../session/session.js";
import { findRun } from "../session/find.js";
import { withClient } from "../session/open-client.js";
import { type CaseOfRun, caseOfRun, caseFiles, writeCase } from "./case-of-run.js";

interface FromRunFlags {
  fromRun: string;
  url?: string;
  apiKey?: string;
  out?: string;
  transcripts?: string;
  fixed?: boolean;
}

/**
 * Writes the case file.
 * @throws NotFoundError (`run_not_found`), ConfigError if a file already exists (`config_invalid`)
 * @throws as `caseOfRun`
 */
export async function writeCaseOfRun(
  session: Session,
  graphs: readonly string[],
  { fromRun, url, apiKey, out, fixed = false, transcripts = TRANSCRIPTS }: FromRunFlags,
): Promise<void> {
  const { cwd, env } = session.io;
  const config = await loadSettings(session);
  const home = { config, cwd, env, graphs, out, fixed, transcripts: resolve(config.baseDir, transcripts) };
  await withClient(session, { url, apiKey }, {}, async (client) => {
    const { run } = await findRun(client, fromRun);
    const made = await caseOfRun(client, run, home);
    await writeCase(made, { cwd });
    tell(session, made);
  });
}

function tell({ io, print }: Session, made: CaseOfRun): void {
  const { file, mock, name, steps, recordedCalls, notes } = made;
  const files = caseFiles(made).map((path) => shortPath(path, io.cwd));
  if (print.isJson)
    print.json({ file, mock: mock?.file ?? null, case: name, steps, recorded_calls: recordedCalls });
  else for (const path of files) print.data(path);
  for (const note of notes) print.warn(note);
  print.note(`try   graph-serve test ${files[0] ?? ""}`);
}
