/** Errors for objects that do not exist name what was read and the command that lists what exists. */
import { afterAll, beforeAll, expect } from "vitest";
import { itSqlite as it } from "../helpers/with-sqlite.js";
import { cli, createProject, echoGraph, type Project, startCli } from "./harness.js";

const MISSING = "0198c0de-0000-7000-8000-000000000000";
let project: Project;
let thread: string;
beforeAll(async () => {
  project = await createProject({
    "graph.ts": echoGraph(),
    "graph-server.config.json": { graphs: { agent: "./graph.ts" } },
  });
  const { stdout } = await cli(["run", "--message", "hi", "--json"], { cwd: project.dir });
  ({ thread_id: thread } = JSON.parse(stdout) as { thread_id: string });
});
afterAll(() => project.remove());

const call = (line: string) => cli(line.split(" "), { cwd: project.dir });

/** The error, and the fixing command without the program's name. */
async function failure(line: string, code = 4): Promise<{ error: string; command: string }> {
  const result = await call(line);
  expect({ line, ...result }).toMatchObject({ code, stdout: "" });
  const [, error = "", command = ""] =
    /^error {2}(.+)\n {2}fix {2}graph-serve (.+)\n$/.exec(result.stderr) ?? [];
  return { error, command };
}

it.each([
  ["inspect thread ID", "threads list"],
  ["inspect state ID", "threads list"],
  ["history ID", "threads list"],
  ["replay ID", "threads list"],
  ["export ID", "threads list"],
  ["diff ID ID", "threads list"],
  ["run --thread ID --message hi", "threads list"],
  ["runs list ID", "threads list"],
  ["threads delete ID --yes", "threads list"],
  ["inspect thread 0198c0de", "threads list"],
  ["inspect run ID", "runs list"],
  ["inspect run 0198c0de", "runs list"],
])("%s", async (line, list) => {
  const { error, command } = await failure(line.replaceAll("ID", MISSING));
  expect(error).toMatch(/^(thread|run) "0198c0de.*" does not exist in sqlite .*\.graph-serve\/dev\.db$/);
  expect(command).toBe(list);
  expect(await call(command)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/idle|success/) as string,
  });
});

it.each(["99", "-9", "aaaa-bbbb", MISSING])("checkpoint %s", async (at) => {
  for (const line of [`inspect checkpoint ${thread} --`, `inspect state ${thread}@`, `fork ${thread}@`]) {
    const call = line.endsWith("@") ? line + at : `${line} ${at}`;
    const { error, command } = await failure(call);
    const range = `does not exist: thread ${thread} has the steps 0 to 1 in sqlite `;
    expect(error).toContain(`checkpoint "${at}" ${range}`);
    expect(command).toBe(`history ${thread}`);
  }
});

it("the list command reads the same storage", async () => {
  const other = await call(`inspect thread ${MISSING} --db ./other.db`);
  expect(other.stderr).toContain("there is no database");
  await call("run --message hi --db ./other.db");
  const { error, command } = await failure(`inspect thread ${thread} --db ./other.db`);
  expect(error).toMatch(/does not exist in sqlite .*other\.db$/);
  expect(command).toBe("threads list --db ./other.db");
  const { stderr } = await call("inspect thread nonsense --db ./other.db");
  expect(stderr).toMatch(/list the threads: .*graph-serve threads list --db \.\/other\.db$/m);
});

it("a server is named by its address", async () => {
  const dev = startCli(["dev", "-p", "0"], { cwd: project.dir });
  const [, url = ""] = await dev.stderr.until(/at (http:\S+)/);
  const { error, command } = await failure(`inspect thread ${MISSING} --url ${url}`);
  expect(error).toContain(`does not exist on ${url}`);
  expect(command).toBe(`threads list --url ${url}`);
  dev.stop();
  await dev.exit;
});

it("text that is not an id is refused with the list command", async () => {
  const { stderr } = await call("inspect thread latest");
  expect(stderr).toContain("graph-serve threads list");
});
