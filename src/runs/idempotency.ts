/** Idempotency keys: a repeated request returns the run of the first one (docs/http/runs.md#idempotency-keys). */
import { createHash } from "node:crypto";
import { v5 } from "uuid";
import type { Run, RunCreateRequest } from "../models/run.js";
import type { JsonObject } from "../models/common.js";
import { now } from "../storage/rows/rows.js";
import type { RunKey } from "../storage/contract/runs.js";
import type { TimerRow, TimerTable } from "../storage/contract/timers.js";
import { InvalidRequestError, StorageUnavailableError, UnsupportedOptionError } from "../support/errors.js";
import { newId, requireUuid } from "../support/ids.js";
import type { OpsContext } from "../context/context.js";
import type { KnownRun } from "./run-options.js";
import { scopeOf } from "../threads/thread-origin.js";
import { runModel } from "../storage/rows/run-rows.js";

const KEEP_KEY_MINUTES = 24 * 60;
const LONGEST_KEY = 255;
const BATCH = 100;

interface KeyData extends RunKey {
  /** Hash of the request, to detect a key that is reused for a different request. */
  digest: string;
  isAccepted?: boolean;
  /** Of keys that were stored before keys had locks: null if the run was accepted. */
  lease_until?: string | null;
  /** The run as it was accepted, if its row may be deleted later. */
  run: Run | null;
}

type KeyRow = TimerRow & { data: KeyData & JsonObject };

export interface KeyedRequest {
  request: RunCreateRequest;
  /** Undefined for a run with its own thread. */
  threadId?: string;
  signal?: AbortSignal;
}

/** `first`: the run was accepted now. `again`: it was accepted earlier. */
export type OnceResult<T> = { first: T } | { again: RunKey & { run: Run | null } };

type Accept<T> = (known: KnownRun, threadId: string) => Promise<T>;

/**
 * Accepts a run unless its key already has one. Of concurrent requests with the same key, only one accepts the run: the
 * others wait for the lock of the key. A key whose run was rejected can be used again.
 * @throws InvalidRequestError if the key was used with a different request (`invalid_request`), and errors of `accept`
 */
export async function executeOnce<T>(
  context: OpsContext,
  keyed: KeyedRequest,
  accept: Accept<T>,
  runOf: (accepted: T) => Run | null,
): Promise<OnceResult<T>> {
  const { timers: table, locks } = context.storage;
  if (!table)
    throw new UnsupportedOptionError(
      "an idempotency key",
      "the storage does not support timers, which hold the keys",
    );
  const fresh = newRow(context, keyed);
  // A custom storage may expect the id to be a UUID.
  const lease = await locks.acquire(v5(fresh.id, v5.URL), { wait: true, first: true, signal: keyed.signal });
  try {
    const held = await heldKey(context, table, fresh);
    if (!("version" in held)) return { again: held };
    return await accepted(context, table, held, keyed, accept, runOf);
  } finally {
    await lease?.release();
  }
}

/**
 * Stores the key, or returns its run if that was accepted. A run that was not, because its process crashed, keeps its
 * ids: only one run with them can be stored, even if another process does not share the lock.
 */
async function heldKey(
  { storage: { runs } }: OpsContext,
  table: TimerTable,
  fresh: KeyRow,
): Promise<KeyRow | (RunKey & { run: Run | null })> {
  for (;;) {
    if (await table.insert(fresh)) return fresh;
    const row = (await table.get("key", fresh.id)) as KeyRow | undefined;
    if (!row) continue;
    const isOver = row.due_at !== null && row.due_at <= now();
    const { run_id, thread_id, run, isAccepted, lease_until, digest } = row.data;
    if (!isOver && digest !== fresh.data.digest) throw reused();
    if (!isOver && (isAccepted || lease_until === null || (await runs.get(thread_id, run_id))))
      return { run_id, thread_id, run };
    const ids = isOver ? {} : { run_id, thread_id };
    const own = { ...fresh, version: row.version, data: { ...fresh.data, ...ids } };
    if (await table.replace(own)) return { ...own, version: row.version + 1 };
  }
}

/** Accepts the run of a key, and stores that it was accepted. If another process was faster, returns its run. */
async function accepted<T>(
  { logger, ownerId, storage: { runs } }: OpsContext,
  table: TimerTable,
  row: KeyRow,
  { threadId }: KeyedRequest,
  accept: Accept<T>,
  runOf: (accepted: T) => Run | null,
): Promise<OnceResult<T>> {
  const { run_id, thread_id } = row.data;
  try {
    const done = await accept({ run_id }, thread_id);
    const run = threadId === undefined ? runOf(done) : null;
    const data = { ...row.data, isAccepted: true, run };
    // The run is stored: repeated requests find it even if this update fails.
    await table
      .replace({ ...row, data })
      .catch((error: unknown) =>
        logger.warn(
          { err: error, run_id },
          "an idempotency key could not be updated after its run was accepted",
        ),
      );
    return { first: done };
  } catch (error) {
    // Only one of two processes without a shared lock could store a run with these ids.
    const stored = await runs.get(thread_id, run_id).catch(() => undefined);
    if (stored && stored.owner !== ownerId)
      return { again: { run_id, thread_id, run: threadId === undefined ? runModel(stored) : null } };
    // The run may be stored although the storage failed. A retry finds it, or accepts it with the same ids.
    if (!(error instanceof StorageUnavailableError))
      await table.delete("key", row.id, row.version).catch(() => undefined);
    throw error;
  }
}

const hashOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

/** @throws InvalidRequestError (`invalid_request`) */
function newRow(context: OpsContext, { request, threadId }: KeyedRequest): KeyRow {
  const { idempotency_key: key = null, ...body } = request;
  if (key === null || key === "" || key.length > LONGEST_KEY) throw wrongKey();
  const at = now();
  const scope = scopeOf(context);
  const data: KeyData = {
    run_id: newId(),
    thread_id: threadId === undefined ? newId() : requireUuid(threadId, ["path", "thread_id"]),
    digest: hashOf([threadId ?? null, body]),
    run: null,
  };
  return {
    kind: "key",
    id: hashOf([scope, key]),
    thread_id: null,
    scope,
    due_at: new Date(Date.parse(at) + KEEP_KEY_MINUTES * 60_000).toISOString(),
    created_at: at,
    version: 1,
    data: data as KeyData & JsonObject,
  };
}

const KEY_LOCATION = ["header", "idempotency-key"];

const wrongKey = () => InvalidRequestError.at(KEY_LOCATION, `must have 1 to ${LONGEST_KEY} characters`);
const reused = () =>
  InvalidRequestError.at(
    KEY_LOCATION,
    "came with another request before: send the same body to the same thread, or use a new key",
    "idempotency_key_reused",
  );

/** Deletes the keys that expired by `at`. */
export async function forgetKeys(table: TimerTable, at: string): Promise<void> {
  for (;;) {
    const rows = await table.due(["key"], at, BATCH);
    await Promise.all(rows.map(({ id, version }) => table.delete("key", id, version)));
    if (rows.length < BATCH) return;
  }
}
