/** Positions in JSON without the YAML parser equal those of the YAML parser. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonDocument } from "../../src/config/json-document.js";
import { parseConfigText } from "../../src/config/parse.js";

type Path = (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const keys = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value);
  const inside = keys.flatMap((key) => pathsOf((value as Record<string, unknown>)[key], [...path, key]));
  return [path, [...path, "missing"], ...inside];
}

const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => typeof value === "object" && value !== null);

it("locates every value", () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 2, "\t"), (value, space) => {
      const text = `\n ${JSON.stringify(value, null, space)}\n`;
      const document = jsonDocument("a.json", text);
      const expected = parseConfigText("a.json", text, "json");
      for (const path of pathsOf(value))
        expect([path, document?.locate(path)]).toEqual([path, expected.locate(path)]);
    }),
    { numRuns: 200 },
  );
});

it("text that is not JSON is left to the YAML parser", () => {
  expect(jsonDocument("a.json", "{ a: 1 }")).toBeUndefined();
});
