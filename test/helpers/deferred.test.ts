import { expect, it, vi } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { deferred } from "./deferred.js";

it("a wait that takes too long says what it waits for", async () => {
  const reports = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  vi.useFakeTimers();
  try {
    void gateOf("never reached").entered;
    void gateOf("never aborted").aborted;
    void deferred("the first frame").promise;
    void deferred().promise;
    await vi.advanceTimersByTimeAsync(89_999);
    expect(reports).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(reports.mock.calls.map(([text]) => String(text).split("\n", 1)[0])).toEqual([
      'Error: not within 90 s: a node reaches the gate "never reached"',
      'Error: not within 90 s: the signal of the node at the gate "never aborted" aborts',
      "Error: not within 90 s: the first frame",
      expect.stringMatching(/promise created at .*deferred\.test\.ts:\d+/),
    ]);
  } finally {
    vi.useRealTimers();
    reports.mockRestore();
  }
});

it("a wait that ends in time says nothing", async () => {
  const reports = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  vi.useFakeTimers();
  try {
    const first = deferred();
    const wait = first.promise;
    first.resolve();
    await wait;
    await vi.advanceTimersByTimeAsync(90_000);
    expect(reports).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
    reports.mockRestore();
  }
});

it("a promise that is resolved in time has its value", async () => {
  const one = deferred<number>();
  one.resolve(1);
  expect(await one.promise).toBe(1);
});
