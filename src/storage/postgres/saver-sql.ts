/** SQL of the checkpointer, on the tables of the official PostgresSaver. `s` is the name of the schema. */
import { TASKS } from "@langchain/langgraph-checkpoint";
import { OWN_CHANNELS } from "../../models/channels.js";
import { tableIn } from "./options.js";

/** A row of `readCheckpoints`: a checkpoint, a channel value, a pending write, or a pending send of the old format. */
export interface CheckpointRow {
  kind: "checkpoint" | "value" | "write" | "send";
  thread_id: string;
  checkpoint_ns: string;
  /** The checkpoint itself, or that of the write or send; null for a value. */
  checkpoint_id: string | null;
  /** Position in the page, or of the write in its task. */
  place: number | null;
  /** Channel of a value or a write. */
  channel: string | null;
  /** Version of a value, task of a write or send, parent of a checkpoint. */
  detail: string | null;
  /** Serialization type of `blob`; for a checkpoint, its metadata as JSON. */
  type: string | null;
  /** JSON of a checkpoint. */
  checkpoint: string | null;
  blob: Buffer | null;
}

/**
 * Reads a page of checkpoints with their values and writes. The page is selected first. Values are then looked up one at a
 * time by their full key, each version once even if several checkpoints share it; a join would be planned over all values
 * of the thread. `needed` limits the channels whose values are read; `keys` is the placeholder of a parameter.
 */
export function readCheckpoints(
  s: string,
  where: string,
  limit: string,
  needed?: { own: boolean; keys: string },
): string {
  const own = needed?.own ? `key ~ '${OWN_CHANNELS.source}' OR ` : "";
  const ofChannels = needed ? `WHERE ${own}key = ANY(${needed.keys}::text[])` : "";
  const [blobs, writes] = [tableIn(s, "checkpoint_blobs"), tableIn(s, "checkpoint_writes")];
  return `WITH page AS MATERIALIZED (
      SELECT * FROM ${tableIn(s, "checkpoints")} ${where} ORDER BY checkpoint_id DESC LIMIT ${limit}
    ), wanted AS (
      SELECT DISTINCT thread_id, checkpoint_ns, key AS channel, value AS version
      FROM page CROSS JOIN LATERAL jsonb_each_text(checkpoint -> 'channel_versions')
      ${ofChannels}
    )
    SELECT 'checkpoint' AS kind, thread_id, checkpoint_ns, checkpoint_id,
      (row_number() OVER (ORDER BY checkpoint_id DESC))::integer AS place, NULL AS channel,
      parent_checkpoint_id AS detail, metadata::text AS type, checkpoint::text AS checkpoint, NULL::bytea AS blob
    FROM page
    UNION ALL
    SELECT 'value', thread_id, checkpoint_ns, NULL, NULL, channel, version, b.type, NULL, b.blob
    FROM wanted AS v CROSS JOIN LATERAL (
      SELECT type, blob FROM ${blobs} AS b WHERE b.thread_id = v.thread_id
        AND b.checkpoint_ns = v.checkpoint_ns AND b.channel = v.channel AND b.version = v.version LIMIT 1
    ) AS b WHERE b.type <> 'empty'
    UNION ALL
    SELECT 'write', thread_id, checkpoint_ns, checkpoint_id, w.idx, w.channel, w.task_id, w.type, NULL, w.blob
    FROM page AS p CROSS JOIN LATERAL (
      SELECT * FROM ${writes} AS w WHERE w.thread_id = p.thread_id
        AND w.checkpoint_ns = p.checkpoint_ns AND w.checkpoint_id = p.checkpoint_id OFFSET 0
    ) AS w (_t, _n, _c, task_id, idx, channel, type, blob)
    UNION ALL
    SELECT 'send', thread_id, checkpoint_ns, parent_checkpoint_id, w.idx, w.channel, w.task_id, w.type, NULL, w.blob
    FROM page AS p CROSS JOIN LATERAL (
      SELECT * FROM ${writes} AS w WHERE w.thread_id = p.thread_id
        AND w.checkpoint_ns = p.checkpoint_ns AND w.checkpoint_id = p.parent_checkpoint_id
        AND w.channel = '${TASKS}' OFFSET 0
    ) AS w (_t, _n, _c, task_id, idx, channel, type, blob) WHERE (p.checkpoint ->> 'v')::numeric < 4`;
}

/** Extracts one value from the parameter that holds the bytes of all values; null for an empty slot. */
const SLICE = "CASE WHEN length >= 0 THEN substring($5::bytea FROM start + 1 FOR length) END";

/** Entries without a run or edit, of a run that its holder still has, or of an edit whose thread is unchanged. */
const IS_HELD =
  "(run IS NULL OR run IN (SELECT run_id FROM held)) AND (edit IS NULL OR thread IN (SELECT thread_id FROM edited))";

/**
 * Stores checkpoints, values and writes, all or nothing. Existing rows are kept, except for checkpoints and for writes
 * to be replaced.
 *
 * - Entries of a run are skipped if its holder no longer has it. Rows of held runs are locked until the commit, so that a
 *   process that takes over a run finds everything its previous holder stored.
 * - Entries of an edit are skipped unless the row of the thread still has the version that was read under the lease. The
 *   edit creates a new version, so one of two concurrent edits is refused even if both lost their locks.
 * - A checkpoint is skipped if its namespace has a newer one than its writer knows.
 *
 * Parameters: JSON arrays of checkpoints, values, writes to keep and writes to replace (see ./writer.ts); the bytes of
 * values and writes; a JSON array of runs with their holders; a JSON array of edits. Returns a row for each held run, each
 * stored edit, with the new version of its thread, and each stored checkpoint.
 */
export function storeBatch(s: string): string {
  const writes = (parameter: string, conflict: string) => `
    INSERT INTO ${tableIn(s, "checkpoint_writes")}
      (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    SELECT thread, ns, id, task, idx, channel, type, ${SLICE}
    FROM json_to_recordset(${parameter}::json) AS w (run text, edit text, thread text, ns text, id text, task text,
      idx integer, channel text, type text, start integer, length integer)
    WHERE ${IS_HELD}
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO ${conflict}`;
  return `WITH held AS MATERIALIZED (
      SELECT r.run_id FROM ${tableIn(s, "gs_runs")} AS r
      JOIN json_to_recordset($6::json) AS h (run_id text, owner text, attempt integer)
        ON r.run_id = h.run_id AND r.owner = h.owner AND r.attempt = h.attempt
      WHERE r.status = 'running' ORDER BY r.run_id FOR SHARE OF r
    ), edited AS (
      UPDATE ${tableIn(s, "gs_threads")} AS t SET updated_at = t.updated_at
      FROM json_to_recordset($7::json) AS e (thread text, version text)
      WHERE t.thread_id = e.thread AND t.xmin::text = e.version
      RETURNING t.thread_id
    ), stored_values AS (
      INSERT INTO ${tableIn(s, "checkpoint_blobs")} (thread_id, checkpoint_ns, channel, version, type, blob)
      SELECT thread, ns, channel, version, type, ${SLICE}
      FROM json_to_recordset($2::json) AS v (run text, edit text, thread text, ns text, channel text, version text, type text,
        start integer, length integer)
      WHERE ${IS_HELD}
      ON CONFLICT DO NOTHING
    ), kept_writes AS (${writes("$3", "NOTHING")}
    ), replaced_writes AS (${writes("$4", "UPDATE SET channel = excluded.channel, type = excluded.type, blob = excluded.blob")}
    ), stored_checkpoints AS (
      INSERT INTO ${tableIn(s, "checkpoints")}
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
      SELECT thread, ns, id, parent, checkpoint, metadata
      FROM json_to_recordset($1::json) AS c
        (run text, edit text, known text, thread text, ns text, id text, parent text, checkpoint jsonb, metadata jsonb)
      WHERE ${IS_HELD} AND (known IS NULL OR NOT EXISTS (
        SELECT 1 FROM ${tableIn(s, "checkpoints")} AS k
        WHERE k.thread_id = c.thread AND k.checkpoint_ns = c.ns AND k.checkpoint_id > c.known))
      ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id)
      DO UPDATE SET checkpoint = excluded.checkpoint, metadata = excluded.metadata
      RETURNING checkpoint_id
    )
    SELECT 'run' AS kind, run_id AS id, NULL AS version FROM held
    UNION ALL SELECT 'edit', thread_id, pg_current_xact_id()::xid::text FROM edited
    UNION ALL SELECT 'checkpoint', checkpoint_id, NULL FROM stored_checkpoints`;
}

/** A WITH clause that deletes all checkpoints of a thread. Parameter 1 is the thread id. */
export const deleteCheckpoints = (s: string): string => `WITH ${checkpointDeletions(s, "true")}`;

/** The subqueries of `deleteCheckpoints`, on a condition. */
export function checkpointDeletions(s: string, condition: string): string {
  const remove = (table: string) => `DELETE FROM ${tableIn(s, table)} WHERE thread_id = $1 AND ${condition}`;
  return `blobs AS (${remove("checkpoint_blobs")}), writes AS (${remove("checkpoint_writes")}),
    checkpoints AS (${remove("checkpoints")})`;
}

/** Namespaces of the checkpoints of a thread. Parameter 1 is the thread id. */
export const namespaces = (s: string): string =>
  `SELECT DISTINCT checkpoint_ns FROM ${tableIn(s, "checkpoints")} WHERE thread_id = $1`;

/**
 * SQL of `WrapOptions.keepOnly`. Parameters: thread id; namespaces and ids of the checkpoints to keep; namespaces and ids
 * of the newest checkpoints that were read.
 */
export function keepCheckpoints(s: string): string {
  const isDeleted = (
    id: string,
  ) => `((checkpoint_ns, ${id}) NOT IN (SELECT * FROM unnest($2::text[], $3::text[]))
      AND EXISTS (SELECT 1 FROM unnest($4::text[], $5::text[]) AS newest (ns, id)
        WHERE newest.ns = checkpoint_ns AND newest.id >= ${id}))`;
  return `WITH kept AS MATERIALIZED (
      SELECT checkpoint_ns, checkpoint -> 'channel_versions' AS versions FROM ${tableIn(s, "checkpoints")}
      WHERE thread_id = $1 AND NOT ${isDeleted("checkpoint_id")}
    ), blobs AS (
      DELETE FROM ${tableIn(s, "checkpoint_blobs")} AS b WHERE thread_id = $1 AND NOT EXISTS (
        SELECT 1 FROM kept WHERE kept.checkpoint_ns = b.checkpoint_ns AND kept.versions ->> b.channel = b.version)
    ), writes AS (
      DELETE FROM ${tableIn(s, "checkpoint_writes")} WHERE thread_id = $1 AND ${isDeleted("checkpoint_id")}
    ), checkpoints AS (
      DELETE FROM ${tableIn(s, "checkpoints")} WHERE thread_id = $1 AND ${isDeleted("checkpoint_id")}
    )
    UPDATE ${tableIn(s, "checkpoints")} SET parent_checkpoint_id = NULL
    WHERE thread_id = $1 AND NOT ${isDeleted("checkpoint_id")} AND ${isDeleted("parent_checkpoint_id")}`;
}

/** The version of a thread's row; every update changes it. Parameter 1 is the thread id. */
export const threadVersion = (s: string): string =>
  `SELECT xmin::text AS version FROM ${tableIn(s, "gs_threads")} WHERE thread_id = $1`;
