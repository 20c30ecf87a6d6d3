/** The configuration's JSON schema as published. Update it with `npx vitest run test/config/published-schema.test.ts -u`. */
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

describe("the published schema file", () => {
  it("the file matches the schema of the program", async () => {
    const options = { ...(await resolveConfig(FILE)), filepath: FILE };
    await expect(await format(JSON.stringify(publishedSettingsSchema()), options)).toMatchFileSnapshot(FILE);
  });

  it("the file is part of the package", () => {
    const require = createRequire(join(ROOT, "src/index.ts"));
    expect(require.resolve("graph-serve/graph-server.schema.json")).toBe(FILE);
    const { files } = require("graph-serve/package.json") as { files: string[] };
    expect(files).toContain("graph-server.schema.json");
  });

  it("a configuration can name the schema in $schema", async () => {
    const project = await createProject({
      "graph-server.config.json": { $schema: NAMED, graphs: { agent: "./graph.ts" } },
    });
    const { settings, warnings } = await loadConfig({ cwd: project.dir, env: {} });
    expect([settings.graphs, warnings]).toEqual([{ agent: "./graph.ts" }, []]);
    await project.remove();
  });
});

describe("an editor with the published schema", () => {
  let problems: (text: string) => string[];
  beforeAll(async () => {
    // Like language servers: validates strictly by the draft that the schema names and rejects unknown keywords.
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

  it.each([...templates, "graph-server.config.example.json"])(
    "%s names the schema and is valid",
    async (path) => {
      const text = await readFile(join(ROOT, path), "utf8");
      expect(JSON.parse(text)).toMatchObject({ $schema: NAMED });
      expect(problems(text)).toEqual([]);
    },
  );

  it.each([
    ['{ "port": "${PORT}", "metrics": "${METRICS:-false}" }', []],
    ['{ "port": "2024" }', ["/port must be integer"]],
    ['{ "prot": 2024 }', [" must NOT have additional properties"]],
    ['{ "log_level": "loud" }', ["/log_level must be equal to one of the allowed values"]],
  ])("validation of %s finds its problems", (text, expected) => {
    expect(problems(text)).toEqual(expect.arrayContaining(expected));
    expect(problems(text).length === 0).toBe(expected.length === 0);
  });
});
