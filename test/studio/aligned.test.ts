/** Alignment of two branches by step, without a browser. */
import { describe, expect, it } from "vitest";
import { aligned, type Named } from "../../studio/components/aligned.js";

const steps = (...named: string[]): Named[] =>
  named.map((name) => {
    const [id = "", title = id] = name.split(" ", 2);
    return { id, title };
  });
const shown = (left: Named[], right: Named[]) => {
  const { common, pairs } = aligned(left, right);
  return [
    common.map(({ id }) => id).join(""),
    ...pairs.map((pair) => `${pair.left?.id ?? "-"}${pair.right?.id ?? "-"}`),
  ];
};

describe("aligned branches", () => {
  it("share their common first steps and are paired by node", () => {
    const left = steps("a", "b", "1 ask", "2 tools", "3 ask");
    const right = steps("a", "b", "4 ask", "5 tools", "6 tools", "7 ask");
    expect(shown(left, right)).toEqual(["ab", "14", "25", "-6", "37"]);
    expect(shown(right, left)).toEqual(["ab", "41", "52", "6-", "73"]);
  });

  it("are paired by position if they have no node in common", () => {
    expect(shown(steps("1 x", "2 y"), steps("3 z"))).toEqual(["", "13", "2-"]);
    expect(shown(steps("a"), steps("a"))).toEqual(["a"]);
    expect(shown([], steps("1 x"))).toEqual(["", "-1"]);
    const long = (prefix: string) =>
      steps(...Array.from({ length: 1200 }, (_, index) => `${prefix}${index} x`));
    expect(shown(long("l"), long("r"))).toHaveLength(1201);
  });
});
