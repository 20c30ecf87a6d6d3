import { describe, expect, it } from "vitest";
import { UncertainLocks } from "../../src/storage/locks/uncertain-locks.js";

describe("threads with an unconfirmed lock owner", () => {
  it("known() resolves when the thread is settled", async () => {
    const undecided = new UncertainLocks();
    await undecided.known("t");
    undecided.begin("t");
    const known = undecided.known("t");
    expect([undecided.has("t"), undecided.has("u")]).toEqual([true, false]);
    undecided.settle("t");
    await known;
    expect(undecided.has("t")).toBe(false);
    undecided.settle("t");
  });

  it("known() keeps waiting if the thread becomes undecided again immediately", async () => {
    const undecided = new UncertainLocks();
    const order: string[] = [];
    undecided.begin("t");
    const known = undecided.known("t").then(() => order.push("known"));
    undecided.settle("t");
    undecided.begin("t");
    await new Promise((resolve) => setImmediate(resolve));
    order.push("settled");
    undecided.settle("t");
    await known;
    expect(order).toEqual(["settled", "known"]);
  });

  it("known() rejects when its signal is aborted", async () => {
    const undecided = new UncertainLocks();
    const leave = new AbortController();
    undecided.begin("t");
    const known = undecided.known("t", leave.signal);
    leave.abort(new Error("gone"));
    await expect(known).rejects.toThrow("gone");
    await expect(undecided.known("t", leave.signal)).rejects.toThrow("gone");
    undecided.settle("t");
  });
});
