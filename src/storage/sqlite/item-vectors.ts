/** Searches by similarity with the extension sqlite-vec, which compares the stored embeddings inside SQLite. */
import type { Database } from "better-sqlite3";
import type { JsonObject } from "../../models/common.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { dueYield } from "../../support/event-loop.js";
import { loadIfInstalled } from "../../support/optional-package.js";
import { MANAGERS, managerOf } from "../../support/package-manager.js";
import type { ItemPage, NearestQuery, RankedItem, VectorFormat } from "../contract/items.js";
import type { SqliteFile } from "./file.js";

/** Numbers that one statement compares: it blocks the event loop for about 10 ms. */
const NUMBERS_AT_ONCE = 1_000_000;
/** Most filtered items that one statement reads. */
const FILTERED_AT_ONCE = 200;
const FLOAT = Float32Array.BYTES_PER_ELEMENT;

export const LIVE_SQL = "(expires_at IS NULL OR expires_at > @at)";

/** Selects the items of a page; with `until`, no item after that one. */
interface Bounds extends Pick<ItemPage, "under" | "after"> {
  until?: ItemPage["after"];
}

// "/" is the character after ".", so this range holds everything that starts with the namespace and a dot. One lower
// and one upper bound, without OR, let SQLite seek the first item and stop after the last instead of reading all others.
export const boundsSql = ({ under, after, until }: Bounds): string =>
  [
    after ? "(namespace, key) > (@namespace, @key)" : under && "namespace >= @under",
    until ? "(namespace, key) <= (@lastNamespace, @lastKey)" : under && "namespace < @under || '/'",
    under && "(namespace = @under OR namespace > @under || '.')",
    LIVE_SQL,
  ]
    .filter(Boolean)
    .join(" AND ");

/** The values of `boundsSql`. */
export const boundsOf = ({ under, after, until, at }: Bounds & Pick<ItemPage, "at">) => ({
  at,
  ...(under && { under }),
  ...(after && { namespace: after.namespace, key: after.key }),
  ...(until && { lastNamespace: until.namespace, lastKey: until.key }),
});

/**
 * Load sqlite-vec from the project.
 * @returns its name and version, or the reason if it does not load
 */
export function loadSqliteVec(db: Database, cwd: string): { name: string } | { reason: string } {
  try {
    const vec = loadIfInstalled<{ getLoadablePath(): string }>("sqlite-vec", { cwd, setting: "store_index" });
    if (!vec) return { reason: `sqlite-vec is not installed: ${MANAGERS[managerOf(cwd)].add} sqlite-vec` };
    db.loadExtension(vec.getLoadablePath());
    return { name: `sqlite-vec ${String(db.prepare("SELECT vec_version()").pluck().get())}` };
  } catch (error) {
    return { reason: `sqlite-vec does not load: ${errorMessage(error)}` };
  }
}

/** An expression for the score; null for items without embeddings of the format. A vector of zeros has no cosine: 0. */
function scoreSql({ dims }: VectorFormat): string {
  const bytes = dims * FLOAT;
  const score = (vector: string) => `coalesce(1 - vec_distance_cosine(${vector}, @vector), 0)`;
  return `CASE WHEN substr(vectors, 1, 4) = @mark AND length(vectors) > 4 AND (length(vectors) - 4) % ${bytes} = 0 THEN
      CASE length(vectors) WHEN ${4 + bytes} THEN ${score("substr(vectors, 5)")}
      ELSE (WITH RECURSIVE starts (start) AS (VALUES (5) UNION ALL
          SELECT start + ${bytes} FROM starts WHERE start + ${bytes} < length(vectors))
        SELECT max(${score(`substr(vectors, start, ${bytes})`)}) FROM starts) END
    END`;
}

type Scored = Pick<RankedItem, "namespace" | "key"> & { score: number | null; value: string };

/** The most similar items. Compares them in parts, so that other requests are not blocked meanwhile. */
export async function nearestItems(
  file: SqliteFile,
  format: VectorFormat,
  { under, at, vector, passes, limit, offset }: NearestQuery,
): Promise<RankedItem[]> {
  const most = offset + limit;
  const size = Math.max(1, Math.ceil(NUMBERS_AT_ONCE / format.dims));
  const skip = (passes ? Math.min(size, FILTERED_AT_ONCE) : size) - 1;
  const values = { mark: format.mark, vector: bytesOf(vector), most };
  const matching = (row: Scored) => !passes || passes(JSON.parse(row.value) as JsonObject);
  let found: RankedItem[] = [];
  for (let after: ItemPage["after"]; ; await dueYield()) {
    const part = await file.read(() =>
      file.atOnce(() => {
        const last = file
          .statement(lastSql({ under, after }))
          .get({ ...boundsOf({ under, after, at }), skip }) as ItemPage["after"];
        const bounds = { under, after, until: last };
        const sql = partSql(format, bounds, passes && "value");
        const rows = file.statement(sql).all({ ...boundsOf({ ...bounds, at }), ...values }) as Scored[];
        return { last, rows };
      }),
    );
    found.push(...part.rows.filter(matching).map(rankedOf));
    // Items of earlier parts come first among equals, in the order of the table.
    found = found.sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity) || 0).slice(0, most);
    if (!part.last) return found.slice(offset);
    after = part.last;
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Selects the last item of a part; none if fewer are left. */
const lastSql = (bounds: Bounds): string =>
  `SELECT namespace, key FROM gs_items WHERE ${boundsSql(bounds)} ORDER BY namespace, key LIMIT 1 OFFSET @skip`;

const partSql = (format: VectorFormat, bounds: Bounds, reads: "value" | undefined): string =>
  `SELECT namespace, key${reads ? ", value" : ""}, ${scoreSql(format)} AS score FROM gs_items
    WHERE ${boundsSql(bounds)} ORDER BY score DESC NULLS LAST, namespace, key ${reads ? "" : "LIMIT @most"}`;

const rankedOf = ({ namespace, key, score }: Scored): RankedItem => ({
  namespace,
  key,
  score: score === null ? undefined : Math.max(-1, Math.min(1, score)),
});
