/** The recordings of a suite: which case has which, and the files they are in. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { folderOf, type CaseFile } from "../case-files.js";
import type { Unmet } from "../unmet.js";
import { readTape, tapeText, type TapeEntry } from "./entry.js";
import type { Redact } from "../redact.js";
import { idOf, installSeam, type FindTape } from "./seam.js";
import { RecordingTape, ReplayTape, type Tape } from "./tape.js";

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
