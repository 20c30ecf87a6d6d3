/** The recordings of a suite: which case has which, and the files they are in. */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type CaseFile, folderOf } from "../case-files.js";
import type { Redact } from "../redact.js";
import type { Unmet } from "../result.js";
import { type FindTape, idOf, installSeam } from "./patch.js";
import {
  entryText,
  readTape,
  RecordingTape,
  ReplayTape,
  type Tape,
  TAPE_HEAD,
  type TapeEntry,
  tapeText,
} from "./recording.js";

/** `strict` also answers for cases whose file names no recording: every model call of theirs is refused. */
export type TapeMode = "replay" | "record" | "strict";

interface RecordedFile {
  /** What was there before; undefined when there was no file. */
  entries: TapeEntry[] | undefined;
  /** New entries by case. */
  recorded: Map<string, TapeEntry[]>;
}

export class Tapes {
  readonly #mode: TapeMode;
  readonly #redact: Redact;
  readonly #files = new Map<string, RecordedFile>();
  /** Tapes of the threads that run now. */
  readonly #playing = new Map<string, Tape>();
  #restore: Promise<() => void> | undefined;

  private constructor(mode: TapeMode, redact: Redact) {
    this.#mode = mode;
    this.#redact = redact;
  }

  /** Read the recordings that the case files name. @throws ConfigError (`config_invalid`) */
  static async open(caseFiles: readonly CaseFile[], mode: TapeMode, redact: Redact): Promise<Tapes> {
    const tapes = new Tapes(mode, redact);
    for (const file of caseFiles) {
      const path = mockOf(file);
      if (path === undefined || tapes.#files.has(path)) continue;
      tapes.#files.set(path, { entries: await readTape(path), recorded: new Map() });
    }
    return tapes;
  }

  /** Get between the graphs and their models; after the first graph was loaded, which brings its copy of the library. */
  async prepare(): Promise<void> {
    this.#restore ??= installSeam(this.#find);
    await this.#restore;
  }

  /** By the thread's id, wherever a call carries it; where none does, the only tape there is. */
  readonly #find: FindTape = (hints) => {
    if (this.#playing.size === 0) return undefined;
    const threadId = idOf("thread_id", hints);
    if (threadId !== undefined) return this.#playing.get(threadId);
    return this.#playing.size === 1 ? [...this.#playing.values()][0] : undefined;
  };

  /** From now on, calls on the thread go by the recording of the case. */
  begin(file: CaseFile, caseName: string, threadId: string): { end(isFine: boolean): Unmet[] } {
    const path = mockOf(file);
    if (path === undefined && this.#mode !== "strict") return { end: () => [] };
    const options = { caseName, redact: this.#redact, ...(path !== undefined && { file: path }) };
    const found = path === undefined ? undefined : this.#files.get(path);
    const recorded: TapeEntry[] = [];
    const tape =
      this.#mode === "record"
        ? new RecordingTape(options, (entry) => recorded.push(entry))
        : new ReplayTape(found?.entries, options);
    this.#playing.set(threadId, tape);
    return {
      end: (isFine) => {
        this.#playing.delete(threadId);
        if (tape.mode === "record") found?.recorded.set(caseName, recorded);
        return tape.end(isFine);
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
      await writeFile(path, tapeText([...kept, ...[...recorded.values()].flat()]));
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
export const readTranscript = (folder: string, runId: string): Promise<TapeEntry[] | undefined> =>
  readTape(fileOf(folder, runId));

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
    transcripts.#restore = await installSeam((hints) => {
      const runId = idOf("run_id", hints);
      return runId === undefined ? undefined : transcripts.#tape(runId);
    });
    return transcripts;
  }

  /** Record nothing more, and wait for what is being written. */
  async close(): Promise<void> {
    this.#restore();
    await this.#writing;
  }

  #tape(runId: string): RecordingTape {
    const { redact } = this.#options;
    return new RecordingTape({ caseName: runId, redact }, (entry) => this.#write(runId, entry));
  }

  #write(runId: string, entry: TapeEntry): void {
    const { folder, onError } = this.#options;
    this.#writing = this.#writing
      .then(async () => {
        if (!this.#begun.has(runId)) await mkdir(folder, { recursive: true });
        const head = this.#begun.has(runId) ? "" : TAPE_HEAD;
        this.#begun.add(runId);
        await appendFile(fileOf(folder, runId), head + entryText(entry));
      })
      .catch(onError);
  }
}
