/** Runs cases with their snapshots and recordings, and keeps both. */
import type { CaseFile } from "./case-files.js";
import type { Redact } from "./redact.js";
import type { SuiteResult } from "./result.js";
import { runSuite, type PlannedCase, type SuiteOptions } from "./run-suite.js";
import { SnapshotFile, type SnapshotPolicy } from "./snapshot.js";
import { Tapes, type TapeMode } from "./tape/tapes.js";

export interface CaseFilesOptions extends Omit<SuiteOptions, "snapshots" | "tapes"> {
  snapshots: SnapshotPolicy;
  /** Undefined: models and tools are called, whatever is recorded. */
  tapeMode: TapeMode | undefined;
  redact: Redact;
  /** Called with the path of each file that was written. */
  onWritten?: (file: string) => void;
}

/** Run the planned ones of the files' cases. @throws ConfigError for a recording or snapshot that cannot be read */
export async function runCaseFiles(
  files: readonly CaseFile[],
  planned: readonly PlannedCase[],
  { snapshots: policy, tapeMode, redact, onWritten, ...options }: CaseFilesOptions,
): Promise<SuiteResult> {
  const snapshots = new Map<string, Promise<SnapshotFile>>();
  const snapshotsOf = (file: string): Promise<SnapshotFile> => {
    const opened = snapshots.get(file) ?? SnapshotFile.open(file, policy, redact);
    snapshots.set(file, opened);
    return opened;
  };
  const tapes = await openTapes(files, tapeMode, redact);
  let result: SuiteResult;
  try {
    result = await runSuite(planned, { ...options, snapshots: snapshotsOf, ...(tapes && { tapes }) });
  } finally {
    (await tapes?.close())?.forEach((file) => onWritten?.(file));
  }
  for (const { file, cases } of files) {
    const opened = await snapshots.get(file)?.catch(() => undefined);
    if (opened && (await opened.save(cases.map(({ name }) => name)))) onWritten?.(`${file}.snap`);
  }
  return result;
}

async function openTapes(
  files: readonly CaseFile[],
  mode: TapeMode | undefined,
  redact: Redact,
): Promise<Tapes | undefined> {
  const named = files.some(({ source }) => source.mock !== undefined);
  return mode !== undefined && (named || mode === "strict") ? Tapes.open(files, mode, redact) : undefined;
}
