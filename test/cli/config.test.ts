import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { cli, createProject, type Project } from "./harness.js";

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph-server.config.json": {
      graphs: { agent: "./graph.ts:graph" },
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "sqlite://user:hunter2@host/threads.db",
      env: { MODEL_KEY: "sk-123" },
    },
  });
});
afterEach(() => project.remove());

const run = (argv: string[], env: Record<string, string> = {}) =>
  cli(["config", ...argv], { cwd: project.dir, env });

describe("config print", () => {
  it("secrets are masked unless --show-secrets is set", async () => {
    const { code, stdout } = await run(["print"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/checkpointer_uri +sqlite:\/\/user:\*+@host\/threads\.db/);
    expect(stdout).not.toMatch(/hunter2|sk-123/);
    expect((await run(["print", "--show-secrets"])).stdout).toMatch(/hunter2[\s\S]*sk-123/);
  });

  it("--origin shows the source of each setting", async () => {
    const { stdout } = await run(["print", "--origin"], { GRAPH_SERVE_PORT: "4000" });
    expect(stdout).toMatch(/checkpointer_scheme +sqlite +graph-server\.config\.json:5/);
    expect(stdout).toMatch(/port +4000 +GRAPH_SERVE_PORT/);
    expect(stdout).toMatch(/host +127\.0\.0\.1 +default/);
  });

  itSqlite("the storage is the one that the commands use", async () => {
    await project.put("graph-server.config.json", {});
    const { stdout, stderr } = await run(["print", "--origin"]);
    expect(stdout).toMatch(/checkpointer_scheme +sqlite +default of dev and run; start uses memory/);
    expect(stdout).toMatch(/checkpointer_uri +\.graph-serve\/dev\.db +default of dev and run/);
    expect(stderr).toBe(
      "threads are stored there by dev and run, and read by other commands; start uses memory\n",
    );
    const env = { GRAPH_SERVE_CHECKPOINTER_SCHEME: "memory" };
    expect(await run(["print", "--origin"], env)).toMatchObject({
      stderr: "",
      stdout: expect.stringMatching(/checkpointer_scheme +memory +GRAPH_SERVE_CHECKPOINTER_SCHEME/) as string,
    });
  });

  it("--json prints one document", async () => {
    const { stdout } = await run(["print", "--origin", "--json"]);
    const document = JSON.parse(stdout) as { settings: object; origins: object };
    expect(document.settings).toMatchObject({ graphs: { agent: "./graph.ts:graph" }, port: 2024 });
    expect(document.origins).toMatchObject({ port: { kind: "default" } });
  });

  it("an invalid configuration exits with code 2 and shows the line", async () => {
    await project.put("graph-server.config.json", '{\n  "prot": 1\n}\n');
    const { code, stdout, stderr } = await run(["print"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      [
        'error  unknown setting "prot"',
        "   at  graph-server.config.json:2:3",
        "         1 | {",
        '       > 2 |   "prot": 1',
        "           |   ^",
        "         3 | }",
        '  fix  did you mean "port"?',
        "",
      ].join("\n"),
    );
  });

  it("an invalid configuration with --json prints an error document", async () => {
    const file = await project.put("graph-server.config.json", '{\n  "port": "x"\n}\n');
    const { code, stdout } = await run(["print", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "config_invalid", file, line: 2 } });
  });
});

describe("config path, validate and schema", () => {
  it("config path prints the file path", async () => {
    expect(await run(["path"])).toMatchObject({
      code: 0,
      stdout: `${project.dir}/graph-server.config.json\n`,
    });
  });

  it("--config and --cwd select the file", async () => {
    await project.put("other/conf.yaml", "port: 4001\n");
    const { stdout } = await cli(["config", "path", "--cwd", "other", "-c", "conf.yaml"], {
      cwd: project.dir,
    });
    expect(stdout).toBe(`${project.dir}/other/conf.yaml\n`);
  });

  it("config validate lists the graphs", async () => {
    expect((await cli(["validate", "--config-only"], { cwd: project.dir })).stdout).toBe(
      "ok    config  graph-server.config.json\nok    compat  specification (default)\nok    graphs  agent, not loaded\n",
    );
  });

  it("config validate lists warnings", async () => {
    await project.put("graph-server.config.json", { checkpointer_uri: "./x.db" });
    const { code, stdout } = await cli(["validate", "--config-only"], { cwd: project.dir });
    expect(code).toBe(0);
    expect(stdout).toMatch(/warn +config +checkpointer_uri is ignored/);
  });

  it("--db memory replaces the database of the configuration without a warning", async () => {
    await project.put("graph-server.config.json", {
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "./x.db",
    });
    const { stdout } = await cli(["doctor", "--db", "memory"], { cwd: project.dir });
    expect(stdout).toMatch(/storage +memory/);
    expect(stdout).not.toContain("checkpointer_uri is ignored");
    const env = { GRAPH_SERVE_CHECKPOINTER_SCHEME: "memory" };
    const { stdout: unintended } = await cli(["doctor"], { cwd: project.dir, env });
    expect(unintended).toContain("checkpointer_uri is ignored");
  });

  it("config schema prints a JSON schema with descriptions", async () => {
    const schema = JSON.parse((await run(["schema"])).stdout) as {
      properties: Record<string, { description: string }>;
    };
    expect(schema.properties.port?.description).toContain("Port to listen on");
  });
});
