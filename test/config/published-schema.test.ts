/** The JSON schema of the configuration as the package ships it. `npx vitest run test/config/published-schema.test.ts -u` renews it. */
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { format, resolveConfig } from "prettier";
import { beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.js";
import { publishedSettingsSchema } from "../../src/config/settings.js";
import { createProject } from "../cli/harness.js";
import { ROOT } from "../helpers/markdown.js";

const FILE = join(ROOT, "graph-server.schema.json");
const NAMED = "./node_modules/graph-serve/graph-server.schema.json";

describe("the schema file of the configuration", () => {
  it("says what the program says", async () => {
    const options = { ...(await resolveConfig(FILE)), filepath: FILE };
    await expect(await format(JSON.stringify(publishedSettingsSchema()), options)).toMatchFileSnapshot(FILE);
  });

  it("is a part of the package", () => {
    const require = createRequire(join(ROOT, "src/index.ts"));
    expect(require.resolve("graph-serve/graph-server.schema.json")).toBe(FILE);
    const { files } = require("graph-serve/package.json") as { files: string[] };
    expect(files).toContain("graph-server.schema.json");
  });

  it("may be named in a configuration, which is none the worse for it", async () => {
    const project = await createProject({
      "graph-server.config.json": { $schema: NAMED, graphs: { agent: "./graph.ts" } },
    });
    const { settings, warnings } = await loadConfig({ cwd: project.dir, env: {} });
    expect([settings.graphs, warnings]).toEqual([{ agent: "./graph.ts" }, []]);
    await project.remove();
  });
});

describe("an editor that reads the schema of the configuration", () => {
  let problems: (text: string) => string[];
  beforeAll(async () => {
    // As language servers do: strictly by the draft that the schema names, unknown keywords refused.
    const schema = JSON.parse(await readFile(FILE, "utf8")) as object;
    const validate = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true }).compile(schema);
    problems = (text) => {
      validate(JSON.parse(text));
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ""}`);
    };
  });

  const templates = readdirSync(join(ROOT, "templates")).map(
    (name) => `templates/${name}/graph-server.config.json`,
  );

  it.each([...templates, "graph-server.config.example.json"])("accepts %s, which names it", async (path) => {
    const text = await readFile(join(ROOT, path), "utf8");
    expect(JSON.parse(text)).toMatchObject({ $schema: NAMED });
    expect(problems(text)).toEqual([]);
  });

  it.each([
    ['{ "port": "${PORT}", "metrics": "${METRICS:-false}" }', []],
    ['{ "port": "2024" }', ["/port must be integer"]],
    ['{ "prot": 2024 }', [" must NOT have additional properties"]],
    ['{ "log_level": "loud" }', ["/log_level must be equal to one of the allowed values"]],
  ])("answers %s", (text, expected) => {
    expect(problems(text)).toEqual(expect.arrayContaining(expected));
    expect(problems(text).length === 0).toBe(expected.length === 0);
  });
});
