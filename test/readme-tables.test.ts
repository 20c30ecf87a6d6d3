/**
 * Compares the tables of README.md and docs/ with the program. `npx vitest run test/readme-tables.test.ts -u`
 * updates them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { describe, expect, it } from "vitest";
import { SCHEMES } from "../src/config/storage-settings.js";
import { untold } from "./helpers/bounds.js";
import { generatedTexts } from "./helpers/generated-docs.js";
import { DOCUMENTS, ROOT } from "./helpers/markdown.js";

const texts = await generatedTexts();
const PLACE = /(<!-- generated:([\w-]+) -->\n)[^]*?(<!-- end:\2 -->)/g;

async function renewed(document: string): Promise<string> {
  const file = join(ROOT, document);
  const source = readFileSync(file, "utf8");
  const filled = source.replace(PLACE, (_, begin: string, name: string, end: string) => {
    const text = texts[name];
    if (text === undefined) throw new Error(`${document}: unknown generated text ${name}`);
    return `${begin}\n${text}\n\n${end}`;
  });
  return format(filled, { ...(await resolveConfig(file)), filepath: file });
}

describe("tables generated from the program", () => {
  it.each(DOCUMENTS)("%s matches the program", async (document) => {
    await expect(await renewed(document)).toMatchFileSnapshot(join(ROOT, document));
  });

  it("every generated text is used exactly once", () => {
    const all = DOCUMENTS.map((document) => readFileSync(join(ROOT, document), "utf8")).join("\n");
    expect(Array.from(all.matchAll(PLACE), ([, , name]) => name).sort()).toEqual(Object.keys(texts).sort());
  });
});

describe("docs/safety.md", () => {
  it("lists every constant named as a limit", () => {
    const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
    const server = files.filter((file) => /^(?!cli|testing|view|client).*\.ts$/.test(file));
    expect(untold(server)).toEqual([]);
  });
});

describe("the storage table", () => {
  it("has one row per scheme", () => {
    const [section = ""] = readFileSync(join(ROOT, "docs/storage.md"), "utf8").split("\n## ");
    const named = Array.from(section.matchAll(/^\| (.*?) *\|/gm), ([, cell = ""]) => cell).slice(2);
    const schemes = named.flatMap((cell) => Array.from(cell.matchAll(/`(\w+)`/g), ([, scheme]) => scheme));
    expect(schemes.sort()).toEqual([...SCHEMES].sort());
  });
});
