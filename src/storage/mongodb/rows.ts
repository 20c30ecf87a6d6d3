/** Conversion of rows to and from documents. Free-form JSON is stored as a string, because its keys may contain any characters. */
import type { Collection, Db } from "mongodb";
import type { JsonObject } from "../../models/common.js";
import type { StoredPreview } from "../../models/thread-fields.js";
import { expiryOf, labelsOf } from "../rows/rows.js";
import { fromTextRun, type TextRun, toTextRun } from "../rows/run-rows.js";
import type { Owner } from "../contract/owners.js";
import type { RunHolder, RunLease, RunPatch, RunRow } from "../contract/runs.js";
import type { ThreadRow } from "../contract/threads.js";
import { tooLarge, VALUE_LIMIT } from "./errors.js";

/** The end of a run, as stored in the document of its thread; see ./runs.ts. */
export interface Settlement {
  run_id: string;
  patch: StoredRunPatch;
  /** The holder that ended the run; undefined if the holder is not checked. */
  holder?: RunHolder;
}

export interface ThreadDocument extends Omit<ThreadRow, "thread_id" | "metadata" | "config" | "preview"> {
  _id: string;
  metadata: string;
  config: string;
  /** Missing in threads of earlier releases. */
  preview?: string | null;
  /** Milliseconds since 1970. */
  expires_at: number | null;
  /** Labels of the metadata, for indexed lookup; see `labelsOf`. */
  facts: string[];
  /** Incremented by each change, for compare-and-set: a change based on an older version is retried. */
  version: number;
  /** The latest settlement of the thread. */
  settled: Settlement | null;
  /** Id of the latest run that was inserted, taken over or revived with a change of the thread. */
  opened: string | null;
  /** The thread does not exist any more: its deletion is in progress, or failed halfway and is completed by a sweep. */
  deleting?: true;
}

export interface RunDocument extends Omit<TextRun, "run_id"> {
  _id: string;
  /** Set if its owner should stop the run. */
  cancel_requested?: true;
}

export type StoredRunPatch = Partial<
  Pick<
    RunDocument,
    "updated_at" | "status" | "error" | "usage" | "fault" | keyof RunLease | "resumption" | "tasks"
  >
>;

interface StoredOwner extends Omit<Owner, "id"> {
  _id: string;
}

export interface Collections {
  threads: Collection<ThreadDocument>;
  runs: Collection<RunDocument>;
  owners: Collection<StoredOwner>;
}

/** Dead runs. Also the condition of the index `gs_runs_dead`. */
export const IS_DEAD = { state: "dead" as const };

export const collectionsOf = (db: Db): Collections => ({
  threads: db.collection("gs_threads"),
  runs: db.collection("gs_runs"),
  owners: db.collection("gs_owners"),
});

/** Fields of documents that rows do not have. Kept when a row is overwritten. */
type Marks = Pick<ThreadDocument, "version" | "settled" | "opened">;

export const NEW_MARKS: Marks = { version: 1, settled: null, opened: null };

export function toThreadDocument({ thread_id, ...row }: ThreadRow, marks: Marks): ThreadDocument {
  return {
    _id: thread_id,
    ...row,
    metadata: toText(row.metadata),
    config: toText(row.config),
    preview: row.preview ? toText(row.preview) : null,
    ttl: row.ttl && { strategy: row.ttl.strategy, ttl_minutes: row.ttl.ttl_minutes },
    expires_at: expiryOf({ thread_id, ...row }),
    facts: labelsOf(row.metadata),
    version: marks.version,
    settled: marks.settled,
    opened: marks.opened,
  };
}

export function fromThreadDocument(stored: ThreadDocument): ThreadRow {
  const { _id, expires_at: _1, facts: _2, version: _3, settled: _4, opened: _5, ...fields } = stored;
  const { deleting: _6, preview, ...row } = fields;
  return {
    thread_id: _id,
    ...row,
    metadata: JSON.parse(stored.metadata) as JsonObject,
    scope: stored.scope ?? null,
    graphs: stored.graphs ?? null,
    config: JSON.parse(stored.config) as JsonObject,
    ...(preview != null && { preview: JSON.parse(preview) as StoredPreview }),
  };
}

export function toRunDocument(row: RunRow): RunDocument {
  const { run_id, ...document } = toTextRun(row, toText);
  return { _id: run_id, ...document };
}

export const fromRunDocument = ({ _id, cancel_requested: _, ...stored }: RunDocument): RunRow =>
  fromTextRun({ run_id: _id, ...stored });

/** A run patch as document fields, without undefined keys. */
export function storeRunPatch(patch: RunPatch): StoredRunPatch {
  const { updated_at, status, error, usage, fault, state, owner, attempt, resumption, tasks } = patch;
  return {
    updated_at,
    ...(state !== undefined && { state }),
    ...(owner !== undefined && { owner }),
    ...(attempt !== undefined && { attempt }),
    ...(resumption !== undefined && { resumption: resumption && toText(resumption) }),
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...(usage !== undefined && { usage: usage && JSON.stringify(usage) }),
    ...(fault !== undefined && { fault: fault && JSON.stringify(fault) }),
    ...(tasks !== undefined && { tasks: tasks && JSON.stringify(tasks) }),
  };
}

/**
 * JSON as stored in a document.
 * @throws GraphServeError if it is too large for a document (`payload_too_large`)
 */
export function toText(value: unknown): string {
  const text = JSON.stringify(value);
  // A UTF-16 code unit takes at most three bytes, so the size of short strings need not be counted.
  if (text.length * 3 <= VALUE_LIMIT) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes > VALUE_LIMIT) throw tooLarge(bytes);
  return text;
}
