/** Recordings of a server's runs in production: a share of its threads, for a limited time, deleted with their threads. */
import { createHash } from "node:crypto";
import { readdir, rm, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { RecordingTable } from "../../service/service.js";
import { canonicalUuid } from "../../support/ids.js";
import type { Redact } from "../cases/redact.js";
import { onLibraryCopies } from "./patch.js";
import { type EndedCall, folderWriter, readTranscript, Transcripts } from "./recorder.js";
import type { RecordedCall } from "./recording.js";

/** Where recordings are kept. */
export interface RecordingPlace {
  write: (calls: readonly EndedCall[]) => Promise<void>;
  /** Deletes the recordings of a thread; undefined if the storage does. */
  forget?: (threadId: string) => Promise<void>;
  /** Deletes recordings that were last written before a time, in milliseconds since 1970. */
  deleteOld: (beforeMs: number) => Promise<void>;
  /** Ids of threads with recordings, which can have been deleted meanwhile; undefined if the storage deletes them. */
  threadIds?: () => Promise<string[]>;
}

export interface ProductionOptions {
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
  #place: RecordingPlace | undefined;
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
  async start(place: RecordingPlace, exists: (threadId: string) => Promise<boolean>): Promise<void> {
    const { share, redact, onError } = this.#options;
    const covers = (threadId: string | undefined) => threadId !== undefined && isChosen(threadId, share);
    this.#place = place;
    this.#transcripts = await Transcripts.open({ redact, onError, covers, write: place.write });
    // A server does not wait for it: there can be many threads.
    void this.sweep(exists).catch(onError);
    this.#timer = setInterval(() => void this.sweep(exists).catch(onError), HOUR_MS).unref();
  }

  /** Deletes the recordings of a thread. */
  forget(threadId: string): void {
    const { forget } = this.#place ?? {};
    if (forget) this.#transcripts?.afterWrites(() => forget(threadId));
  }

  /** Deletes recordings that are too old, and those of threads that another process has deleted. */
  async sweep(exists: (threadId: string) => Promise<boolean>): Promise<void> {
    await this.#place?.deleteOld(Date.now() - this.#options.keepMs);
    for (const id of (await this.#place?.threadIds?.()) ?? []) {
      if (this.#isClosed) return;
      if (!(await exists(id))) this.forget(id);
    }
  }

  /** Stops recording and waits for pending writes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#transcripts?.close();
  }
}

/** Files `<folder>/<thread id>/<run id>.jsonl`. */
export function inFolder(folder: string): RecordingPlace {
  const threadIds = async () => (await namesIn(folder)).filter((name) => canonicalUuid(name) === name);
  return {
    threadIds,
    write: folderWriter(folder, ({ threadId = "", runId }) => join(threadId, `${runId}.jsonl`)),
    forget: (threadId) => rm(join(folder, threadId), { recursive: true, force: true }),
    deleteOld: async (beforeMs) => {
      for (const id of await threadIds()) await deleteOld(join(folder, id), beforeMs);
    },
  };
}

/** Rows of the storage, which deletes them with their thread. */
export const inStorage = (table: RecordingTable): RecordingPlace => ({
  write: (calls) =>
    table.add(
      calls.map(({ runId, threadId = "", at, seq, call }) => ({
        ...{ run_id: runId, thread_id: threadId, at, seq, call: { ...call } },
      })),
    ),
  deleteOld: async (beforeMs) => {
    while ((await table.forget(new Date(beforeMs).toISOString())) > 0);
  },
});

/** The calls that `inStorage` wrote; undefined if there are none. */
export async function storedCalls(table: RecordingTable, runId: string): Promise<RecordedCall[] | undefined> {
  const rows = await table.list(runId);
  return rows.length === 0 ? undefined : rows.map(({ call }) => call as unknown as RecordedCall);
}

/** The calls of a run in a folder of `inFolder` or of `dev --record`; undefined if there are none. */
export const callsInFolder = async (
  folder: string,
  threadId: string,
  runId: string,
): Promise<RecordedCall[] | undefined> =>
  (await readTranscript(folder, runId)) ?? readTranscript(join(folder, threadId), runId);

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
