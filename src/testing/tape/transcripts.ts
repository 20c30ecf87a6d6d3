/** What models and tools answered in the runs of a server: a recording a run, named after it. */
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Redact } from "../redact.js";
import { entryText, readTape, TAPE_HEAD, type TapeEntry } from "./entry.js";
import { idOf, installSeam } from "./seam.js";
import { RecordingTape } from "./tape.js";

const fileOf = (folder: string, runId: string): string => join(folder, `${runId}.jsonl`);

/**
 * The recorded calls of a run; undefined when there are none.
 * @throws ConfigError with the line that cannot be read (`config_invalid`)
 */
export const readTranscript = (folder: string, runId: string): Promise<TapeEntry[] | undefined> =>
  readTape(fileOf(folder, runId));

export interface TranscriptOptions {
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
