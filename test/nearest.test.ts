import { describe, expect, it } from "vitest";
import { nearest } from "../src/support/nearest.js";

describe("nearest", () => {
  it.each([
    ["prot", "port"],
    ["chekpointer_uri", "checkpointer_uri"],
    ["HOST", "host"],
    ["nothing_like_it", undefined],
  ])("the closest word to %s is %s", (word, expected) => {
    expect(nearest(word, ["host", "port", "checkpointer_uri"])).toBe(expected);
  });
});
