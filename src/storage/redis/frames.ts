import { attemptOf, firstIdOf, type RunFrame } from "../../models/run-stream.js";
import { ConfigError } from "../../support/errors.js";
import { type ExplainError, guarded } from "../driver/errors.js";
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

/** Entries of a stream that are read at once; each is a part as it was written. */
const ENTRIES = 16;

/**
 * A stream and a hash a run. An entry's id is `attempt-place` of its last frame, so that Redis itself refuses frames of
 * an attempt that another has followed, and keeps those that it had; the hash says what is known of the run, and which frame comes next.
 *
 * KEYS: stream, hash. ARGV: attempt, place of the first frame, of the oldest kept, frames, time to live, 1 at the end,
 * about, channels of the run, its end and the thread, then event and data of each frame. Frames that are there already
 * are left out: their writer did not hear so. Answers with the place that comes next, or -1.
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

/** Frames in Redis Streams; hints by its channels. Redis 6.2 or newer, or Valkey. */
export class RedisFrames implements FrameBus {
  readonly kind = "redis";
  readonly paceMs = 5;
  readonly pollMs = 2_000;
  readonly location: string;
  readonly #explain: ExplainError;
  readonly #prefix: string;
  readonly #calls: RedisConnection;
  readonly #hints: Hints;
  readonly #lost = new Set<() => void>();

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
      if (!isFirst) for (const hear of this.#lost) hear();
      isFirst = false;
    });
    this.#hints = new Hints(driver, uri);
  }

  /** @throws ConfigError (`config_invalid`), StorageUnavailableError without the package (`storage_unavailable`) */
  static async open(uri: string, keyPrefix: unknown): Promise<RedisFrames> {
    const place = redisLocation(uri);
    if (!place)
      throw new ConfigError("stream_uri is not a valid URI of Redis", {
        hint: "write redis://user:password@host:6379/0",
      });
    return new RedisFrames(await loadRedisDriver("stream redis"), uri, place, prefixOf(keyPrefix));
  }

  async append(parts: readonly FramePart[]): Promise<(number | undefined)[]> {
    return guarded(this.#explain, async () => {
      const { client } = this.#calls;
      // The driver sends what is asked for together in one go.
      const places = await Promise.all(parts.map((part) => client.sendCommand(this.#appending(part))));
      return places.map((place, index) =>
        Number(place) < 0 ? undefined : firstIdOf(parts[index]?.attempt ?? 1) + Number(place),
      );
    });
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

  listen(name: HintName, hear: () => void): () => void {
    return this.#hints.listen(this.#prefix + name, hear);
  }

  onLoss(hear: () => void): void {
    this.#lost.add(hear);
  }

  async close(): Promise<void> {
    this.#calls.close();
    this.#hints.close();
  }

  #appending({ run_id, attempt, about, first, from, frames, is_last }: FramePart): string[] {
    const { stream, hash } = this.#keys(run_id);
    const base = firstIdOf(attempt);
    return [
      ...["EVAL", APPEND, "2", stream, hash],
      ...[String(attempt), String(from - base), String(first - base), String(frames.length)],
      ...[String(is_last ? ENDED_MS : OPEN_MS), is_last ? "1" : "0", JSON.stringify(about)],
      ...[`run:${run_id}`, `end:${run_id}`, `thread:${about.thread_id}`].map((name) => this.#prefix + name),
      ...frames.flatMap(({ event, data }) => [event, data]),
    ];
  }

  /** In braces, so that a cluster keeps both together. */
  #keys(runId: string): { stream: string; hash: string } {
    return { stream: `${this.#prefix}{${runId}}`, hash: `${this.#prefix}{${runId}}:about` };
  }
}

/** Id and fields: event and data of each frame, by turns. */
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
  tell: () => void;
}

function channelOf(): Channel {
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const hear of listeners) hear();
  };
  return { listeners, tell };
}

/** Channels that somebody here listens to, on a connection of their own that is made for the first. */
class Hints {
  readonly #driver: RedisDriver;
  readonly #uri: string;
  readonly #heard = new Map<string, Channel>();
  #connection: RedisConnection | undefined;
  #client: RedisClient | undefined;

  constructor(driver: RedisDriver, uri: string) {
    this.#driver = driver;
    this.#uri = uri;
  }

  listen(channel: string, hear: () => void): () => void {
    const heard = this.#heard.get(channel) ?? channelOf();
    const { listeners, tell } = heard;
    listeners.add(hear);
    if (!this.#heard.has(channel)) {
      this.#heard.set(channel, heard);
      this.#subscribe(channel, heard);
    }
    this.#connection ??= RedisConnection.start(this.#driver, this.#uri, (client) => {
      this.#client = client;
      for (const [name, each] of this.#heard) this.#subscribe(name, each);
    });
    return () => {
      listeners.delete(hear);
      if (listeners.size > 0 || this.#heard.get(channel) !== heard) return;
      this.#heard.delete(channel);
      // By name alone, the driver would drop who subscribes before the server has answered.
      if (this.#client?.isReady) this.#client.unsubscribe(channel, tell).catch(() => undefined);
    };
  }

  close(): void {
    this.#connection?.close();
  }

  /** Who has heard nothing looks by itself: a failure is mended by the next connection. */
  #subscribe(channel: string, { tell }: Channel): void {
    if (!this.#client?.isReady) return;
    // What came before the server knew that somebody listens was not heard.
    this.#client.subscribe(channel, tell).then(tell, () => undefined);
  }
}
