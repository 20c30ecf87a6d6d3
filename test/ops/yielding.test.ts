import { afterEach, describe, expect, it, vi } from "vitest";
import { Consumer, dueYield } from "../../src/support/event-loop.js";
import { deferred } from "../helpers/deferred.js";

afterEach(() => {
  vi.restoreAllMocks();
});

let now = performance.now();

/** Every read of the clock returns a time at which the turn is over. */
function slowClock(): void {
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
}

/** A stream that emits one item per microtask, then fails and discards unread items. */
function breaking(items: readonly number[]): ReadableStream<number> {
  return new ReadableStream({
    async start(controller) {
      for (const item of items) {
        controller.enqueue(item);
        for (let turns = 0; turns < 10; turns++) await Promise.resolve();
      }
      controller.error(new RangeError("kaboom"));
    },
  });
}

describe("Consumer", () => {
  it("returns all items before an error", async () => {
    slowClock();
    const taken: number[] = [];
    const reading = new Consumer<number>((item) => taken.push(item)).read(breaking([1, 2, 3]));
    await expect(reading).rejects.toThrow("kaboom");
    expect(taken).toEqual([1, 2, 3]);
  });

  it("yields to the event loop between turns", async () => {
    slowClock();
    const seen: string[] = [];
    await new Promise(setImmediate);
    setImmediate(() => seen.push("other"));
    await new Consumer<number>((item) => seen.push(String(item))).read(ReadableStream.from([1, 2, 3]));
    expect(seen).toEqual(["1", "2", "other", "3"]);
  });

  it("stops at an item that throws", async () => {
    const read: number[] = [];
    async function* endless() {
      for (let item = 1; ; item++) {
        read.push(item);
        yield item;
      }
    }
    const refuse = (item: number) => {
      if (item === 2) throw new TypeError("not this one");
    };
    await expect(new Consumer(refuse).read(endless())).rejects.toThrow("not this one");
    expect(read.length).toBeLessThan(5);
  });

  it("takes what it has read when asked, before the turns of other runs", async () => {
    slowClock();
    const taken: number[] = [];
    const seen: string[] = [];
    const [read, end] = [deferred(), deferred()];
    async function* source() {
      yield* [1, 2, 3];
      read.resolve();
      await end.promise;
    }
    const consumer = new Consumer<number>((item) => taken.push(item));
    const consumed = consumer.read(source());
    await read.promise;
    const turns = Array.from({ length: 10 }, () => dueYield()?.then(() => seen.push("other")));
    await consumer.flush();
    expect(taken).toEqual([1, 2, 3]);
    expect(consumer.flush()).toBeUndefined();
    expect(seen.length).toBeLessThan(10);
    end.resolve();
    await Promise.all([consumed, ...turns]);
    expect(taken).toEqual([1, 2, 3]);
  });

  it("does not wait for items that are read after it was asked", async () => {
    slowClock();
    const taken: number[] = [];
    const isOver = { now: false };
    async function* endless() {
      for (let item = 1; !isOver.now; item++) {
        yield item;
        await new Promise(setImmediate);
        yield -item;
      }
    }
    const consumer = new Consumer<number>((item) => taken.push(item));
    const consumed = consumer.read(endless());
    await expect.poll(() => consumer.flush() !== undefined).toBe(true);
    await consumer.flush();
    expect(taken.length).toBeGreaterThan(0);
    isOver.now = true;
    await consumed;
    expect(taken).toEqual(taken.map((_, index) => (index % 2 === 0 ? 1 : -1) * (Math.floor(index / 2) + 1)));
  });

  it("reports an item that throws while it takes what it has read", async () => {
    slowClock();
    const end = deferred();
    const read = deferred();
    async function* source() {
      yield* [1, 2, 3, 4];
      read.resolve();
      await end.promise;
    }
    const taken: number[] = [];
    const refuse = (item: number) => {
      if (item === 3) throw new TypeError("not this one");
      taken.push(item);
    };
    const consumer = new Consumer(refuse);
    const consumed = consumer.read(source());
    await read.promise;
    await consumer.flush();
    end.resolve();
    await expect(consumed).rejects.toThrow("not this one");
    expect(taken).toEqual([1, 2]);
  });
});
