/** The contract of the bus that carries frames between processes, on Redis and on PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FrameBus, FramePart } from "../../src/storage/contract/frame-bus.js";
import { openFrameBus } from "../../src/storage/open-frames.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { withRedis } from "../helpers/redis.js";

const SECOND = 1e9;

interface Backend {
  open: () => Promise<FrameBus>;
  /** The state after a crash of a server without persistence. */
  lose: () => Promise<void>;
}

withRedis("frames on Redis", (redis) => {
  const { checkpointer_options: own } = redis.options();
  const options = { checkpointer_scheme: "redis", checkpointer_uri: redis.uri, checkpointer_options: own };
  framesContract({
    open: () => openFrameBus({ ...options, stream: "redis" }),
    lose: () => redis.empty(),
  });

  it("prefixes every key with the storage's prefix and expires all keys", async () => {
    const bus = await openFrameBus({ ...options, stream: "redis" });
    await redis.empty();
    await bus.append([part({ frames: 1 })]);
    const keys = await redis.keys();
    expect(keys.length).toBe(2);
    for (const key of keys) expect(await redis.client.pTTL(key)).toBeGreaterThan(0);
    await bus.close();
  });
});

withOwnSchema("frames on PostgreSQL", (postgres) => {
  const options = { stream: "postgres", ...postgres.options({ lock_uri: undefined }) };
  framesContract({
    open: () => openFrameBus(options),
    lose: async () =>
      void (await postgres.sql(
        `TRUNCATE "${postgres.schema}".gs_frames, "${postgres.schema}".gs_frame_runs`,
      )),
  });

  it("an abandoned append that arrives after its retry does not truncate the run", async () => {
    const [first, second] = [await openFrameBus(options), await openFrameBus(options)];
    const { run_id, about, ...begun } = part({});
    await first.append([{ run_id, about, ...begun }]);
    const holder = await postgres.pool.connect();
    const waiting = async () => {
      const [row] = await postgres.sql<{ count: number }>(
        `SELECT count(*)::integer FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
         WHERE NOT l.granted AND a.query LIKE '%' || $1 || '%gs_frame_runs%'`,
        [postgres.schema],
      );
      return row?.count;
    };
    await holder.query("BEGIN");
    await holder.query(
      `SELECT 1 FROM "${postgres.schema}".gs_frame_runs WHERE run_id = '${run_id}' FOR UPDATE`,
    );
    const again = first.append([part({ run_id, about, frames: 5, is_last: true })]);
    await expect.poll(waiting).toBe(1);
    const givenUp = second.append([part({ run_id, about, frames: 3 })]);
    await expect.poll(waiting).toBe(2);
    await holder.query("COMMIT");
    holder.release();
    expect(await Promise.all([again, givenUp])).toEqual([[5], [5]]);
    expect(await idsOf(first, run_id)).toEqual([0, 1, 2, 3, 4]);
    expect(await first.read(run_id, -1)).toMatchObject({ next: 5, is_ended: true });
    await Promise.all([first.close(), second.close()]);
  });

  it("frames are stored in unlogged tables", async () => {
    const tables = await postgres.sql<{ relname: string; relpersistence: string }>(
      `SELECT relname, relpersistence FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'`,
      [postgres.schema],
    );
    expect(tables.sort((a, b) => (a.relname < b.relname ? -1 : 1))).toEqual([
      { relname: "gs_frame_runs", relpersistence: "u" },
      { relname: "gs_frames", relpersistence: "u" },
    ]);
  });
});

interface PartOptions extends Partial<Omit<FramePart, "frames">> {
  /** Number of frames. */
  frames?: number;
  text?: string;
}

function part({ frames = 0, text = "frame", from = 0, ...rest }: PartOptions): FramePart {
  return {
    run_id: crypto.randomUUID(),
    attempt: 1,
    about: { thread_id: crypto.randomUUID(), all_modes: false },
    first: 0,
    is_last: false,
    ...rest,
    from,
    frames: Array.from({ length: frames }, (_, index) => ({
      id: from + index,
      event: "custom",
      data: JSON.stringify(`${text} ${from + index}`),
    })),
  };
}

const idsOf = async (bus: FrameBus, runId: string, after = -1): Promise<number[] | undefined> =>
  (await bus.read(runId, after))?.frames.map(({ id }) => id);

function framesContract({ open, lose }: Backend): void {
  describe("frame bus", () => {
    let writer: FrameBus;
    let reader: FrameBus;
    beforeAll(async () => {
      [writer, reader] = await Promise.all([open(), open()]);
    });
    afterAll(() => Promise.all([writer.close(), reader.close()]));

    it("returns frames in order from any position, with the metadata of their run", async () => {
      const about = { thread_id: crypto.randomUUID(), all_modes: true, stateless: { scope: "ada" } };
      const first = part({ frames: 3, about });
      const { run_id } = first;
      expect(await reader.read(run_id, -1)).toBeUndefined();
      expect(await writer.append([first])).toEqual([3]);
      expect(await writer.append([part({ run_id, about, from: 3, frames: 2 })])).toEqual([5]);
      const page = await reader.read(run_id, -1);
      expect(page).toEqual({ about, frames: page?.frames, next: 5, is_ended: false });
      expect(page?.frames.map(({ event, data }) => `${event} ${data}`)).toEqual(
        [0, 1, 2, 3, 4].map((id) => `custom "frame ${id}"`),
      );
      expect(await idsOf(reader, run_id, 0)).toEqual([1, 2, 3, 4]);
      expect(await idsOf(reader, run_id, 3)).toEqual([4]);
      expect(await idsOf(reader, run_id, 4)).toEqual([]);
    });

    it("stores the frames of several runs in one call", async () => {
      const parts = Array.from({ length: 50 }, (_, index) => part({ frames: 1 + (index % 3) }));
      expect(await writer.append(parts)).toEqual(parts.map(({ frames }) => frames.length));
      const read = await Promise.all(parts.map(({ run_id }) => idsOf(reader, run_id)));
      expect(read).toEqual(parts.map(({ frames }) => frames.map(({ id }) => id)));
    });

    it("stores a frame once if it is appended twice", async () => {
      const told = part({ frames: 3 });
      await writer.append([told]);
      expect(await writer.append([told])).toEqual([3]);
      const { run_id, about } = told;
      expect(await writer.append([part({ run_id, about, frames: 5 })])).toEqual([5]);
      expect(await idsOf(reader, run_id)).toEqual([0, 1, 2, 3, 4]);
      expect(await idsOf(reader, run_id, 1)).toEqual([2, 3, 4]);
      expect(await idsOf(reader, run_id, 2)).toEqual([3, 4]);
      // An abandoned call may arrive after its retry.
      await writer.append([part({ run_id, about, from: 3, frames: 4, is_last: true })]);
      expect(await writer.append([part({ run_id, about, from: 3, frames: 1 })])).toEqual([7]);
      const page = await reader.read(run_id, -1);
      expect(page).toMatchObject({ next: 7, is_ended: true });
      expect(page?.frames.map(({ data }) => data)).toEqual(
        [0, 1, 2, 3, 4, 5, 6].map((id) => `"frame ${id}"`),
      );
    });

    it("an append that would leave a gap returns the expected position", async () => {
      const { run_id, about, ...first } = part({ frames: 2 });
      await writer.append([{ run_id, about, ...first }]);
      expect(await writer.append([part({ run_id, about, from: 4, frames: 1 })])).toEqual([2]);
      expect(await idsOf(reader, run_id)).toEqual([0, 1]);
      // `first` says that older frames were dropped: readers detect the gap by the ids.
      expect(await writer.append([part({ run_id, about, first: 4, from: 4, frames: 1 })])).toEqual([5]);
      expect(await idsOf(reader, run_id)).toEqual([4]);
    });

    it("drops the oldest frames when the writer does", async () => {
      const { run_id, about, ...first } = part({ frames: 2 });
      await writer.append([{ run_id, about, ...first }]);
      await writer.append([part({ run_id, about, from: 2, frames: 2 })]);
      await writer.append([part({ run_id, about, from: 4, first: 2, frames: 1 })]);
      expect(await idsOf(reader, run_id)).toEqual([2, 3, 4]);
    });

    it("returns the frames of consecutive attempts and rejects the superseded one", async () => {
      const { run_id, about, ...first } = part({ frames: 3 });
      await writer.append([{ run_id, about, ...first }]);
      const next = part({ run_id, about, attempt: 2, from: SECOND, first: SECOND, frames: 2 });
      expect(await writer.append([next])).toEqual([SECOND + 2]);
      expect(await writer.append([part({ run_id, about, from: 3, frames: 1 })])).toEqual([undefined]);
      expect(await idsOf(reader, run_id)).toEqual([0, 1, 2, SECOND, SECOND + 1]);
      // A reader in the middle of the earlier attempt gets the rest of that attempt first.
      expect(await idsOf(reader, run_id, 1)).toEqual([2, SECOND, SECOND + 1]);
      expect(await idsOf(reader, run_id, 2)).toEqual([SECOND, SECOND + 1]);
    });

    it("keeps the last three attempts, and none before one that has lost its first frames", async () => {
      const { run_id, about } = part({});
      const [second, third, fourth] = [2, 3, 4].map((attempt) => {
        const first = (attempt - 1) * SECOND;
        return part({ run_id, about, attempt, from: first, first, frames: 1 });
      });
      await writer.append([part({ run_id, about, frames: 2 })]);
      for (const one of [second, third]) await writer.append([one!]);
      expect(await idsOf(reader, run_id)).toEqual([0, 1, SECOND, 2 * SECOND]);
      await writer.append([fourth!]);
      expect(await idsOf(reader, run_id)).toEqual([SECOND, 2 * SECOND, 3 * SECOND]);
      const [from, first] = [3 * SECOND + 2, 3 * SECOND + 1];
      await writer.append([part({ run_id, about, attempt: 4, from: from - 1, frames: 1, first: from - 1 })]);
      await writer.append([part({ run_id, about, attempt: 4, from, first, frames: 1 })]);
      expect(await idsOf(reader, run_id)).toEqual([first, from]);
    });

    it("rejects the superseded attempt before its successor writes the first frame", async () => {
      const { run_id, about, ...first } = part({ frames: 3 });
      await writer.append([{ run_id, about, ...first }]);
      await writer.append([part({ run_id, about, attempt: 2, from: SECOND, first: SECOND })]);
      expect(await writer.append([part({ run_id, about, from: 3, frames: 1 })])).toEqual([undefined]);
      const page = await reader.read(run_id, 2);
      expect(page).toEqual({ about, frames: [], next: SECOND, is_ended: false });
    });

    it("reports the end of a run, even without frames", async () => {
      const [told, silent] = [part({ frames: 2, is_last: true }), part({ is_last: true })];
      await writer.append([told, silent]);
      expect(await reader.read(told.run_id, 1)).toMatchObject({ frames: [], next: 2, is_ended: true });
      expect(await reader.read(silent.run_id, -1)).toMatchObject({ frames: [], next: 0, is_ended: true });
    });

    it("stores any characters and large frames", async () => {
      const text = `nul \0 quote " emoji \u{1f600} line \u2028 lone \ud800 ${"x".repeat(1_000_000)}`;
      const told = part({ frames: 3, text });
      told.frames[0]!.event = "custom|a:1|ü";
      await writer.append([told]);
      let seen = -1;
      for (const frame of told.frames) {
        const page = await reader.read(told.run_id, seen);
        expect(page?.frames[0]).toEqual(frame);
        seen = frame.id;
      }
    });

    it("requests all frames again after losing them", async () => {
      const { run_id, about, ...first } = part({ frames: 3 });
      await writer.append([{ run_id, about, ...first }]);
      await lose();
      expect(await reader.read(run_id, 2)).toBeUndefined();
      expect(await writer.append([part({ run_id, about, from: 3, frames: 1 })])).toEqual([0]);
      expect(await writer.append([part({ run_id, about, frames: 4 })])).toEqual([4]);
      expect(await idsOf(reader, run_id, 2)).toEqual([3]);
    });

    it("notifies listeners of runs, their ends and new attempts on a thread", async () => {
      const heard: string[] = [];
      const { run_id, about, ...first } = part({ frames: 1 });
      const { thread_id } = about;
      const names = [`thread:${thread_id}`, `run:${run_id}`, `end:${run_id}`] as const;
      const [ofThread, ofRun, ofEnd] = names;
      const stops = names.map((name) => reader.listen(name, () => void heard.push(name)));
      const hears = () => [...new Set(heard)].sort();
      const all = (...names: string[]) => expect.arrayContaining(names) as string[];
      // The subscription takes effect on the server with a delay.
      const begun = { run_id, about, ...first, is_last: true };
      await expect.poll(() => writer.append([begun]).then(hears)).toEqual(all(ofEnd, ofRun));
      const next = { run_id, about, attempt: 2, first: SECOND, frames: 1 };
      heard.length = 0;
      await writer.append([part({ ...next, from: SECOND })]);
      await expect.poll(hears).toEqual(all(ofRun, ofThread));
      heard.length = 0;
      await writer.append([part({ ...next, from: SECOND + 1, is_last: true })]);
      await expect.poll(hears).toEqual(all(ofEnd, ofRun));
      for (const stop of stops) stop();
      heard.length = 0;
      const stop = reader.listen(`run:${run_id}`, () => heard.push("again"));
      await expect
        .poll(async () => {
          await writer.append([
            part({ run_id, about, attempt: 3, first: 2 * SECOND, from: 2 * SECOND, is_last: true }),
          ]);
          return heard.length;
        })
        .toBeGreaterThan(0);
      expect([...new Set(heard)]).toEqual(["again"]);
      stop();
    });
  });
}
