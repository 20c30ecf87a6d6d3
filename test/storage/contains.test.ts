import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contains, containing } from "../../src/storage/rows/rows.js";
import { plainContains } from "../helpers/plain-contains.js";
import { newSeed } from "../helpers/seeds.js";

const json = () => fc.jsonValue({ maxDepth: 4 });
const parsed = (text: string): unknown => JSON.parse(text);

describe("contains", () => {
  it.each([
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: { b: { c: 1, d: 2 } } }, { a: { b: { c: 1 } } }, true],
    [{ a: [1, 2, 3] }, { a: [3, 1] }, true],
    [{ a: [1, 2] }, { a: [4] }, false],
    [{ a: [{ x: 1, y: 2 }] }, { a: [{ y: 2 }] }, true],
    [{ a: ["x"] }, { a: "x" }, false],
    [{ a: [] }, { a: {} }, false],
    [{ a: {} }, { a: [] }, false],
    [{ a: 1 }, { a: "1" }, false],
    [{ a: null }, { a: null }, true],
    [{}, { a: null }, false],
    [{ a: 1 }, {}, true],
  ])("value %j with filter %j returns %s", (value, filter, expected) => {
    expect(contains(value, filter)).toBe(expected);
  });

  it("every value contains itself", () => {
    fc.assert(fc.property(json(), (value) => contains(value, structuredClone(value))));
  });

  it("an object contains each of its parts", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json()), fc.func(fc.boolean()), (whole, keep) => {
        const part = Object.fromEntries(Object.entries(whole).filter(([key]) => keep(key)));
        return contains(whole, part);
      }),
    );
  });

  it("a longer filter array never widens matches", () => {
    fc.assert(
      fc.property(fc.array(json()), fc.array(json()), json(), (value, filter, more) => {
        return contains(value, filter) || !contains(value, [...filter, more]);
      }),
    );
  });

  const seed = newSeed();
  // Few distinct values, so that many are contained in others.
  const { near } = fc.letrec((tie) => ({
    near: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(0, 1, "0", "a", "", null, true, -0, 1e300),
      fc.array(tie("near"), { maxLength: 5 }),
      fc.dictionary(fc.constantFrom("a", "b", "__proto__", "0"), tie("near"), { noNullPrototype: true }),
    ),
  }));

  it(`matches the naive implementation (seed ${seed})`, () => {
    const contained = { yes: 0, no: 0 };
    fc.assert(
      fc.property(near, near, (value, filter) => {
        const expected = plainContains(value, filter);
        contained[expected ? "yes" : "no"] += 1;
        expect(containing(filter)(value)).toBe(expected);
        expect(contains([value, filter], [filter])).toBe(true);
      }),
      { seed, numRuns: 3000 },
    );
    // The test is only meaningful if both answers occur.
    expect(Math.min(contained.yes, contained.no)).toBeGreaterThan(50);
  });

  it("inherited keys never match a filter", () => {
    expect(contains({}, parsed('{"constructor":{}}'))).toBe(false);
    expect(contains({}, parsed('{"__proto__":{}}'))).toBe(false);
    expect(contains({}, parsed('{"toString":{"name":"toString"}}'))).toBe(false);
  });

  it("own keys with hostile names match", () => {
    const value = parsed('{"__proto__":{"x":1},"$ne":null,"":0}');
    expect(contains(value, parsed('{"__proto__":{"x":1},"$ne":null,"":0}'))).toBe(true);
    expect(contains(value, parsed('{"__proto__":{"x":2}}'))).toBe(false);
  });
});
