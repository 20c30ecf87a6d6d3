/** Idempotency keys: a repeated request returns the run of the first one (docs/http/runs.md#idempotency-keys). */
import { createHash } from "node:crypto";
import type { Run, RunCreateRequest } from "../models/run.js";
import type { JsonObject } from "../models/common.js";
import { now } from "../storage/rows/rows.js";
import type { RunKey, TimerRow, TimerTable } from "../storage/contract/storage.js";
import { InvalidRequestError, StorageUnavailableError, UnsupportedOptionError } from "../support/errors.js";
import { newId, requireUuid } from "../support/ids.js";
import { pause } from "../support/pause.js";
import type { OpsContext } from "../context/context.js";
import type { KnownRun } from "./run-request.js";
import { scopeOf } from "../threads/thread-origin.js";

const KEEP_KEY_MINUTES = 24 * 60;
const LONGEST_KEY = 255;
/** How often the process that accepts the run renews its lease, and the duration of the lease. In milliseconds. */
const RENEW_MS = 15_000;
const LEASE_MS = 60_000;
const POLL_MS = 50;
const BATCH = 100;

interface KeyData extends RunKey {
  /** Hash of the request, to detect a key that is reused for a different request. */
  digest: string;
  /** Lease of the process that accepts the run; null once the run is accepted. */
  lease_until: string | null;
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
 * Accepts a run unless its key already has one. Of concurrent requests with the same key, only one accepts the run. A
 * key whose run was rejected can be used again.
 * @throws InvalidRequestError if the key was used with a different request (`invalid_request`), and errors of `accept`
 */
export async function executeOnce<T>(
  context: OpsContext,
  keyed: KeyedRequest,
  accept: Accept<T>,
  runOf: (accepted: T) => Run | null,
): Promise<OnceResult<T>> {
  const { timers: table, runs } = context.storage;
  if (!table)
    throw new UnsupportedOptionError(
      "an idempotency key",
      "the storage does not support timers, which hold the keys",
    );
  for (;;) {
    const fresh = newRow(context, keyed);
    const first = async (row: KeyRow) => ({
      first: await accepted(context, table, row, keyed, accept, runOf),
    });
    if (await table.insert(fresh)) return first(fresh);
    const row = (await table.get("key", fresh.id)) as KeyRow | undefined;
    if (!row) continue;
    const { run_id, thread_id, run, lease_until, digest } = row.data;
    const isOver = row.due_at !== null && row.due_at <= now();
    if (!isOver && digest !== fresh.data.digest) throw reused();
    if (!isOver && (lease_until === null || (await runs.get(thread_id, run_id))))
      return { again: { run_id, thread_id, run } };
    // The process that was to accept the run has crashed.
    const isLeaseOver = lease_until !== null && lease_until <= now();
    if (!isOver && !isLeaseOver) await pause(POLL_MS, keyed.signal);
    else {
      // Keeps the ids: if both processes accept the run after all, only one can store it.
      const ids = isOver ? {} : { run_id, thread_id };
      const own = { ...fresh, version: row.version, data: { ...fresh.data, ...ids } };
      if (await table.replace(own)) return first({ ...own, version: row.version + 1 });
    }
  }
}

/** Accepts the run, and renews the lease in the key's row meanwhile. */
async function accepted<T>(
  { logger }: OpsContext,
  table: TimerTable,
  held: KeyRow,
  { threadId }: KeyedRequest,
  accept: Accept<T>,
  runOf: (accepted: T) => Run | null,
): Promise<T> {
  let row = held;
  const update = async (change: Partial<KeyData>): Promise<void> => {
    const changed = { ...row, data: { ...row.data, ...change } };
    if (await table.replace(changed)) row = { ...changed, version: row.version + 1 };
  };
  let updated: Promise<void> = Promise.resolve();
  const renew = setInterval(() => {
    updated = updated.then(() => update({ lease_until: leaseEnd() })).catch(() => undefined);
  }, RENEW_MS).unref();
  try {
    const { run_id, thread_id } = row.data;
    const done = await accept({ run_id }, thread_id);
    clearInterval(renew);
    await updated;
    const run = threadId === undefined ? runOf(done) : null;
    // The run is stored: repeated requests find it even if this update fails.
    await update({ lease_until: null, run }).catch((error: unknown) =>
      logger.warn(
        { err: error, run_id },
        "an idempotency key could not be updated after its run was accepted",
      ),
    );
    return done;
  } catch (error) {
    clearInterval(renew);
    await updated;
    // The run may be stored despite the error. A retry finds it, or accepts it with the same ids.
    const isOpen = error instanceof StorageUnavailableError;
    const released = isOpen ? update({ lease_until: now() }) : table.delete("key", row.id, row.version);
    await released.catch(() => undefined);
    throw error;
  }
}

const leaseEnd = (): string => new Date(Date.now() + LEASE_MS).toISOString();
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
    lease_until: leaseEnd(),
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
