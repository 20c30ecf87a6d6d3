import type { Database } from "better-sqlite3";
import { StorageUnavailableError } from "../../support/errors.js";
import type { Owner } from "../contract/owners.js";
import { assertStopped } from "../rows/owners.js";

/**
 * One entry per version, never changed after its release. Table names start with `gs_`, because an application may keep
 * its own tables in the same file. A fact is a label made from one metadata entry. `gs_thread_facts` repeats
 * `updated_at` so that its index returns the threads of a fact in order. `gs_facts` counts the threads of each fact, and
 * all threads under '', so that totals need no scan. A row of `gs_values` is a large channel value: its first `head`
 * and last `tail` bytes are those of `base`.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE gs_threads (
    thread_id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    state_updated_at TEXT,
    metadata TEXT NOT NULL,
    config TEXT NOT NULL,
    status TEXT NOT NULL,
    error TEXT,
    ttl_strategy TEXT,
    ttl_minutes REAL,
    expires_at REAL
  );
  CREATE INDEX gs_threads_updated ON gs_threads (updated_at, thread_id);
  CREATE INDEX gs_threads_created ON gs_threads (created_at, thread_id);
  CREATE INDEX gs_threads_state_updated ON gs_threads (state_updated_at, thread_id);
  CREATE INDEX gs_threads_status ON gs_threads (status, thread_id);
  CREATE INDEX gs_threads_expiry ON gs_threads (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE gs_thread_facts (
    thread_id TEXT NOT NULL REFERENCES gs_threads ON DELETE CASCADE,
    fact TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (thread_id, fact)
  ) WITHOUT ROWID;
  CREATE INDEX gs_thread_facts_updated ON gs_thread_facts (fact, updated_at, thread_id);

  CREATE TABLE gs_facts (fact TEXT PRIMARY KEY, threads INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO gs_facts VALUES ('', 0);
  CREATE TRIGGER gs_thread_added AFTER INSERT ON gs_threads BEGIN
    UPDATE gs_facts SET threads = threads + 1 WHERE fact = '';
  END;
  CREATE TRIGGER gs_thread_removed AFTER DELETE ON gs_threads BEGIN
    UPDATE gs_facts SET threads = threads - 1 WHERE fact = '';
  END;
  CREATE TRIGGER gs_fact_added AFTER INSERT ON gs_thread_facts BEGIN
    INSERT INTO gs_facts VALUES (new.fact, 1) ON CONFLICT DO UPDATE SET threads = threads + 1;
  END;
  CREATE TRIGGER gs_fact_removed AFTER DELETE ON gs_thread_facts BEGIN
    UPDATE gs_facts SET threads = threads - 1 WHERE fact = old.fact;
    DELETE FROM gs_facts WHERE fact = old.fact AND threads = 0;
  END;

  CREATE TABLE gs_runs (
    run_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL REFERENCES gs_threads ON DELETE CASCADE,
    assistant_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    status TEXT NOT NULL,
    metadata TEXT NOT NULL,
    kwargs TEXT NOT NULL,
    multitask_strategy TEXT NOT NULL,
    error TEXT,
    usage TEXT,
    owner TEXT NOT NULL,
    cancel_requested INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX gs_runs_of_thread ON gs_runs (thread_id, created_at, run_id);
  CREATE INDEX gs_runs_unfinished ON gs_runs (run_id) WHERE status IN ('pending', 'running');
  CREATE INDEX gs_runs_cancelled ON gs_runs (owner) WHERE cancel_requested AND status IN ('pending', 'running');

  CREATE TABLE gs_owners (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    seen_at TEXT NOT NULL
  );

  CREATE TABLE gs_items (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    ttl_minutes REAL,
    expires_at TEXT,
    PRIMARY KEY (namespace, key)
  ) WITHOUT ROWID;
  CREATE INDEX gs_items_expiry ON gs_items (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE gs_checkpoints (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT,
    checkpoint TEXT NOT NULL,
    channel_values TEXT NOT NULL,
    metadata TEXT NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
  );
  CREATE TABLE gs_values (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id TEXT NOT NULL,
    base INTEGER,
    head INTEGER NOT NULL,
    tail INTEGER NOT NULL,
    bytes BLOB NOT NULL
  );
  CREATE INDEX gs_values_of_thread ON gs_values (thread_id);
  CREATE TABLE gs_writes (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    idx INTEGER NOT NULL,
    channel TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
  );
  `,
  `
  ALTER TABLE gs_threads ADD COLUMN scope TEXT;
  ALTER TABLE gs_threads ADD COLUMN graphs TEXT;
  `,
  `
  ALTER TABLE gs_runs ADD COLUMN fault TEXT;
  `,
  `
  ALTER TABLE gs_runs ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE gs_runs ADD COLUMN resumption TEXT;
  `,
  `
  ALTER TABLE gs_runs ADD COLUMN tasks TEXT;
  `,
  `
  CREATE INDEX gs_runs_created ON gs_runs (created_at, run_id, status);
  `,
  `
  CREATE TABLE gs_timers (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    thread_id TEXT,
    scope TEXT,
    due_at TEXT,
    created_at TEXT NOT NULL,
    version INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX gs_timers_due ON gs_timers (due_at, id) WHERE due_at IS NOT NULL;
  CREATE INDEX gs_timers_of_thread ON gs_timers (thread_id) WHERE thread_id IS NOT NULL;
  CREATE INDEX gs_timers_created ON gs_timers (kind, created_at, id);
  `,
  // Earlier versions kept `resumption` on failed runs that never started. Clear it: those runs are not quarantined.
  `
  UPDATE gs_runs SET resumption = NULL WHERE status = 'error' AND resumption IS NOT NULL;
  CREATE INDEX gs_runs_dead ON gs_runs (created_at, run_id) WHERE status = 'error' AND resumption IS NOT NULL;
  `,
  `
  ALTER TABLE gs_threads ADD COLUMN preview TEXT;
  `,
  // The state of a run was coded in its owner. Statements of earlier releases violate the constraint.
  `
  CREATE TABLE gs_runs_next (
    run_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL REFERENCES gs_threads ON DELETE CASCADE,
    assistant_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    status TEXT NOT NULL,
    metadata TEXT NOT NULL,
    kwargs TEXT NOT NULL,
    multitask_strategy TEXT NOT NULL,
    error TEXT,
    usage TEXT,
    state TEXT NOT NULL,
    owner TEXT,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    fault TEXT,
    attempt INTEGER NOT NULL,
    resumption TEXT,
    tasks TEXT,
    CHECK ((status IN ('pending', 'running')) = (state IN ('delayed', 'queued', 'running'))
      AND (state <> 'running' OR owner IS NOT NULL))
  );
  INSERT INTO gs_runs_next SELECT run_id, thread_id, assistant_id, created_at, updated_at, status, metadata, kwargs,
    multitask_strategy, error, usage,
    CASE WHEN status NOT IN ('pending', 'running') THEN iif(resumption IS NULL, 'ended', 'dead')
      WHEN owner = 'waits for its time' THEN 'delayed'
      WHEN owner = '' OR (status = 'pending' AND attempt = 0) THEN 'queued' ELSE 'running' END,
    nullif(nullif(owner, ''), 'waits for its time'), cancel_requested, fault, attempt,
    json_patch(resumption, json_object('given_back', NULL, 'requeued', json_extract(resumption, '$.given_back'),
      'frames', iif(json_extract(resumption, '$.frames') = 'wide', 'all', json_extract(resumption, '$.frames')))),
    tasks FROM gs_runs;
  DROP TABLE gs_runs;
  ALTER TABLE gs_runs_next RENAME TO gs_runs;
  CREATE INDEX gs_runs_of_thread ON gs_runs (thread_id, created_at, run_id);
  CREATE INDEX gs_runs_unfinished ON gs_runs (run_id) WHERE status IN ('pending', 'running');
  CREATE INDEX gs_runs_cancelled ON gs_runs (owner) WHERE cancel_requested AND status IN ('pending', 'running');
  CREATE INDEX gs_runs_created ON gs_runs (created_at, run_id, status);
  CREATE INDEX gs_runs_dead ON gs_runs (created_at, run_id) WHERE state = 'dead';
  DELETE FROM gs_owners WHERE id = 'waits for its time';
  `,
  `
  CREATE TABLE gs_usage (
    run_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    thread_id TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    user_id TEXT,
    scope TEXT,
    node TEXT NOT NULL,
    provider TEXT,
    model TEXT NOT NULL,
    day TEXT NOT NULL,
    at TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced_calls INTEGER NOT NULL,
    PRIMARY KEY (run_id, attempt, seq)
  ) WITHOUT ROWID;
  CREATE INDEX gs_usage_at ON gs_usage (at);
  CREATE INDEX gs_usage_of_user ON gs_usage (user_id, day) WHERE user_id IS NOT NULL;
  CREATE INDEX gs_usage_of_thread ON gs_usage (thread_id);
  `,
  `
  CREATE TABLE gs_recordings (
    run_id TEXT NOT NULL REFERENCES gs_runs ON DELETE CASCADE,
    at TEXT NOT NULL,
    seq INTEGER NOT NULL,
    thread_id TEXT NOT NULL,
    call TEXT NOT NULL,
    PRIMARY KEY (run_id, at, seq)
  );
  CREATE INDEX gs_recordings_at ON gs_recordings (at);
  `,
  "ALTER TABLE gs_items ADD COLUMN vectors BLOB;",
];

/** Processes that wrote tables of an earlier version must have stopped before the migration. */
const STATE_VERSION = 10;

/** The tables of checkpoints, each with a column `thread_id`. */
export const CHECKPOINT_TABLES = ["gs_checkpoints", "gs_writes", "gs_values"] as const;

/** Table version that this release reads and writes. */
export const SQLITE_SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Migrate the tables to the current version. The transaction takes the write lock at its start: if two processes open a
 * new file at the same time, the second one waits and finds the tables migrated.
 * @throws StorageUnavailableError if the tables have a later version (`storage_unavailable`)
 */
export function migrateSqlite(db: Database): void {
  db.transaction(() => {
    db.exec("CREATE TABLE IF NOT EXISTS gs_schema (version INTEGER NOT NULL)");
    const version = (db.prepare("SELECT max(version) FROM gs_schema").pluck().get() as number | null) ?? 0;
    if (version > MIGRATIONS.length) throw newerSchema(version);
    assertMigratable(db, version);
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
    if (version === MIGRATIONS.length) return;
    db.exec("DELETE FROM gs_schema");
    db.prepare("INSERT INTO gs_schema VALUES (?)").run(MIGRATIONS.length);
  }).immediate();
}

/** @throws StorageUnavailableError while processes of an earlier release use the file (`storage_unavailable`) */
export function assertMigratable(db: Database, version: number): void {
  if (version === 0 || version >= STATE_VERSION) return;
  assertStopped(db.prepare("SELECT * FROM gs_owners").all() as Owner[]);
}

function newerSchema(version: number): StorageUnavailableError {
  return new StorageUnavailableError(
    `the database was written by a later graph-serve: its tables have version ${version}, ` +
      `this release supports version ${MIGRATIONS.length}`,
    { hint: "upgrade graph-serve, or set checkpointer_uri to another file" },
  );
}
