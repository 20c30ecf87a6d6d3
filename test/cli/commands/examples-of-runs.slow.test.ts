/** Runs the help examples of `run`, `test` and `migrate copy` that need a thread, a server or a database. */
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startServer } from "../../../src/http/server.js";
import { openService } from "../../../src/service/open.js";
import { readHelp } from "../../helpers/cli-help.js";
import { withPostgres } from "../../helpers/postgres.js";
import { cli, createProject, type Project } from "../harness.js";

const ID = "0198c0de-0000-7000-8000-000000000000";
const SERVER = "http://127.0.0.1:2024";
const DATABASE = "postgresql://user:password@host:5432/database";

let project: Project;
beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const useTemplate = (name: string) =>
  cp(join(import.meta.dirname, "../../../templates", name), project.dir, { recursive: true });

/** The arguments of the command's example that contains `part`, with `part` replaced by `real`. */
async function example(command: string, part: string, real = part): Promise<string[]> {
  const [help] = await readHelp(command.split(" "));
  const line = help?.examples.find((text) => text.includes(part));
  expect(line, `an example of ${command} with ${part}`).toBeDefined();
  const words = [...(line ?? "").replace(part, real).matchAll(/"([^"]*)"|(\S+)/g)];
  return words.map(([, quoted, plain]) => quoted ?? plain ?? "").slice(1);
}

async function expectWell(argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(argv, { cwd: project.dir });
  expect({ argv, code, stderr: code === 0 ? "" : stderr }).toEqual({ argv, code: 0, stderr: "" });
  return stdout;
}

async function serve(): Promise<string> {
  const service = await openService({ cwd: project.dir, graphs: { agent: "./graph.ts:graph" } });
  const server = await startServer(service, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close(0));
  return server.url;
}

describe("examples of run", () => {
  it("the --resume example works", async () => {
    await useTemplate("hitl");
    const asked = await expectWell(["run", "-i", '{"payee":"Ada","amount":5}', "--json"]);
    const { thread_id } = JSON.parse(asked) as { thread_id: string };
    const answered = await expectWell(await example("run", ID, thread_id));
    expect(answered).toContain("paid 5 to Ada");
  });

  it("the --url example works", async () => {
    await useTemplate("chat");
    const stdout = await expectWell(await example("run", SERVER, await serve()));
    expect(stdout).toContain('"event":"end"');
  });
});

describe("examples of test", () => {
  beforeEach(async () => {
    await useTemplate("chat");
    const cases = await readFile(join(project.dir, "agent.graph.yaml"), "utf8");
    await project.put("cases/agent.graph.yaml", cases.replace("answers word by word", "greets"));
  });

  it.each(["cases/ -t greets", "--ci --reporter junit", "--server --coverage", "--record", "--fault"])(
    "the example with %s works",
    async (part) => {
      await expectWell(await example("test", part));
    },
  );

  it("the --from-run example works", async () => {
    const stdout = await expectWell(["run", "--message", "hello", "--json"]);
    const { run_id } = JSON.parse(stdout) as { run_id: string };
    await expectWell(await example("test", ID, run_id));
  });

  it("the --url example works", async () => {
    await expectWell(await example("test", SERVER, await serve()));
  });
});

describe("examples of migrate copy", () => {
  beforeEach(async () => {
    await useTemplate("chat");
    await expectWell(["run", "--message", "hello"]);
  });

  it("the example with a file works", async () => {
    await expectWell(await example("migrate copy", "--to ./threads.db"));
    const listed = await expectWell(["threads", "list", "--checkpointer-uri", "./threads.db", "--json"]);
    expect((JSON.parse(listed) as { items: unknown[] }).items).toHaveLength(1);
  });

  withPostgres("with PostgreSQL", (postgres) => {
    it("the example with a PostgreSQL URI works", async () => {
      const argv = await example("migrate copy", DATABASE, postgres.uri);
      // Copies into this test's own schema.
      await expectWell([...argv, "--to-options", JSON.stringify({ schema: postgres.schema })]);
    });
  });
});
