/** Manages the recordings of a suite and of a server's runs. */
import { access, appendFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type CaseFile, folderOf } from "../cases/case-files.js";
import type { Redact } from "../cases/redact.js";
import type { Mismatch } from "../cases/result.js";
import { InvalidRequestError } from "../../support/errors.js";
import { canonicalUuid } from "../../support/ids.js";
import { type FindRecording, onLibraryCopies, findId, patchLibrary } from "./patch.js";
import {
  entryText,
  readRecording,
  NewRecording,
  StoredRecording,
  type Recording,
  RECORDING_HEAD,
  type RecordedCall,
  recordingText,
} from "./recording.js";

/**
 * Source of model and tool responses: `replay` a recording if the case names one, `record` a new one,
 * `ci`, which also refuses model calls of cases without a recording, or `strict`, which refuses their tool
 * calls too.
 * @example
 * ```ts
 * import { runCases, type RecordingMode } from "graph-serve/testing";
 *
 * const recordings: RecordingMode = process.argv.includes("--record") ? "record" : "replay";
 * const { cases } = await runCases({ cwd: import.meta.dirname, recordings });
 * cases.length; // => 1
 * ```
 */
export type RecordingMode = "replay" | "record" | "ci" | "strict";

interface RecordedFile {
  /** Existing entries; undefined if the file does not exist. */
  entries: RecordedCall[] | undefined;
  /** New entries by case. */
  recorded: Map<string, RecordedCall[]>;
}

export class Recordings {
  readonly #mode: RecordingMode;
  readonly #redact: Redact;
  readonly #files = new Map<string, RecordedFile>();
  /** Recordings of active threads. */
  readonly #playing = new Map<string, Recording>();
  #restore: Promise<() => void> | undefined;

  /** Files that are written only if a case made calls. */
  readonly #optional: ReadonlySet<string>;

  private constructor(mode: RecordingMode, redact: Redact, optional: ReadonlySet<string>) {
    this.#mode = mode;
    this.#redact = redact;
    this.#optional = optional;
  }

  /** Reads the recordings of the case files. Call before graphs are loaded. @throws ConfigError (`config_invalid`) */
  static async open(
    caseFiles: readonly CaseFile[],
    mode: RecordingMode,
    redact: Redact,
    optional: ReadonlySet<string> = new Set(),
  ): Promise<Recordings> {
    onLibraryCopies();
    const recordings = new Recordings(mode, redact, optional);
    for (const file of caseFiles) {
      const path = mockOf(file);
      if (path === undefined || recordings.#files.has(path)) continue;
      recordings.#files.set(path, { entries: await readRecording(path), recorded: new Map() });
    }
    return recordings;
  }

  /** Patches models and tools. Call after the first graph is loaded, because it determines the copy of the library. */
  async prepare(): Promise<void> {
    this.#restore ??= patchLibrary(this.#find);
    await this.#restore;
  }

  /** Finds the recording by the thread id of a call; without an id, uses the only active recording. */
  readonly #find: FindRecording = (hints) => {
    if (this.#playing.size === 0) return undefined;
    const threadId = findId("thread_id", hints);
    if (threadId !== undefined) return this.#playing.get(threadId);
    return this.#playing.size === 1 ? [...this.#playing.values()][0] : undefined;
  };

  /** Starts to record or replay calls on a thread. */
  begin(file: CaseFile, caseName: string, threadId: string): { end(isFine: boolean): Mismatch[] } {
    const path = mockOf(file);
    const refuses = this.#mode === "strict" || this.#mode === "ci";
    if (path === undefined && !refuses) return { end: () => [] };
    const options = {
      caseName,
      redact: this.#redact,
      ...(path === undefined ? { modelsOnly: this.#mode === "ci" } : { file: path }),
      // Smoke tests have no case to record.
      ...(file.cases.length === 0 && { remedy: "write a case file and record it, or add --live" }),
    };
    const found = path === undefined ? undefined : this.#files.get(path);
    const recorded: RecordedCall[] = [];
    const recording =
      this.#mode === "record"
        ? new NewRecording(options, (entry) => recorded.push(entry))
        : new StoredRecording(found?.entries, options);
    this.#playing.set(threadId, recording);
    return {
      end: (isFine) => {
        this.#playing.delete(threadId);
        if (recording.mode === "record") found?.recorded.set(caseName, recorded);
        return recording.end(isFine);
      },
    };
  }

  /** Removes the patches and writes new recordings; cases that did not run keep their existing ones. */
  async close(): Promise<string[]> {
    (await this.#restore)?.();
    if (this.#mode !== "record") return [];
    const written: string[] = [];
    for (const [path, { entries = [], recorded }] of this.#files) {
      const calls = [...recorded.values()].flat();
      if (recorded.size === 0 || (calls.length === 0 && this.#optional.has(path))) continue;
      const kept = entries.filter((entry) => !recorded.has(entry.case));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, recordingText([...kept, ...calls]));
      written.push(path);
    }
    return written;
  }
}

function mockOf(file: CaseFile): string | undefined {
  const { mock } = file.source;
  return mock === undefined ? undefined : resolve(folderOf(file), mock);
}

// Recordings of a server's runs: one file per run, named by its id.

const fileOf = (folder: string, runId: string): string => join(folder, `${runId}.jsonl`);

/**
 * The recorded calls of a run; undefined if it has no recording.
 * @throws ConfigError with the invalid line (`config_invalid`)
 */
export const readTranscript = (folder: string, runId: string): Promise<RecordedCall[] | undefined> =>
  readRecording(fileOf(folder, runId));

export interface Playing {
  /** Stops replaying; returns differing calls, and missing calls of a successful run. */
  end(isFine: boolean): Mismatch[];
}

/**
 * Starts to answer calls on a thread from the recordings of these runs, without real calls. Calls without a thread id are
 * not affected, because they may belong to other runs in flight.
 * @throws InvalidRequestError if the runs have no recording, ConfigError for an invalid line
 */
export async function answerFromTranscripts(
  threadId: string,
  runIds: readonly string[],
  { folder, redact }: { folder: string; redact: Redact },
): Promise<Playing> {
  const found = await Promise.all(runIds.map((runId) => readTranscript(folder, runId)));
  const caseName = runIds.at(-1) ?? "";
  if (found.every((calls) => calls === undefined))
    throw new InvalidRequestError(`run ${caseName} has no recording`, undefined, {
      hint: "record model and tool responses with graph-serve dev --record",
    });
  const calls = found.flatMap((each) => each ?? []).map((call) => ({ ...call, case: caseName }));
  const recording = new StoredRecording(calls, { caseName, file: fileOf(folder, caseName), redact });
  const restore = await patchLibrary((hints) =>
    findId("thread_id", hints) === threadId ? recording : undefined,
  );
  return {
    end: (isFine) => {
      restore();
      return recording.end(isFine);
    },
  };
}

/**
 * Starts to answer calls on a thread that are among these; other calls are executed, and not recorded. Of several
 * responses to the same request, the first is used first.
 * @returns a function that stops answering, and returns the number of calls that were answered
 */
export async function answerRecorded(
  threadId: string,
  calls: readonly RecordedCall[],
  redact: Redact,
): Promise<() => number> {
  const entries = calls.map((call) => ({ ...call, case: threadId }));
  const recording = new StoredRecording(entries, { caseName: threadId, redact, callsUnrecorded: true });
  const restore = await patchLibrary((hints) =>
    findId("thread_id", hints) === threadId ? recording : undefined,
  );
  return () => {
    restore();
    return recording.answered;
  };
}

/** Another process can have begun the file, if a run resumes here. */
const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** A call that ended. */
export interface EndedCall {
  runId: string;
  threadId: string | undefined;
  /** ISO 8601 UTC with milliseconds. */
  at: string;
  /** Number of the call in this process. */
  seq: number;
  call: RecordedCall;
}

/** Appends calls to files in a folder, which is created with the first one. */
export const folderWriter =
  (folder: string, nameOf = ({ runId }: EndedCall): string => `${runId}.jsonl`) =>
  async (calls: readonly EndedCall[]): Promise<void> => {
    for (const ended of calls) {
      const file = join(folder, nameOf(ended));
      const text = entryText(ended.call);
      const isNew = !(await isThere(file));
      if (isNew) await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await appendFile(file, isNew ? RECORDING_HEAD + text : text, { mode: 0o600 });
    }
  };

interface TranscriptOptions {
  redact: Redact;
  /** Called if calls cannot be written; does not affect their runs. */
  onError: (error: unknown) => void;
  /** Stores calls in this order. */
  write: (calls: readonly EndedCall[]) => Promise<void>;
  /** Whether the runs of a thread are recorded. Default: all. */
  covers?: (threadId: string | undefined) => boolean;
}

/** Maximum number of calls that wait to be written. */
const MAX_WAITING_CALLS = 1_000;

/** Writes each call when it ends, so that no finished call is lost if the server crashes. Runs do not wait for it. */
export class Transcripts {
  readonly #options: TranscriptOptions;
  #waiting: EndedCall[] = [];
  #writing = Promise.resolve();
  #calls = 0;
  #restore: () => void = () => undefined;

  private constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** Starts to record the runs of this process. Call after its graphs are loaded. */
  static async open(options: TranscriptOptions): Promise<Transcripts> {
    const transcripts = new Transcripts(options);
    const { redact, covers = () => true } = options;
    transcripts.#restore = await patchLibrary((hints) => {
      const runId = canonicalUuid(findId("run_id", hints) ?? "");
      const threadId = canonicalUuid(findId("thread_id", hints) ?? "");
      if (runId === undefined || !covers(threadId)) return undefined;
      return new NewRecording({ caseName: runId, redact }, (call) => transcripts.#add(runId, threadId, call));
    });
    return transcripts;
  }

  /** Stops recording and waits for pending writes. */
  async close(): Promise<void> {
    this.#restore();
    await this.#writing;
  }

  /** Calls `work` after pending writes. */
  afterWrites(work: () => Promise<unknown>): void {
    this.#writing = this.#writing.then(async () => void (await work())).catch(this.#options.onError);
  }

  /** Calls that end while others are written are written together. */
  #add(runId: string, threadId: string | undefined, call: RecordedCall): void {
    const { write, onError } = this.#options;
    if (this.#waiting.length >= MAX_WAITING_CALLS)
      return onError(new Error("calls end faster than they can be written"));
    const at = new Date().toISOString();
    this.#waiting.push({ runId, threadId, at, seq: (this.#calls += 1), call });
    if (this.#waiting.length === 1) this.afterWrites(() => write(this.#waiting.splice(0)));
  }
}
