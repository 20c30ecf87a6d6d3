/** A configuration with a queue and roles: commands that load graphs in memory, or use another storage, ignore both. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { cli, createProject, echoGraph, type Project, startCli } from "./harness.js";
import { itSqlite } from "../helpers/with-sqlite.js";

/** Nothing listens on port 1, so a command that opens the configured storage or stream fails. */
const ROLES = {
  graphs: { agent: "./graph.ts:graph" },
  checkpointer_scheme: "postgres",
  checkpointer_uri: "postgresql://user@127.0.0.1:1/threads",
  stream: "redis",
  stream_uri: "redis://127.0.0.1:1",
  queue: "postgres",
  role: "worker",
};
const CASES = `graph: agent
cases:
  - name: echoes
    input: { messages: [{ role: user, content: hi }] }
    expect: { status: success }
`;

let project: Project;
beforeAll(async () => {
  project = await createProject({
    "graph.ts": echoGraph(),
    "cases/echo.graph.yaml": CASES,
    "graph-server.config.json": ROLES,
  });
});
afterAll(() => project.remove());

const COMMANDS = [
  ["validate"],
  ["graph"],
  ["schemas"],
  ["schemas", "--out", "schemas"],
  ["test", "cases"],
  ["test", "cases", "--server"],
  ["doctor", "--db", "memory"],
  ["run", "--db", "memory", "--message", "hi"],
  ["openapi"],
];
const STORED = [
  ["run", "--db", "./threads.db", "--message", "hi"],
  ["threads", "list", "--db", "./threads.db"],
];

const succeeds = async (_: string, argv: string[]): Promise<void> => {
  const { code, stderr } = await cli(argv, { cwd: project.dir });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("queue") as string });
};
const titled = (commands: string[][]) => commands.map((argv) => [argv.join(" "), argv] as const);
it.each(titled(COMMANDS))("%s succeeds", succeeds);
itSqlite.each(titled(STORED))("%s succeeds", succeeds);

it("test without case files succeeds", async () => {
  await project.put("none/.keep", "");
  const argv = ["test", "-c", "../graph-server.config.json", "--cwd", "none"];
  expect(await cli(argv, { cwd: project.dir })).toMatchObject({ code: 0 });
});

it("doctor reports the graph as valid, and the storage as unreachable", async () => {
  const { code, stdout } = await cli(["doctor", "--json"], { cwd: project.dir });
  const { items } = JSON.parse(stdout) as { items: { check: string; status: string; detail: string }[] };
  expect(items).toContainEqual(expect.objectContaining({ check: "graph agent", status: "ok" }));
  expect(items.filter(({ status }) => status === "fail")).toEqual([
    expect.objectContaining({ check: "storage", detail: expect.stringContaining("127.0.0.1:1") as string }),
  ]);
  expect(code).toBe(1);
});

it("dev --db memory serves and executes runs", async () => {
  const dev = startCli(["dev", "--db", "memory", "--port", "0", "--no-reload", "--json"], {
    cwd: project.dir,
  });
  const [url = ""] = await dev.stdout.until(/http:[^"]+/);
  const answer = await fetch(`${url}/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "agent", input: { messages: [{ role: "user", content: "hi" }] } }),
  });
  expect(await answer.json()).toMatchObject({ messages: [{ content: "hi" }, { content: "echo: hi" }] });
  dev.stop();
  expect(await dev.exit).toBe(0);
});

it("mcp --db memory serves", async () => {
  const mcp = startCli(["mcp", "--db", "memory"], { cwd: project.dir });
  await mcp.stderr.until(/serving agent to a client/);
  mcp.stop();
  expect(await mcp.exit).toBe(0);
});

it("start --db memory fails, because a queue is configured", async () => {
  const { code, stderr } = await cli(["start", "--db", "memory"], { cwd: project.dir });
  expect(code).toBe(2);
  expect(stderr).toContain("queue postgres needs the storage postgres, and checkpointer_scheme is memory");
});
