/**
 * The published JSON schema of case files. Update it with `npx vitest run
 * test/testing/published-schema.test.ts -u`.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { format, resolveConfig } from "prettier";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { publishedSchema } from "../../src/testing/cases/case-model.js";
import { ROOT } from "../helpers/markdown.js";

const FILE = join(ROOT, "case-file.schema.json");

describe("the schema file", () => {
  it("equals the schema in the code", async () => {
    const options = { ...(await resolveConfig(FILE)), filepath: FILE };
    await expect(await format(JSON.stringify(publishedSchema()), options)).toMatchFileSnapshot(FILE);
  });

  it("is included in the package", () => {
    const require = createRequire(join(ROOT, "src/index.ts"));
    expect(require.resolve("graph-serve/case-file.schema.json")).toBe(FILE);
    const { files } = require("graph-serve/package.json") as { files: string[] };
    expect(files).toContain("case-file.schema.json");
  });
});

describe("an editor that uses the schema", () => {
  let problems: (text: string) => string[];
  beforeAll(async () => {
    // Validates as language servers do: strictly by the declared draft, rejecting unknown keywords.
    const schema = JSON.parse(await readFile(FILE, "utf8")) as object;
    const validate = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true }).compile(schema);
    problems = (text) => {
      validate(parse(text));
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ""}`);
    };
  });

  it.each(["chat", "agent-tools", "hitl", "minimal"])(
    "accepts the case files of %s, which reference the schema",
    async (name) => {
      const text = await readFile(join(ROOT, "templates", name, "agent.graph.yaml"), "utf8");
      expect(text).toMatch(
        /^# yaml-language-server: \$schema=\.\/node_modules\/graph-serve\/case-file\.schema\.json\n/,
      );
      expect(problems(text)).toEqual([]);
    },
  );

  it.each([
    ["cases: [{ nam: one }]", "/cases/0 must NOT have additional properties"],
    ["cases: [{ name: one, expect: { status: good } }]", "/cases/0/expect/status must be equal to"],
    ["graph: agent", "must have required property 'cases'"],
  ])("reports %j", (text, problem) => {
    expect(problems(text).join("\n")).toContain(problem);
  });
});
