/** An existing LangGraph project, served and looked at as it stands. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, createProject, echoGraph, startCli, type Project, type RunningCli } from "./harness.js";

let project: Project;
let running: RunningCli | undefined;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": echoGraph(),
    "app.ts": `import { Hono } from "hono";
export const app = new Hono();
app.use(async (c, next) => (c.req.header("x-door") === "open" ? next() : c.text("closed", 403)));
`,
  });
});
afterEach(async () => {
  running?.stop();
  await running?.exit;
  running = undefined;
  await project.remove();
});

const put = (fields: object) => project.put("langgraph.json", { graphs: { agent: "./graph.ts" }, ...fields });
const AUTH = { auth: { path: "./auth.ts:auth" } };

/** Start a command that serves, and wait for its address. */
async function serving(...argv: string[]): Promise<{ url: string; stderr: string }> {
  running = startCli([...argv, "-p", "0"], { cwd: project.dir });
  const [, url = ""] = await running.stderr.until(/(http:\/\/[\w.]+:\d+)/);
  return { url, stderr: running.stderr.text };
}

describe.each([["start"], ["dev"]])("%s", (command) => {
  it("puts the project's app in front of the routes", async () => {
    await put({ http: { app: "./app.ts:app" } });
    const { url } = await serving(command);
    expect((await fetch(`${url}/info`)).status).toBe(403);
    expect((await fetch(`${url}/info`, { headers: { "x-door": "open" } })).status).toBe(200);
  });

  it("leaves out the routes that are switched off", async () => {
    await put({ http: { disable_store: true, disable_meta: true } });
    const { url } = await serving(command);
    const statuses = ["/ok", "/info", "/openapi.json", "/docs/", "/store/items?key=k", "/assistants/agent"];
    const found = await Promise.all(statuses.map(async (path) => (await fetch(url + path)).status));
    expect(found).toEqual([200, 404, 404, 404, 404, 200]);
  });

  it("does not serve what its author has closed", async () => {
    await put(AUTH);
    const { code, stderr } = await cli([command, "-p", "0"], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stderr).toContain('error  "auth" is not applied here: every caller could use every thread');
    expect(stderr).toMatch(/langgraph\.json:\d+/);
    expect(stderr).toContain("GRAPH_SERVE_AUTH");
  });

  it("names what it does not apply", async () => {
    await put({ ui: { agent: "./ui.tsx" }, store: { index: {} } });
    const { stderr } = await serving(command);
    expect(stderr).toMatch(/langgraph\.json:\d+: \\?"ui\\?" is not applied/);
    expect(stderr).toMatch(/langgraph\.json:\d+: \\?"store\\?" is not applied/);
  });
});

describe("commands that serve nobody", () => {
  it("look at the project all the same", async () => {
    await put({ ...AUTH, http: { app: "./nowhere.ts:app" } });
    for (const argv of [["graph"], ["run", "--input", '{"messages":["hi"]}', "--json"], ["threads", "list"]])
      expect(await cli(argv, { cwd: project.dir })).toMatchObject({ code: 0, stderr: "" });
  });

  it("validate says what would keep it from being served", async () => {
    await put({ ...AUTH, http: { app: "./nowhere.ts:app" } });
    const { code, stdout, stderr } = await cli(["validate"], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stdout).toMatch(/fail +config +"auth" is not applied here/);
    expect(stdout).toMatch(/ok +agent/);
    expect(stdout).toMatch(/fail +http_app +http_app: file \.\/nowhere\.ts not found/);
    expect(stderr).toContain("GRAPH_SERVE_AUTH");
    await put({ http: { app: "./app.ts:app" } });
    expect(await cli(["validate"], { cwd: project.dir })).toMatchObject({ code: 0, stderr: "" });
  });

  it("validate and doctor say it too", async () => {
    await put(AUTH);
    expect((await cli(["validate", "--config-only"], { cwd: project.dir })).code).toBe(2);
    const { code, stdout } = await cli(["doctor"], { cwd: project.dir });
    expect(code).toBe(1);
    expect(stdout).toContain('"auth" is not applied here');
    await put({ ui: {} });
    expect((await cli(["validate", "--config-only"], { cwd: project.dir })).stderr).toContain(
      '"ui" is not applied',
    );
    expect((await cli(["doctor"], { cwd: project.dir })).stdout).toContain('"ui" is not applied');
  });
});
