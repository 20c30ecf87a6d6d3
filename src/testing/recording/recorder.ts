/** The recordings of a suite: which case has which, and the files they are in. */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type CaseFile, folderOf } from "../cases/case-files.js";
import type { Redact } from "../cases/redact.js";
import type { Mismatch } from "../cases/result.js";
import { InvalidRequestError } from "../../support/errors.js";
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

/** `strict` also answers for cases whose file names no recording: every model call of theirs is refused. */
export type RecordingMode = "replay" | "record" | "strict";

interface RecordedFile {
  /** What was there before; undefined when there was no file. */
  entries: RecordedCall[] | undefined;
  /** New entries by case. */
  recorded: Map<string, RecordedCall[]>;
}

export class Recordings {
  readonly #mode: RecordingMode;
  readonly #redact: Redact;
  readonly #files = new Map<string, RecordedFile>();
  /** Recordings of the threads that run now. */
  readonly #playing = new Map<string, Recording>();
  #restore: Promise<() => void> | undefined;

  private constructor(mode: RecordingMode, redact: Redact) {
    this.#mode = mode;
    this.#redact = redact;
  }

  /** Read the recordings that the case files name; before graphs are loaded. @throws ConfigError (`config_invalid`) */
  static async open(
    caseFiles: readonly CaseFile[],
    mode: RecordingMode,
    redact: Redact,
  ): Promise<Recordings> {
    onLibraryCopies();
    const recordings = new Recordings(mode, redact);
    for (const file of caseFiles) {
      const path = mockOf(file);
      if (path === undefined || recordings.#files.has(path)) continue;
      recordings.#files.set(path, { entries: await readRecording(path), recorded: new Map() });
    }
    return recordings;
  }

  /** Get between the graphs and their models; after the first graph was loaded, which brings its copy of the library. */
  async prepare(): Promise<void> {
    this.#restore ??= patchLibrary(this.#find);
    await this.#restore;
  }

  /** By the thread's id, wherever a call carries it; where none does, the only recording there is. */
  readonly #find: FindRecording = (hints) => {
    if (this.#playing.size === 0) return undefined;
    const threadId = findId("thread_id", hints);
    if (threadId !== undefined) return this.#playing.get(threadId);
    return this.#playing.size === 1 ? [...this.#playing.values()][0] : undefined;
  };

  /** From now on, calls on the thread go by the recording of the case. */
  begin(file: CaseFile, caseName: string, threadId: string): { end(isFine: boolean): Mismatch[] } {
    const path = mockOf(file);
    if (path === undefined && this.#mode !== "strict") return { end: () => [] };
    const options = { caseName, redact: this.#redact, ...(path !== undefined && { file: path }) };
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

  /** Take the patches away, and write what was recorded; cases that did not run keep what they had. */
  async close(): Promise<string[]> {
    (await this.#restore)?.();
    if (this.#mode !== "record") return [];
    const written: string[] = [];
    for (const [path, { entries = [], recorded }] of this.#files) {
      if (recorded.size === 0) continue;
      const kept = entries.filter((entry) => !recorded.has(entry.case));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, recordingText([...kept, ...[...recorded.values()].flat()]));
      written.push(path);
    }
    return written;
  }
}

function mockOf(file: CaseFile): string | undefined {
  const { mock } = file.source;
  return mock === undefined ? undefined : resolve(folderOf(file), mock);
}

// What models and tools answered in the runs of a server: a recording a run, named after it.

const fileOf = (folder: string, runId: string): string => join(folder, `${runId}.jsonl`);

/**
 * The recorded calls of a run; undefined when there are none.
 * @throws ConfigError with the line that cannot be read (`config_invalid`)
 */
export const readTranscript = (folder: string, runId: string): Promise<RecordedCall[] | undefined> =>
  readRecording(fileOf(folder, runId));

export interface Playing {
  /** Stop replaying; reports where calls diverged, or were missing in a successful run. */
  end(isFine: boolean): Mismatch[];
}

/**
 * From now on the calls on a thread are answered with what was recorded of these runs, and none is made. Calls that say
 * nothing of a thread are left alone: other runs are in flight beside this one.
 * @throws InvalidRequestError when nothing is recorded of them, ConfigError for a line that cannot be read
 */
export async function answerFromTranscripts(
  threadId: string,
  runIds: readonly string[],
  { folder, redact }: Pick<TranscriptOptions, "folder" | "redact">,
): Promise<Playing> {
  const found = await Promise.all(runIds.map((runId) => readTranscript(folder, runId)));
  const caseName = runIds.at(-1) ?? "";
  if (found.every((calls) => calls === undefined))
    throw new InvalidRequestError(`nothing is recorded of run ${caseName}`, undefined, {
      hint: "graph-serve dev --record keeps what models and tools answer",
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

interface TranscriptOptions {
  /** Folder of the recordings; made when the first is written. */
  folder: string;
  redact: Redact;
  /** Called when a call could not be written; the run does not suffer from it. */
  onError: (error: unknown) => void;
}

/** Writes each call when it has ended, so that a server that dies loses none. */
export class Transcripts {
  readonly #options: TranscriptOptions;
  readonly #begun = new Set<string>();
  #writing = Promise.resolve();
  #restore: () => void = () => undefined;

  private constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** From now on the runs of this process are recorded; after its graphs were loaded. */
  static async open(options: TranscriptOptions): Promise<Transcripts> {
    const transcripts = new Transcripts(options);
    transcripts.#restore = await patchLibrary((hints) => {
      const runId = findId("run_id", hints);
      return runId === undefined ? undefined : transcripts.#recording(runId);
    });
    return transcripts;
  }

  /** Record nothing more, and wait for what is being written. */
  async close(): Promise<void> {
    this.#restore();
    await this.#writing;
  }

  #recording(runId: string): NewRecording {
    const { redact } = this.#options;
    return new NewRecording({ caseName: runId, redact }, (entry) => this.#write(runId, entry));
  }

  #write(runId: string, entry: RecordedCall): void {
    const { folder, onError } = this.#options;
    this.#writing = this.#writing
      .then(async () => {
        if (!this.#begun.has(runId)) await mkdir(folder, { recursive: true });
        const head = this.#begun.has(runId) ? "" : RECORDING_HEAD;
        this.#begun.add(runId);
        await appendFile(fileOf(folder, runId), head + entryText(entry));
      })
      .catch(onError);
  }
}
