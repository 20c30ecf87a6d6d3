/** Publishing frames to the shared bus, and handling of a bus that fails. */
import { expect, it, vi } from "vitest";
import { allModeFrames } from "../../src/delivery/read-run.js";
import type { EngineContext } from "../../src/runs/live-runs.js";
import { RunLog } from "../../src/frames/run-log.js";
import { SharedFrames } from "../../src/frames/shared-frames.js";
import { FramesLostError } from "../../src/models/run-stream.js";
import type { Run } from "../../src/models/run.js";
import type { FrameBus, FramePage, FramePart } from "../../src/storage/contract/frame-bus.js";
import { GraphServeError, StorageUnavailableError } from "../../src/support/errors.js";
import { nextTurn } from "../../src/support/event-loop.js";
import { deferred } from "../helpers/deferred.js";
import { recordingLogger } from "../helpers/service.js";

/** A bus that accepts all frames unless a test sets `refusal`. */
class TestBus implements FrameBus {
  readonly kind = "redis";
  readonly location = "memory";
  readonly paceMs = 0;
  readonly pollMs = 3_600_000;
  readonly calls: (readonly FramePart[])[] = [];
  refusal: (parts: readonly FramePart[]) => Error | undefined = () => undefined;
  /** Delays appends. */
  gate: Promise<void> | undefined;

  async append(parts: readonly FramePart[]): Promise<number[]> {
    const error = this.refusal(parts);
    if (error) throw error;
    this.calls.push(parts);
    await this.gate;
    return parts.map(({ from, frames }) => from + frames.length);
  }
  /** The page that `read` returns for any run. */
  page: FramePage | undefined;
  read = () => Promise.resolve(this.page);
  /** `hint` wakes readers; `lose` reports that the bus may have lost all frames. */
  hint = () => {};
  lose = () => {};
  listen = (_name: string, hear: () => void) => {
    this.hint = hear;
    return () => undefined;
  };
  onLoss = (hear: () => void) => void (this.lose = hear);
  close = () => Promise.resolve();

  get parts(): FramePart[] {
    return this.calls.flat();
  }
}

function open() {
  const [bus, logger] = [new TestBus(), recordingLogger()];
  return { bus, logger, shared: new SharedFrames(bus, logger) };
}

/** A run that has emitted `texts` and ended. */
function ended(...texts: string[]) {
  const log = new RunLog();
  for (const text of texts) log.push("custom", text);
  log.close();
  return {
    run: { run_id: crypto.randomUUID(), thread_id: "t" },
    ...{ log, holder: { owner: "o", attempt: 1 }, endedAt: new Date().toISOString(), hasLeft: false },
    onEnd: () => undefined,
  };
}

/** A run in flight. */
const running = () => ({ ...ended(), log: new RunLog(), endedAt: undefined });

/** Which of the promises have settled. */
async function settled(...promises: (Promise<void> | undefined)[]): Promise<boolean[]> {
  const found = promises.map(() => false);
  promises.forEach((promise, index) => void promise?.then(() => (found[index] = true)));
  await nextTurn();
  return found;
}

const charactersOf = (parts: readonly FramePart[]) =>
  parts.flatMap(({ frames }) => frames).reduce((sum, { data }) => sum + data.length, 0);

it("frames are published after a call without any, because its runs continue elsewhere", async () => {
  const { bus, shared } = open();
  const left = { ...running(), hasLeft: true };
  shared.publish(left);
  await expect.poll(() => left.log.readers).toBe(0);
  const run = running();
  shared.publish(run);
  run.log.push("custom", "a");
  await expect.poll(() => bus.parts.flatMap(({ frames }) => frames)).toMatchObject([{ data: "a" }]);
  await shared.close();
});

it("frames are published in calls of limited size", async () => {
  const { bus, shared } = open();
  const large = "x".repeat(1_500_000);
  const runs = Array.from({ length: 6 }, () => ended(large));
  for (const run of runs) shared.publish(run);
  await shared.close();
  expect(bus.parts.map(({ run_id }) => run_id)).toEqual(runs.map(({ run }) => run.run_id));
  expect(bus.calls.map(charactersOf)).toEqual([3_000_000, 3_000_000, 3_000_000]);
});

it("a run whose frames are rejected is no longer shared, and other runs are", async () => {
  const { bus, shared, logger } = open();
  bus.refusal = (parts) =>
    JSON.stringify(parts).includes("poison")
      ? new GraphServeError("payload_too_large", "no room")
      : undefined;
  const runs = [ended("a"), ended("poison"), ended("b"), ended("c")];
  for (const run of runs) shared.publish(run);
  await shared.close();
  const told = bus.parts.filter(({ is_last }) => is_last).map(({ run_id }) => run_id);
  expect(told).toEqual([runs[0], runs[2], runs[3]].map((run) => run?.run.run_id));
  expect(logger.lines).toMatchObject([
    { level: "warn", fields: { run_id: runs[1]?.run.run_id, reason: "no room" } },
  ]);
  expect(shared.isAway).toBe(false);
});

it("the bus is away until it accepts frames again, even if reads succeed", async () => {
  const { bus, shared, logger } = open();
  let [failures, isAway] = [0, true];
  bus.refusal = () => {
    failures += 1;
    return isAway ? new StorageUnavailableError("is a read-only replica") : undefined;
  };
  shared.publish(ended("a"));
  await expect.poll(() => failures).toBe(3);
  await shared.read("other", -1);
  expect(shared.isAway).toBe(true);
  await expect.poll(() => failures).toBe(4);
  expect(logger.lines.length).toBe(1);
  isAway = false;
  await expect.poll(() => bus.parts.length).toBe(1);
  expect(shared.isAway).toBe(false);
  expect(logger.lines.map(({ level }) => level)).toEqual(["warn", "info"]);
  await shared.close();
});

it("a checkpoint waits for the frames before it, and for no later frames", async () => {
  const { bus, shared } = open();
  const [one, other] = [running(), running()];
  for (const run of [one, other]) shared.publish(run);
  expect(shared.stored("of another process")).toBeUndefined();
  expect(shared.stored(one.run.run_id)).toBeUndefined();
  const [first, second] = [deferred(), deferred()];
  bus.gate = first.promise;
  one.log.push("custom", "first");
  const before = shared.stored(one.run.run_id);
  await expect.poll(() => bus.parts.flatMap(({ frames }) => frames).length).toBe(1);
  one.log.push("custom", "second");
  const after = shared.stored(one.run.run_id);
  expect(await settled(before, after)).toEqual([false, false]);
  bus.gate = second.promise;
  first.resolve();
  await before;
  await expect.poll(() => bus.parts.flatMap(({ frames }) => frames).length).toBe(2);
  expect(await settled(after)).toEqual([false]);
  second.resolve();
  await after;
  expect(shared.stored(one.run.run_id)).toBeUndefined();
  await shared.close();
});

it("no checkpoint waits while the bus is away", async () => {
  const { bus, shared } = open();
  const run = running();
  shared.publish(run);
  bus.refusal = () => new StorageUnavailableError("is away");
  run.log.push("custom", "first");
  await shared.stored(run.run.run_id);
  expect(shared.isAway).toBe(true);
  run.log.push("custom", "second");
  expect(shared.stored(run.run.run_id)).toBeUndefined();
  await shared.close();
});

it("only one checkpoint waits for a slow bus until it accepts frames in time again", async () => {
  const { bus, shared } = open();
  const run = running();
  const { run_id } = run.run;
  shared.publish(run);
  const slow = deferred();
  bus.gate = slow.promise;
  run.log.push("custom", "first");
  await shared.stored(run_id);
  run.log.push("custom", "second");
  expect(shared.stored(run_id)).toBeUndefined();
  expect(shared.isAway).toBe(false);
  bus.gate = undefined;
  slow.resolve();
  await vi.waitFor(() => expect(bus.parts.flatMap(({ frames }) => frames)).toHaveLength(2));
  run.log.push("custom", "last");
  await shared.stored(run_id);
  expect(bus.parts.flatMap(({ frames }) => frames).at(-1)).toMatchObject({ data: "last" });
  await shared.close();
});

it("a checkpoint of a process that was suspended still waits for the frames before it", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const { bus, shared } = open();
  const run = running();
  shared.publish(run);
  const gate = deferred();
  bus.gate = gate.promise;
  run.log.push("custom", "first");
  const stored = shared.stored(run.run.run_id);
  // A process that continues after seconds fires a due timer once.
  vi.advanceTimersToNextTimer();
  expect(await settled(stored)).toEqual([false]);
  gate.resolve();
  await stored;
  run.log.push("custom", "second");
  expect(shared.stored(run.run.run_id)).toBeDefined();
  await shared.close();
  vi.useRealTimers();
});

/** The first frames that a reader gets of a run that ended long ago. */
function readOld(shared: SharedFrames) {
  const context = { live: { logOf: () => undefined }, frames: shared } as unknown as EngineContext;
  const run = { run_id: "r", thread_id: "t", attempt: 1, status: "success", kwargs: {} } as unknown as Run;
  const old = { ...run, updated_at: "2026-01-01T10:00:00.000Z" };
  return allModeFrames(context, shared, old, new AbortController().signal).next();
}

it("a reader does not wait for the frames of a run that ended long ago", async () => {
  const { shared } = open();
  await expect(readOld(shared)).rejects.toThrow(FramesLostError);
  await shared.close();
});

it("a reader waits after the bus has lost its frames, until the publisher sends them again", async () => {
  const { bus, shared } = open();
  bus.lose();
  const read = readOld(shared);
  await nextTurn();
  const frames = [{ id: 0, event: "end", data: "{}" }];
  bus.page = { about: { thread_id: "t", all_modes: true }, frames, next: 1, is_ended: true };
  bus.hint();
  expect(await read).toEqual({ done: false, value: frames });
  await shared.close();
});
