/** Recordings of a server's runs in production: a share of its threads, for a limited time, deleted with their threads. */
import { createHash } from "node:crypto";
import { readdir, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { canonicalUuid } from "../../support/ids.js";
import type { Redact } from "../cases/redact.js";
import { onLibraryCopies } from "./patch.js";
import { Transcripts } from "./recorder.js";

export interface ProductionOptions {
  folder: string;
  /** From 0 to 1. */
  share: number;
  keepMs: number;
  redact: Redact;
  /** Called if a recording cannot be written or deleted; does not affect runs. */
  onError: (error: unknown) => void;
}

const HOUR_MS = 3_600_000;
const UNITS = { h: HOUR_MS, d: 24 * HOUR_MS } as const;

/** Milliseconds of a duration such as `48h` or `14d`. */
export const keepMsOf = (text: string): number =>
  Number(text.slice(0, -1)) * UNITS[text.slice(-1) as keyof typeof UNITS];

/** Whether the runs of a thread are recorded: the same in every process, so that all runs of a thread are, or none. */
function isChosen(threadId: string, share: number): boolean {
  return createHash("sha256").update(threadId).digest().readUInt32BE(0) < share * 2 ** 32;
}

export class ProductionRecordings {
  readonly #options: ProductionOptions;
  #transcripts: Transcripts | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Create before graphs are loaded, because their copies of the library are tracked from then on. */
  constructor(options: ProductionOptions) {
    this.#options = options;
    onLibraryCopies();
  }

  /**
   * Starts to record, and deletes what is too old, or belongs to deleted threads, every hour. Call after graphs are loaded.
   * @param exists whether a thread is stored
   */
  async start(exists: (threadId: string) => Promise<boolean>): Promise<void> {
    const { folder, share, redact, onError } = this.#options;
    const fileOf = (runId: string, threadId: string | undefined) =>
      threadId !== undefined && isChosen(threadId, share) ? join(threadId, `${runId}.jsonl`) : undefined;
    this.#transcripts = await Transcripts.open({ folder, redact, onError, fileOf });
    // A server does not wait for it: there can be many threads.
    void this.sweep(exists).catch(onError);
    this.#timer = setInterval(() => void this.sweep(exists).catch(onError), HOUR_MS).unref();
  }

  /** Deletes the recordings of a thread. */
  forget(threadId: string): void {
    this.#transcripts?.forget(threadId);
  }

  /** Deletes recordings that are too old, and those of threads that another process has deleted. */
  async sweep(exists: (threadId: string) => Promise<boolean>): Promise<void> {
    const { folder, keepMs } = this.#options;
    for (const name of await namesIn(folder)) {
      if (this.#isClosed) return;
      if (canonicalUuid(name) !== name) continue;
      if (!(await exists(name))) this.forget(name);
      else await deleteOld(join(folder, name), Date.now() - keepMs);
    }
  }

  /** Stops recording and waits for pending writes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#transcripts?.close();
  }
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if ((error as { code?: unknown }).code === "ENOENT") return [];
    throw error;
  });

/** Deletes the files of a folder that were last written before a time, and the folder if none is left. */
async function deleteOld(folder: string, beforeMs: number): Promise<void> {
  const names = await namesIn(folder);
  let left = names.length;
  for (const name of names) {
    const file = join(folder, name);
    if ((await stat(file)).mtimeMs >= beforeMs) continue;
    await unlink(file);
    left -= 1;
  }
  // A run can write its first call meanwhile.
  if (left === 0) await rmdir(folder).catch(() => undefined);
}
