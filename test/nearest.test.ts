import { describe, expect, it } from "vitest";
import { nearest } from "../src/support/nearest.js";

describe("nearest word", () => {
  it.each([
    ["prot", "port"],
    ["chekpointer_uri", "checkpointer_uri"],
    ["HOST", "host"],
    ["nothing_like_it", undefined],
  ])("%s means %s", (word, expected) => {
    expect(nearest(word, ["host", "port", "checkpointer_uri"])).toBe(expected);
  });
});
