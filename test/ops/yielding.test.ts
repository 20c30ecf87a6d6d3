import { afterEach, describe, expect, it, vi } from "vitest";
import { takeAll } from "../../src/support/event-loop.js";

afterEach(() => {
  vi.restoreAllMocks();
});

let now = performance.now();

/** Every look at the clock finds that a turn is over. */
function slowClock(): void {
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
}

/** A stream that gives its items, one a microtask, then breaks and forgets what nobody has read. */
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

describe("takeAll", () => {
  it("loses nothing that came before an error", async () => {
    slowClock();
    const taken: number[] = [];
    await expect(takeAll(breaking([1, 2, 3]), (item) => taken.push(item))).rejects.toThrow("kaboom");
    expect(taken).toEqual([1, 2, 3]);
  });

  it("lets others in between turns", async () => {
    slowClock();
    const seen: string[] = [];
    await new Promise(setImmediate);
    setImmediate(() => seen.push("other"));
    await takeAll(ReadableStream.from([1, 2, 3]) as AsyncIterable<number>, (item) => seen.push(String(item)));
    expect(seen).toEqual(["1", "2", "other", "3"]);
  });

  it("stops at an item that cannot be taken", async () => {
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
    await expect(takeAll(endless(), refuse)).rejects.toThrow("not this one");
    expect(read.length).toBeLessThan(5);
  });
});
