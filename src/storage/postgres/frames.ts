import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { attemptOf, firstIdOf, type RunFrame } from "../../models/run-stream.js";
import { ConfigError } from "../../support/errors.js";
import {
  ENDED_MS,
  type FrameBus,
  type FramePage,
  type FramePart,
  type FramesAbout,
  type HintName,
  MOST_ATTEMPTS,
  OPEN_MS,
} from "../contract/frame-bus.js";
import type { StorageOptions } from "../contract/storage.js";
import { explainPostgres } from "./errors.js";
import {
  addressOf,
  CONNECT_TIMEOUT,
  lockKey,
  type PostgresDriver,
  type PostgresOptions,
  readPostgresOptions,
  tableIn,
} from "./options.js";
import { PostgresPool } from "./pool.js";

/** Maximum number of connections, in addition to the one that listens for hints. */
const POOL_SIZE = 3;
/** Maximum number of parts per read of a run. */
const MAX_PARTS = 16;
/** Maximum number of reads per statement. */
const MAX_READS = 100;
/** Maximum length of a hint, in characters: the server accepts less than 8000 bytes. */
const MAX_HINT_LENGTH = 7_500;
const EVERYTHING = "*";
const SWEEP_MS = 60_000;
const MAX_BACKOFF_MS = 2_000;

type Driver = Pick<PostgresDriver, "Pool" | "Client">;

/** A pending call of `read`. */
interface PendingRead {
  runId: string;
  after: number;
  resolve: (page: FramePage | undefined) => void;
  reject: (error: unknown) => void;
}

interface PartRow {
  ask: number;
  attempt: number;
  next: number;
  about: FramesAbout;
  ended: boolean;
  of_attempt: number | null;
  start: number;
  frames: [string, string][];
}

/**
 * Frames in unlogged tables: they bypass the write-ahead log, and a crash of the server empties them. A part is one row, so
 * one statement and one commit store the frames of all runs of a process. The hint is sent by the same commit. Hints
 * arrive through LISTEN. Behind a pooler that does not forward them, readers poll more often.
 */
export class PostgresFrames implements FrameBus {
  readonly kind = "postgres";
  /** At most 20 statements per second, and as many hints: the server serializes commits that send notifications. */
  readonly paceMs = 50;
  readonly location: string;
  readonly #pool: PostgresPool;
  readonly #sql: ReturnType<typeof statements>;
  readonly #hints: Hints;
  readonly #sweeping: NodeJS.Timeout;
  readonly #lossListeners = new Set<() => void>();
  #tables: Promise<unknown> | undefined;
  #pending: PendingRead[] = [];
  #isReading = false;
  #isAway = false;

  private constructor(driver: Driver, options: PostgresOptions) {
    const address = { connectionString: options.uri };
    const { server, database } = addressOf(driver, address, "stream_uri");
    this.location = `postgresql://${server}/${database}`;
    this.#pool = new PostgresPool(driver, { ...options, poolSize: POOL_SIZE }, explainPostgres(server));
    this.#sql = statements(options.schema);
    this.#hints = new Hints(
      () => new driver.Client({ ...address, connectionTimeoutMillis: CONNECT_TIMEOUT, keepAlive: true }),
      `gs_frames_${lockKey(options.schema).replace("-", "m")}`,
      (channel, text) => this.#pool.queryOnce("SELECT pg_notify($1, $2)", [channel, text]),
      () => this.#notifyLoss(),
    );
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_MS).unref();
  }

  /** @throws ConfigError (`config_invalid`) */
  static async open(
    uri: string,
    checkpointer_options: StorageOptions["checkpointer_options"],
  ): Promise<PostgresFrames> {
    const address = { checkpointer_scheme: "postgres", checkpointer_uri: uri, max_queued_runs: 0 };
    const options = readPostgresOptions({ ...address, checkpointer_options });
    return new PostgresFrames(await loadDriver(), options);
  }

  get pollMs(): number {
    return this.#hints.isListening ? 2_000 : 250;
  }

  async append(parts: readonly FramePart[]): Promise<(number | undefined)[]> {
    const rows = await this.#query<{ part: number; next: number | null }>(this.#sql.append, [
      JSON.stringify(parts.map(rowOf)),
      this.#hints.channel,
      hintOf(parts),
    ]);
    const next = new Map(rows.map(({ part, next }) => [part, next]));
    return parts.map(({ attempt }, index) => {
      const offset = next.get(index) ?? null;
      return offset === null ? undefined : firstIdOf(attempt) + offset;
    });
  }

  /** Reads that are requested while a statement is in flight share the next statement. */
  read(runId: string, after: number): Promise<FramePage | undefined> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ runId, after, resolve, reject });
      void this.#readNext();
    });
  }

  listen(name: HintName, listener: () => void): () => void {
    return this.#hints.listen(name, listener);
  }

  onLoss(listener: () => void): void {
    this.#lossListeners.add(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#hints.close();
    await this.#pool.close();
  }

  async #readNext(): Promise<void> {
    if (this.#isReading || this.#pending.length === 0) return;
    this.#isReading = true;
    const reads = this.#pending.splice(0, MAX_READS);
    try {
      const pages = await this.#read(reads);
      reads.forEach(({ resolve }, index) => resolve(pages[index]));
    } catch (error) {
      for (const { reject } of reads) reject(error);
    } finally {
      this.#isReading = false;
      void this.#readNext();
    }
  }

  async #read(reads: readonly PendingRead[]): Promise<(FramePage | undefined)[]> {
    const attempts = reads.map(({ after }) => attemptOf(after));
    const offsets = reads.map(({ after }, index) => after - firstIdOf(attempts[index] ?? 1));
    const rows = await this.#query<PartRow>(this.#sql.read, [
      reads.map(({ runId }) => runId),
      attempts,
      offsets,
    ]);
    return reads.map(({ after }, index) => {
      const own = rows.filter(({ ask }) => ask === index + 1);
      const [first] = own;
      if (!first) return undefined;
      const frames = own.reduce((frames: RunFrame[], row) => {
        const last = frames.at(-1)?.id ?? after;
        // A writer that got no answer stores a part again, possibly longer, so parts can overlap.
        return frames.concat(framesOf(row).filter(({ id }) => id > last));
      }, []);
      const next = firstIdOf(first.attempt) + first.next;
      return { about: first.about, frames, next, is_ended: first.ended };
    });
  }

  /** Creates the tables before the first statement, and again after an error. */
  async #query<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      this.#tables ??= this.#pool.transaction((query) => query(this.#sql.tables));
      await this.#tables;
      const rows = await this.#pool.query<Row>(text, values);
      if (this.#isAway) this.#notifyLoss();
      this.#isAway = false;
      return rows;
    } catch (error) {
      this.#tables = undefined;
      this.#isAway = true;
      throw error;
    }
  }

  #notifyLoss(): void {
    for (const listener of this.#lossListeners) listener();
  }

  async #sweep(): Promise<void> {
    await this.#query(this.#sql.sweep, []).catch(() => undefined);
  }
}

async function loadDriver(): Promise<Driver> {
  try {
    const { default: pg } = await import("pg");
    return { Client: pg.Client, Pool: pg.Pool };
  } catch (cause) {
    throw new ConfigError("stream postgres needs the package pg, which does not load", {
      hint: "run: npm install pg",
      cause,
    });
  }
}

/** The row of a part. `first` and `start` are offsets within the attempt. */
function rowOf({ run_id, attempt, about, first, from, frames, is_last }: FramePart, part: number) {
  const base = firstIdOf(attempt);
  return {
    ...{ part, run_id, attempt, about, is_last },
    ...{ first: first - base, start: from - base, count: frames.length },
    frames: frames.map(({ event, data }) => [event, data]),
  };
}

function framesOf({ of_attempt, start, frames }: PartRow): RunFrame[] {
  if (of_attempt === null) return [];
  const first = firstIdOf(of_attempt) + start;
  return frames.map(([event, data], index) => ({ id: first + index, event, data }));
}

/** The names that readers may be waiting for; empty if nothing is new. */
function hintOf(parts: readonly FramePart[]): string {
  const names = parts.flatMap(({ run_id, attempt, about, from, frames, is_last }): HintName[] => [
    ...(frames.length > 0 || is_last ? [`run:${run_id}` as const] : []),
    ...(is_last ? [`end:${run_id}` as const] : []),
    ...(from === firstIdOf(attempt) ? [`thread:${about.thread_id}` as const] : []),
  ]);
  const text = names.join();
  return text.length > MAX_HINT_LENGTH ? EVERYTHING : text;
}

/**
 * `gs_frame_runs` has one row per run, with the offset of its next frame. `gs_frames` has the parts, by attempt and offset
 * of the last frame. If two processes write for one run, the later attempt wins. Within an attempt, a statement that timed
 * out may be executed after its retry; it does not reduce `next`.
 */
function statements(schema: string) {
  const [runs, frames] = [tableIn(schema, "gs_frame_runs"), tableIn(schema, "gs_frames")];
  const ms = (time: number) => `interval '${time} milliseconds'`;
  return {
    tables: `SELECT pg_advisory_xact_lock(${lockKey("frames", schema)});
      CREATE SCHEMA IF NOT EXISTS "${schema}";
      CREATE UNLOGGED TABLE IF NOT EXISTS ${runs} (
        run_id text COLLATE "C" PRIMARY KEY, attempt integer NOT NULL, next integer NOT NULL,
        about json NOT NULL, ended boolean NOT NULL, expires_at timestamptz NOT NULL
      );
      CREATE UNLOGGED TABLE IF NOT EXISTS ${frames} (
        run_id text COLLATE "C", attempt integer, last integer, start integer NOT NULL, frames json NOT NULL,
        PRIMARY KEY (run_id, attempt, last)
      )`,
    append: `WITH asked AS MATERIALIZED (
        SELECT p.*, r.attempt AS known, CASE WHEN r.attempt = p.attempt THEN r.next ELSE 0 END AS wanted
        FROM json_to_recordset($1::json) AS p (part integer, run_id text, attempt integer, about json,
          is_last boolean, first integer, start integer, count integer, frames json)
        LEFT JOIN ${runs} AS r ON r.run_id = p.run_id
      ), fits AS MATERIALIZED (
        SELECT * FROM asked WHERE (known IS NULL OR known <= attempt) AND (start <= wanted OR start <= first)
      ), kept AS (
        INSERT INTO ${runs} AS r (run_id, attempt, next, about, ended, expires_at)
        SELECT run_id, attempt, greatest(wanted, start + count), about, is_last,
          now() + CASE WHEN is_last THEN ${ms(ENDED_MS)} ELSE ${ms(OPEN_MS)} END
        FROM fits ORDER BY run_id
        ON CONFLICT (run_id) DO UPDATE SET attempt = excluded.attempt,
          next = CASE WHEN r.attempt = excluded.attempt THEN greatest(r.next, excluded.next) ELSE excluded.next END,
          ended = excluded.ended OR (r.ended AND r.attempt = excluded.attempt AND r.next > 0),
          about = excluded.about, expires_at = excluded.expires_at
        WHERE r.attempt <= excluded.attempt RETURNING run_id, next
      ), stored AS (
        INSERT INTO ${frames} (run_id, attempt, last, start, frames)
        SELECT run_id, attempt, start + count - 1, start, frames FROM fits JOIN kept USING (run_id)
        WHERE start + count > wanted ON CONFLICT DO NOTHING
      ), gone AS (
        DELETE FROM ${frames} AS f USING fits JOIN kept USING (run_id)
        WHERE f.run_id = fits.run_id
          AND (f.attempt <= fits.attempt - ${MOST_ATTEMPTS}
            OR (fits.first > 0 AND (f.attempt, f.last) < (fits.attempt, fits.first)))
      ) SELECT part, CASE WHEN known > attempt THEN NULL ELSE coalesce(kept.next, wanted) END AS next,
        (SELECT pg_notify($2, $3) WHERE $3 <> '')::text AS hinted
      FROM asked LEFT JOIN kept USING (run_id)`,
    read: `SELECT a.ask::integer, r.attempt, r.next, r.about, r.ended, f.attempt AS of_attempt, f.start, f.frames
      FROM unnest($1::text[], $2::integer[], $3::integer[]) WITH ORDINALITY AS a (run_id, attempt, place, ask)
      JOIN ${runs} AS r ON r.run_id = a.run_id AND r.expires_at > now()
      LEFT JOIN LATERAL (
        SELECT * FROM ${frames} AS f WHERE f.run_id = a.run_id AND (f.attempt, f.last) > (a.attempt, a.place)
        ORDER BY f.attempt, f.last LIMIT ${MAX_PARTS}
      ) AS f ON true ORDER BY a.ask, f.attempt, f.last`,
    sweep: `WITH gone AS (DELETE FROM ${runs} WHERE expires_at < now() RETURNING run_id)
      DELETE FROM ${frames} AS f USING gone WHERE f.run_id = gone.run_id`,
  };
}

/** Hints of all processes, on a dedicated connection that is reopened whenever it is lost. */
class Hints {
  readonly channel: string;
  /** Whether hints arrive: a pooler may accept LISTEN without forwarding notifications. */
  isListening = false;
  readonly #create: () => Client;
  readonly #send: (channel: string, text: string) => Promise<unknown>;
  readonly #onLoss: () => void;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #self = `self:${crypto.randomUUID()}`;
  #client: Client | undefined;
  #isClosed = false;

  constructor(
    create: () => Client,
    channel: string,
    send: (channel: string, text: string) => Promise<unknown>,
    onLoss: () => void,
  ) {
    this.#create = create;
    this.channel = channel;
    this.#send = send;
    this.#onLoss = onLoss;
    void this.#keepConnected();
  }

  listen(name: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#client?.end().catch(() => undefined);
  }

  async #keepConnected(): Promise<void> {
    for (let failures = 0, isFirst = true; !this.#isClosed;) {
      try {
        const { over } = await this.#connect();
        if (!isFirst) this.#onLoss();
        isFirst = false;
        failures = 0;
        await over;
        if (!this.#isClosed) this.#onLoss();
      } catch {
        failures += 1;
      }
      this.isListening = false;
      await sleep(Math.min(50 * 2 ** failures, MAX_BACKOFF_MS), undefined, { ref: false });
    }
  }

  /** Connect and listen. `over` resolves when the connection ends. */
  async #connect(): Promise<{ over: Promise<void> }> {
    const client = this.#create();
    this.#client = client;
    const over = new Promise<void>((resolve) => {
      client.on("error", () => resolve());
      client.on("end", () => resolve());
    });
    client.on("notification", ({ payload = "" }) => this.#dispatch(payload));
    try {
      await client.connect();
      await client.query(`LISTEN "${this.channel}"`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    this.#send(this.channel, this.#self).catch(() => undefined);
    // Hints may have been lost while there was no connection.
    this.#dispatch(EVERYTHING);
    return { over };
  }

  #dispatch(payload: string): void {
    if (payload === this.#self) this.isListening = true;
    const names = payload === EVERYTHING ? [...this.#listeners.keys()] : payload.split(",");
    for (const name of names) for (const listener of this.#listeners.get(name) ?? []) listener();
  }
}
