/** An existing LangGraph project, served and inspected without changes. */
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
import { itSqlite } from "../helpers/with-sqlite.js";

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
const ENCRYPTION = { encryption: { path: "./encryption.ts:encryption" } };
const AUTH_OBJECT = `import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";
export const auth = new Auth()
  .authenticate((request) => {
    const user = request.headers.get("user");
    if (user === null) throw new HTTPException(401);
    return user;
  })
  .on("threads", ({ user }) => user.identity === "ann");
`;
const AUTH = { auth: { path: "./auth.ts:auth" } };

/** Starts a server command and waits for its URL. */
async function serving(...argv: string[]): Promise<{ url: string; stderr: string }> {
  running = startCli([...argv, "-p", "0"], { cwd: project.dir });
  const [, url = ""] = await running.stderr.until(/(http:\/\/[\w.]+:\d+)/);
  return { url, stderr: running.stderr.text };
}

describe.each([["start"], ["dev"]])("%s", (command) => {
  it("the project's http.app runs in front of the routes", async () => {
    await put({ http: { app: "./app.ts:app" } });
    const { url } = await serving(command);
    expect((await fetch(`${url}/info`)).status).toBe(403);
    expect((await fetch(`${url}/info`, { headers: { "x-door": "open" } })).status).toBe(200);
  });

  it("disabled routes answer 404", async () => {
    await put({ http: { disable_store: true, disable_meta: true } });
    const { url } = await serving(command);
    const statuses = ["/ok", "/info", "/openapi.json", "/docs/", "/store/items?key=k", "/assistants/agent"];
    const found = await Promise.all(statuses.map(async (path) => (await fetch(url + path)).status));
    expect(found).toEqual([200, 404, 404, 404, 404, 200]);
  });

  it("LangGraph's defaults apply and are reported", async () => {
    await put({});
    const { url, stderr } = await serving(command);
    expect(stderr).toContain(
      command === "dev" ? "compat langgraph (default of a langgraph.json" : "listening",
    );
    if (command === "start") expect(stderr).toContain('"compat":"langgraph"');
    const run = await fetch(`${url}/threads/${THREAD}/runs`, { method: "POST", body: RUN });
    expect(await run.json()).toMatchObject({ status: "pending", multitask_strategy: "reject" });
  });

  it("--compat specification applies the defaults of the specification", async () => {
    await put({});
    const { url, stderr } = await serving(command, "--compat", "specification");
    expect(stderr).not.toContain("compat langgraph");
    const run = await fetch(`${url}/threads/${THREAD}/runs`, { method: "POST", body: RUN });
    expect(await run.json()).toMatchObject({ status: "success", multitask_strategy: "enqueue" });
  });

  it("the project's Auth object authenticates requests", async () => {
    await project.put("auth.ts", AUTH_OBJECT);
    await put(AUTH);
    const { url } = await serving(command);
    const statusOf = async (user?: string) => {
      const headers: Record<string, string> = user === undefined ? {} : { user };
      return (await fetch(`${url}/threads/search`, { method: "POST", body: "{}", headers })).status;
    };
    expect([await statusOf("ann"), await statusOf("eve"), await statusOf()]).toEqual([200, 403, 401]);
  });

  it("a project without its auth file, or with another kind of auth, is not served", async () => {
    await put(AUTH);
    const missing = await cli([command, "-p", "0"], { cwd: project.dir });
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("auth: file ./auth.ts not found") as unknown,
    });
    await put({ auth: "./auth.ts:auth" });
    const { code, stderr } = await cli([command, "-p", "0"], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stderr).toContain('error  "auth" is not applied: every caller could access every thread');
    expect(stderr).toMatch(/langgraph\.json:\d+/);
  });

  it("unsupported settings are reported", async () => {
    await put({ ui: { agent: "./ui.tsx" }, store: { backend: "redis" } });
    const { stderr } = await serving(command);
    expect(stderr).toMatch(/langgraph\.json:\d+: \\?"ui\\?" is not applied/);
    expect(stderr).toMatch(/langgraph\.json:\d+: \\?"store\\?" is not applied/);
  });
});

describe("the banner of dev", () => {
  it("the banner shows the compat mode", async () => {
    await put({});
    running = startCli(["dev", "-p", "0"], { cwd: project.dir, isTTY: true });
    await running.stderr.until(/quit\S*\n/);
    expect(stripVTControlCharacters(running.stderr.text)).toMatch(
      /^ {2}Compat +langgraph \(default of a langgraph\.json\); for the defaults of the specification: --compat specification$/m,
    );
  });
});

describe("commands that do not serve the project", () => {
  it("config print and doctor show the compat mode and its origin", async () => {
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

  itSqlite("an interrupted run can be saved as a test case that passes", async () => {
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

  itSqlite("commands work in a project with unsupported settings", async () => {
    await put({ ...ENCRYPTION, http: { app: "./nowhere.ts:app" } });
    for (const argv of [["graph"], ["run", "--input", '{"messages":["hi"]}', "--json"], ["threads", "list"]])
      expect(await cli(argv, { cwd: project.dir })).toMatchObject({ code: 0, stderr: "" });
  });

  it("validate reports settings that prevent serving", async () => {
    await put({ ...ENCRYPTION, http: { app: "./nowhere.ts:app" } });
    const { code, stdout, stderr } = await cli(["validate"], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stdout).toMatch(/fail +config +"encryption" is not applied/);
    expect(stdout).toMatch(/ok +graph agent/);
    expect(stdout).toMatch(/fail +http_app +http_app: file \.\/nowhere\.ts not found/);
    expect(stderr).toContain("encryption at rest");
    await put({ http: { app: "./app.ts:app" } });
    expect(await cli(["validate"], { cwd: project.dir })).toMatchObject({ code: 0, stderr: "" });
  });

  it("validate --config-only and doctor report unsupported settings", async () => {
    await put(ENCRYPTION);
    expect((await cli(["validate", "--config-only"], { cwd: project.dir })).code).toBe(2);
    const { code, stdout } = await cli(["doctor"], { cwd: project.dir });
    expect(code).toBe(1);
    expect(stdout).toContain('"encryption" is not applied');
    await put({ ui: {} });
    expect((await cli(["validate", "--config-only"], { cwd: project.dir })).stdout).toContain(
      '"ui" is not applied',
    );
    expect((await cli(["doctor"], { cwd: project.dir })).stdout).toContain('"ui" is not applied');
  });
});
