import { describe, expect, it } from "vitest";
import { Undecided } from "../../src/storage/undecided.js";

describe("threads of which it is not known who holds them", () => {
  it("are known when it is settled", async () => {
    const undecided = new Undecided();
    await undecided.known("t");
    undecided.begin("t");
    const known = undecided.known("t");
    expect([undecided.has("t"), undecided.has("u")]).toEqual([true, false]);
    undecided.settle("t");
    await known;
    expect(undecided.has("t")).toBe(false);
    undecided.settle("t");
  });

  it("are waited for again when the next turn begins at once", async () => {
    const undecided = new Undecided();
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

  it("are left by who goes", async () => {
    const undecided = new Undecided();
    const leave = new AbortController();
    undecided.begin("t");
    const known = undecided.known("t", leave.signal);
    leave.abort(new Error("gone"));
    await expect(known).rejects.toThrow("gone");
    await expect(undecided.known("t", leave.signal)).rejects.toThrow("gone");
    undecided.settle("t");
  });
});
