import { expect, it, vi } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { deferred } from "./deferred.js";

it("a wait that takes too long says what it waited for", async () => {
  vi.useFakeTimers();
  try {
    const waits = [
      [gateOf("never reached").entered, /not within 90 s: a node reaches the gate "never reached"/],
      [gateOf("never aborted").aborted, /the signal of the node at the gate "never aborted" aborts/],
      [deferred("the first frame").promise, /not within 90 s: the first frame/],
      [deferred().promise, /promise created at .*deferred\.test\.ts:\d+/],
    ] as const;
    const checks = waits.map(([wait, message]) => expect(wait).rejects.toThrow(message));
    await vi.advanceTimersByTimeAsync(90_000);
    await Promise.all(checks);
  } finally {
    vi.useRealTimers();
  }
});

it("a promise that is resolved in time has its value", async () => {
  const one = deferred<number>();
  one.resolve(1);
  expect(await one.promise).toBe(1);
});
