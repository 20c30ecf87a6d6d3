import { attemptOf, firstIdOf, type RunFrame } from "../../models/run-stream.js";
import { ConfigError } from "../../support/errors.js";
import { type ExplainError, guarded, storageError } from "../driver/errors.js";
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
import { type RedisClient, RedisConnection } from "./client.js";
import { explainRedis } from "./errors.js";
import { loadRedisDriver, redisLocation, prefixOf, type RedisDriver } from "./options.js";

/** Stream entries read per call; each entry is one appended part. */
const ENTRIES = 16;

/**
 * Each run has a stream and a hash. The id of a stream entry is `attempt-position` of its last frame, so that Redis itself
 * rejects new frames of an attempt that a later attempt has replaced. The hash holds information about the run and the
 * position of the next frame.
 *
 * KEYS: stream, hash. ARGV: attempt, position of the first frame, position of the oldest kept frame, number of frames,
 * time to live in milliseconds, 1 for the last part, about, the channels of the run, its end and the thread, then event
 * and data of each frame. Frames that are already stored are skipped: the writer retries if it lost the reply. Returns
 * the next position, or -1 if a later attempt exists.
 */
const APPEND = `
local at = redis.call('HMGET', KEYS[2], 'attempt', 'next', 'ended')
local attempt, from, first, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local known, next = tonumber(at[1] or 0), tonumber(at[2] or 0)
if known > attempt then return -1 end
if known == 0 then redis.call('DEL', KEYS[1]) end
if known < attempt or redis.call('EXISTS', KEYS[1]) == 0 then next = 0 end
if from > next and from > first then return next end
local hasMore = from + count > next
local isEnded = ARGV[6]
if known == attempt and next > 0 and at[3] == '1' then isEnded = '1' end
if hasMore then
  local id = ARGV[1] .. '-' .. string.format('%d', from + count - 1)
  redis.call('XADD', KEYS[1], id, unpack(ARGV, 11 + 2 * math.max(0, next - from)))
  next = from + count
end
local oldest = string.format('%d-0', math.max(1, attempt - ${MOST_ATTEMPTS - 1}))
if first > 0 then oldest = ARGV[1] .. '-' .. ARGV[3] end
redis.call('XTRIM', KEYS[1], 'MINID', oldest)
redis.call('HSET', KEYS[2], 'attempt', ARGV[1], 'next', next, 'about', ARGV[7], 'ended', isEnded)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
if hasMore or ARGV[6] == '1' then redis.call('PUBLISH', ARGV[8], '') end
if ARGV[6] == '1' then redis.call('PUBLISH', ARGV[9], '') end
if known < attempt then redis.call('PUBLISH', ARGV[10], '') end
return next
`;

/** Frames in Redis Streams, with hints over Pub/Sub channels. Requires Redis 6.2 or newer, or Valkey. */
export class RedisFrames implements FrameBus {
  readonly kind = "redis";
  readonly paceMs = 5;
  readonly pollMs = 2_000;
  readonly location: string;
  readonly #explain: ExplainError;
  readonly #prefix: string;
  readonly #calls: RedisConnection;
  readonly #hints: Hints;
  readonly #lossListeners = new Set<() => void>();

  private constructor(
    driver: RedisDriver,
    uri: string,
    place: { location: string; host: string },
    prefix: string,
  ) {
    this.location = place.location;
    this.#explain = explainRedis(place.host);
    this.#prefix = `${prefix}frames:`;
    let isFirst = true;
    this.#calls = RedisConnection.start(driver, uri, () => {
      if (!isFirst) for (const listener of this.#lossListeners) listener();
      isFirst = false;
    });
    this.#hints = new Hints(driver, uri);
  }

  /**
   * @throws ConfigError if the URI or the key prefix is invalid (`config_invalid`)
   * @throws StorageUnavailableError if the package redis cannot be loaded (`storage_unavailable`)
   */
  static async open(uri: string, keyPrefix: unknown): Promise<RedisFrames> {
    const place = redisLocation(uri);
    if (!place)
      throw new ConfigError("stream_uri is not a valid Redis URI", {
        hint: "write redis://user:password@host:6379/0",
      });
    return new RedisFrames(await loadRedisDriver("stream redis"), uri, place, prefixOf(keyPrefix));
  }

  async append(parts: readonly FramePart[]): Promise<(number | undefined)[]> {
    try {
      const { client } = this.#calls;
      // The driver pipelines commands issued in the same tick.
      const sent: Promise<unknown>[] = [];
      for (const { run_id, attempt, about, first, from, frames, is_last } of parts) {
        const { stream, hash } = this.#keys(run_id);
        const [base, prefix] = [firstIdOf(attempt), this.#prefix];
        const command = [
          ...["EVAL", APPEND, "2", stream, hash],
          ...[String(attempt), String(from - base), String(first - base), String(frames.length)],
          ...[String(is_last ? ENDED_MS : OPEN_MS), is_last ? "1" : "0", JSON.stringify(about)],
          ...[`${prefix}run:${run_id}`, `${prefix}end:${run_id}`, `${prefix}thread:${about.thread_id}`],
        ];
        for (const { event, data } of frames) command.push(event, data);
        sent.push(client.sendCommand(command));
      }
      const nexts: (number | undefined)[] = [];
      for (const [index, place] of (await Promise.all(sent)).entries())
        nexts.push(Number(place) < 0 ? undefined : firstIdOf(parts[index]?.attempt ?? 1) + Number(place));
      return nexts;
    } catch (error) {
      throw storageError(error, this.#explain);
    }
  }

  async read(runId: string, after: number): Promise<FramePage | undefined> {
    const { stream, hash } = this.#keys(runId);
    return guarded(this.#explain, async () => {
      const { client } = this.#calls;
      const start = after < 0 ? "-" : `(${attemptOf(after)}-${after - firstIdOf(attemptOf(after))}`;
      const fields = ["attempt", "next", "about", "ended"];
      const [entries, known] = (await Promise.all([
        client.sendCommand(["XRANGE", stream, start, "+", "COUNT", String(ENTRIES)]),
        client.sendCommand(["HMGET", hash, ...fields]),
      ])) as unknown as [Entry[], (Buffer | null)[]];
      const [attempt, next, about, ended] = known.map((value) => value?.toString());
      if (attempt === undefined || next === undefined || about === undefined) return undefined;
      return {
        about: JSON.parse(about) as FramesAbout,
        frames: entries.flatMap(framesOf).filter(({ id }) => id > after),
        next: firstIdOf(Number(attempt)) + Number(next),
        is_ended: ended === "1",
      };
    });
  }

  listen(name: HintName, listener: () => void): () => void {
    return this.#hints.listen(this.#prefix + name, listener);
  }

  onLoss(listener: () => void): void {
    this.#lossListeners.add(listener);
  }

  async close(): Promise<void> {
    this.#calls.close();
    this.#hints.close();
  }

  /** The run id is in braces, so that a cluster stores both keys in the same slot. */
  #keys(runId: string): { stream: string; hash: string } {
    return { stream: `${this.#prefix}{${runId}}`, hash: `${this.#prefix}{${runId}}:about` };
  }
}

/** Id and fields of a stream entry: event and data of each frame, alternating. */
type Entry = [Buffer, Buffer[]];

function framesOf([entryId, fields]: Entry): RunFrame[] {
  const [attempt, last] = entryId.toString().split("-").map(Number);
  const count = fields.length / 2;
  const first = firstIdOf(attempt ?? 1) + (last ?? 0) - count + 1;
  return Array.from({ length: count }, (_, index) => ({
    id: first + index,
    event: String(fields[2 * index]),
    data: String(fields[2 * index + 1]),
  }));
}

interface Channel {
  listeners: Set<() => void>;
  notify: () => void;
}

function channelOf(): Channel {
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  return { listeners, notify };
}

/** Pub/Sub subscriptions of this process, on a separate connection that is opened for the first listener. */
class Hints {
  readonly #driver: RedisDriver;
  readonly #uri: string;
  readonly #channels = new Map<string, Channel>();
  #connection: RedisConnection | undefined;
  #client: RedisClient | undefined;

  constructor(driver: RedisDriver, uri: string) {
    this.#driver = driver;
    this.#uri = uri;
  }

  listen(name: string, listener: () => void): () => void {
    const channel = this.#channels.get(name) ?? channelOf();
    const { listeners, notify } = channel;
    listeners.add(listener);
    if (!this.#channels.has(name)) {
      this.#channels.set(name, channel);
      this.#subscribe(name, channel);
    }
    this.#connection ??= RedisConnection.start(this.#driver, this.#uri, (client) => {
      this.#client = client;
      for (const [each, itsChannel] of this.#channels) this.#subscribe(each, itsChannel);
    });
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#channels.get(name) !== channel) return;
      this.#channels.delete(name);
      // Without the listener, the driver would also drop subscriptions made before the server replies.
      if (this.#client?.isReady) this.#client.unsubscribe(name, notify).catch(() => undefined);
    };
  }

  close(): void {
    this.#connection?.close();
  }

  /** Failures are ignored: listeners also poll, and the next connection subscribes again. */
  #subscribe(name: string, { notify }: Channel): void {
    if (!this.#client?.isReady) return;
    // Notify once subscribed: earlier hints were missed.
    this.#client.subscribe(name, notify).then(notify, () => undefined);
  }
}
