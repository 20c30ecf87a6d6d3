/** An existing LangGraph project, served and looked at as it stands. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tmpdir } from "node:os";
import { stripVTControlCharacters } from "node:util";
import {
  askingGraph,
  cli,
  createProject,
  echoGraph,
  startCli,
  type Project,
  type RunningCli,
} from "./harness.js";

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
const THREAD = "11111111-1111-4111-8111-111111111111";
const RUN = JSON.stringify({ assistant_id: "agent", if_not_exists: "create", input: { messages: ["hi"] } });
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

  it("serves with LangGraph's defaults, and says so", async () => {
    await put({});
    const { url, stderr } = await serving(command);
    expect(stderr).toContain(
      command === "dev" ? "compat langgraph (default of a langgraph.json" : "listening",
    );
    if (command === "start") expect(stderr).toContain('"compat":"langgraph"');
    const run = await fetch(`${url}/threads/${THREAD}/runs`, { method: "POST", body: RUN });
    expect(await run.json()).toMatchObject({ status: "pending", multitask_strategy: "reject" });
  });

  it("serves by the specification when told to", async () => {
    await put({});
    const { url, stderr } = await serving(command, "--compat", "specification");
    expect(stderr).not.toContain("compat langgraph");
    const run = await fetch(`${url}/threads/${THREAD}/runs`, { method: "POST", body: RUN });
    expect(await run.json()).toMatchObject({ status: "success", multitask_strategy: "enqueue" });
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

describe("the banner of dev", () => {
  it("has a line for the defaults that hold", async () => {
    await put({});
    running = startCli(["dev", "-p", "0"], { cwd: project.dir, isTTY: true });
    await running.stderr.until(/quit\S*\n/);
    expect(stripVTControlCharacters(running.stderr.text)).toMatch(
      /^ {2}Compat +langgraph \(default of a langgraph\.json; --compat specification\)$/m,
    );
  });
});

describe("commands that serve nobody", () => {
  it("tell whose defaults hold, and why", async () => {
    await put({});
    const { stdout } = await cli(["config", "print", "--origin"], { cwd: project.dir });
    expect(stdout).toMatch(/^compat +langgraph +default of a langgraph\.json$/m);
    expect(stdout).toMatch(/^run_create_mode +background +default of compat langgraph$/m);
    expect((await cli(["doctor"], { cwd: project.dir })).stdout).toMatch(
      /^ok +compat +langgraph \(default of a langgraph\.json\)$/m,
    );
    expect((await cli(["doctor"], { cwd: tmpdir() })).stdout).toMatch(
      /^ok +compat +specification \(default\)$/m,
    );
  });

  it("call a run that asks interrupted, and write a case that passes", async () => {
    await put({});
    await project.put("graph.ts", askingGraph);
    const at = { cwd: project.dir };
    const asked = await cli(["run", "--input", '{"topic":"tea"}', "--json"], at);
    expect(JSON.parse(asked.stdout)).toMatchObject({ status: "interrupted" });
    const { thread_id } = JSON.parse(asked.stdout) as { thread_id: string };
    const listed = JSON.parse((await cli(["runs", "list", thread_id, "--json"], at)).stdout) as {
      items: [{ run_id: string; status: string }];
    };
    const [run] = listed.items;
    expect(run).toMatchObject({ status: "success" });
    expect((await cli(["test", "--from-run", run.run_id, "--ci"], at)).code).toBe(0);
    const { code, stdout } = await cli(["test", "--ci", "--server"], at);
    expect(stdout).toMatch(/1 passed/);
    expect(code).toBe(0);
  });

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
