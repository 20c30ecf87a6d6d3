/** Idempotency keys: a request that comes again is answered with the run that is there (docs/http.md#idempotency-keys). */
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
/** Who accepts the run says so this often, and counts as dead after that time. */
const RENEW_MS = 15_000;
const LEASE_MS = 60_000;
const LOOK_MS = 50;
const BATCH = 100;

interface KeyData extends RunKey {
  /** Of the request, so that the key of another one is noticed. */
  digest: string;
  /** Until when whoever accepts the run is alive; null when it is accepted. */
  lease_until: string | null;
  /** As it was accepted, where it may be gone since. */
  run: Run | null;
}

type KeyRow = TimerRow & { data: KeyData & JsonObject };

export interface KeyedRequest {
  request: RunCreateRequest;
  /** Left out for a run on a thread of its own. */
  threadId?: string;
  signal?: AbortSignal;
}

/** The run was accepted now, or before. */
export type OnceResult<T> = { first: T } | { again: RunKey & { run: Run | null } };

/** Accepts a run that is to have these ids. */
type Accept<T> = (known: KnownRun, threadId: string) => Promise<T>;

/**
 * Accept a run unless its key has one; of several at the same time, one accepts it. A key whose run was refused is as if
 * it had never been sent.
 * @throws InvalidRequestError when the key came with another request (`invalid_request`), and what `accept` throws
 */
export async function executeOnce<T>(
  context: OpsContext,
  keyed: KeyedRequest,
  accept: Accept<T>,
  runOf: (accepted: T) => Run | null,
): Promise<OnceResult<T>> {
  const { timers: table, runs } = context.storage;
  if (!table)
    throw new UnsupportedOptionError("an idempotency key", "the storage keeps no timers, where keys are");
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
    // Whoever was to accept the run has died over it.
    const isLeft = lease_until !== null && lease_until <= now();
    if (!isOver && !isLeft) await pause(LOOK_MS, keyed.signal);
    else {
      // Of two who accept it after all, one has the ids.
      const ids = isOver ? {} : { run_id, thread_id };
      const own = { ...fresh, version: row.version, data: { ...fresh.data, ...ids } };
      if (await table.replace(own)) return first({ ...own, version: row.version + 1 });
    }
  }
}

/** Accept the run, while the row of its key says that somebody does. */
async function accepted<T>(
  { logger }: OpsContext,
  table: TimerTable,
  held: KeyRow,
  { threadId }: KeyedRequest,
  accept: Accept<T>,
  runOf: (accepted: T) => Run | null,
): Promise<T> {
  let row = held;
  const note = async (change: Partial<KeyData>): Promise<void> => {
    const changed = { ...row, data: { ...row.data, ...change } };
    if (await table.replace(changed)) row = { ...changed, version: row.version + 1 };
  };
  let noted: Promise<void> = Promise.resolve();
  const renew = setInterval(() => {
    noted = noted.then(() => note({ lease_until: leaseEnd() })).catch(() => undefined);
  }, RENEW_MS).unref();
  try {
    const { run_id, thread_id } = row.data;
    const done = await accept({ run_id }, thread_id);
    clearInterval(renew);
    await noted;
    const run = threadId === undefined ? runOf(done) : null;
    // The run is there: a key that cannot say so finds it all the same.
    await note({ lease_until: null, run }).catch((error: unknown) =>
      logger.warn({ err: error, run_id }, "an idempotency key could not be settled"),
    );
    return done;
  } catch (error) {
    clearInterval(renew);
    await noted;
    // What was not answered may be stored: who asks again finds it, or it is accepted under the same ids.
    const isOpen = error instanceof StorageUnavailableError;
    const left = isOpen ? note({ lease_until: now() }) : table.delete("key", row.id, row.version);
    await left.catch(() => undefined);
    throw error;
  }
}

const leaseEnd = (): string => new Date(Date.now() + LEASE_MS).toISOString();
const hashOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

/** @throws InvalidRequestError (`invalid_request`) */
function newRow(context: OpsContext, { request, threadId }: KeyedRequest): KeyRow {
  const { idempotency_key: key = null, ...asked } = request;
  if (key === null || key === "" || key.length > LONGEST_KEY) throw wrongKey();
  const at = now();
  const scope = scopeOf(context);
  const data: KeyData = {
    run_id: newId(),
    thread_id: threadId === undefined ? newId() : requireUuid(threadId, ["path", "thread_id"]),
    digest: hashOf([threadId ?? null, asked]),
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

const KEY_PLACE = ["header", "idempotency-key"];

const wrongKey = () => InvalidRequestError.at(KEY_PLACE, `must have 1 to ${LONGEST_KEY} characters`);
const reused = () =>
  InvalidRequestError.at(
    KEY_PLACE,
    "came with another request before: send the same body to the same thread, or take a new key",
    "idempotency_key_reused",
  );

/** Delete the keys whose time has come by `at`. */
export async function forgetKeys(table: TimerTable, at: string): Promise<void> {
  for (;;) {
    const rows = await table.due(["key"], at, BATCH);
    await Promise.all(rows.map(({ id, version }) => table.delete("key", id, version)));
    if (rows.length < BATCH) return;
  }
}
