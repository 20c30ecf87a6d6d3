import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contains } from "../../src/storage/contains.js";

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
  ])("of %j the filter %j is %s", (value, filter, expected) => {
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

  it("inherited keys never match a filter", () => {
    expect(contains({}, parsed('{"constructor":{}}'))).toBe(false);
    expect(contains({}, parsed('{"__proto__":{}}'))).toBe(false);
    expect(contains({}, parsed('{"toString":{"name":"toString"}}'))).toBe(false);
  });

  it("own keys of hostile names match", () => {
    const value = parsed('{"__proto__":{"x":1},"$ne":null,"":0}');
    expect(contains(value, parsed('{"__proto__":{"x":1},"$ne":null,"":0}'))).toBe(true);
    expect(contains(value, parsed('{"__proto__":{"x":2}}'))).toBe(false);
  });
});
