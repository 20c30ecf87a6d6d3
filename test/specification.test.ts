/** Comments cite rules of docs/specification.md; every cited rule must exist. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const CITATION = /docs\/specification\.md(?:#([a-z-]+))?(?:, (\d)(?: and (\d))?)?/g;

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** Rule numbers by the anchor of their section. */
function rules(): Map<string, Set<string>> {
  const sections = read("docs/specification.md").split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [title = ""] = section.split("\n", 1);
      const numbers = [...section.matchAll(/^(\d+)\. /gm)].map(([, number = ""]) => number);
      return [title.toLowerCase().replaceAll(" ", "-"), new Set(numbers)];
    }),
  );
}

const sources = ["src", "test", "bench"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.ts$/.test(file))
    .map((file) => join(folder, file)),
);

it("citations of the specification point to an existing section and rule", () => {
  const known = rules();
  const cited = sources
    .filter((file) => !file.endsWith("specification.test.ts"))
    .flatMap((file) => [...read(file).matchAll(CITATION)].map((match) => ({ file, match })));
  expect(cited.length).toBeGreaterThan(30);
  const lost = cited.filter(({ match: [, section = "", ...numbers] }) => {
    const rulesOf = known.get(section);
    return !rulesOf || numbers.some((number) => number !== undefined && !rulesOf.has(number));
  });
  expect(lost.map(({ file, match: [text] }) => `${file}: ${text}`)).toEqual([]);
});

it("comments cite no other specification", () => {
  const others = sources.filter((file) => /[(,;] ?spec, [A-Z]/.test(read(file)));
  expect(others.filter((file) => !file.endsWith("specification.test.ts"))).toEqual([]);
});

it("links in the specification point to its sections and to existing files", () => {
  const text = read("docs/specification.md");
  const anchors = [...text.matchAll(/\]\(#([a-z-]+)\)/g)].map(([, anchor = ""]) => anchor);
  expect(anchors.filter((anchor) => !rules().has(anchor))).toEqual([]);
  for (const [, file = ""] of text.matchAll(/\]\(([^#)]+)\)/g)) expect(read(join("docs", file))).not.toBe("");
});
