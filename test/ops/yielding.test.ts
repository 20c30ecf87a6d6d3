import { afterEach, describe, expect, it, vi } from "vitest";
import { consume } from "../../src/support/event-loop.js";

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

describe("consume", () => {
  it("returns all items before an error", async () => {
    slowClock();
    const taken: number[] = [];
    await expect(consume(breaking([1, 2, 3]), (item) => taken.push(item))).rejects.toThrow("kaboom");
    expect(taken).toEqual([1, 2, 3]);
  });

  it("yields to the event loop between turns", async () => {
    slowClock();
    const seen: string[] = [];
    await new Promise(setImmediate);
    setImmediate(() => seen.push("other"));
    await consume(ReadableStream.from([1, 2, 3]) as AsyncIterable<number>, (item) => seen.push(String(item)));
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
    await expect(consume(endless(), refuse)).rejects.toThrow("not this one");
    expect(read.length).toBeLessThan(5);
  });
});
