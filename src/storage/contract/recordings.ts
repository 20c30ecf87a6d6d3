/** Recorded calls of models and tools, for shadow runs. They are deleted with their run, and so with their thread. */
import type { JsonObject } from "../../models/common.js";

/** A recorded call of a model or a tool. */
export interface RecordingRow {
  thread_id: string;
  run_id: string;
  /** When the call ended, ISO 8601 UTC with milliseconds. */
  at: string;
  /** Number of the call in its process: together with `run_id` and `at`, it is unique. */
  seq: number;
  /** The request and the response, without secrets. */
  call: JsonObject;
}

/** A row as stored, with the call as JSON text: all backends keep any text that way. */
export interface StoredRecording extends Omit<RecordingRow, "call"> {
  call: string;
}

export const toStoredRecording = (row: RecordingRow): StoredRecording => ({
  ...row,
  call: JSON.stringify(row.call),
});

export const fromStoredRecording = ({ call, ...row }: StoredRecording): RecordingRow => ({
  ...row,
  call: JSON.parse(call) as JsonObject,
});

/** The table of recorded calls. Every method is atomic. */
export interface RecordingTable {
  /** Insert rows. Rows that exist, and rows of runs that do not exist, are skipped. */
  add(rows: readonly RecordingRow[]): Promise<void>;
  /** The rows of a run, in the order in which the calls ended. */
  list(runId: string): Promise<RecordingRow[]>;
  /**
   * Remove rows of calls that ended before a time, ISO 8601 UTC with milliseconds.
   * @returns the number of removed rows, which can be a part of them: 0 if none are left
   */
  forget(before: string): Promise<number>;
  /** One page of all rows, ordered by run, time and number. */
  page(page: { limit: number; offset: number }): Promise<RecordingRow[]>;
}
