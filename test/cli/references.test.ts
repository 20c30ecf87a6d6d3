/** `@last`, a choice on a terminal instead of a missing id, and the list of threads. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeSqlite, itSqlite } from "../helpers/with-sqlite.js";
import { cli, type CliResult, type Project, projectsWith, startCli, echoGraph } from "./harness.js";

const projects = projectsWith(
  { "graph.ts": echoGraph(), "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } } },
  async ({ dir }) => {
    const start = async (...flags: string[]) =>
      JSON.parse((await cli(["run", "--json", ...flags], { cwd: dir })).stdout) as {
        thread_id: string;
        run_id: string;
      };
    const older = await start("--message", "where is my parcel?");
    const newer = await start("--message", "and my refund?");
    const last = await start("--thread", newer.thread_id, "--message", "thanks");
    return { older, newer, last };
  },
);

type Started = Record<"older" | "newer" | "last", { thread_id: string; run_id: string }>;
let project: Project;
let started: Started;
beforeAll(async () => {
  ({ project, details: started } = await projects());
});
afterAll(() => project.remove());

const run = (...argv: string[]): Promise<CliResult> => cli(argv, { cwd: project.dir });

describeSqlite("@last", () => {
  it.each([
    ["inspect", "thread", "@last"],
    ["inspect", "state", "@last"],
    ["inspect", "checkpoint", "@last"],
    ["history", "@last"],
    ["replay", "@last"],
    ["export", "@last"],
    ["runs", "list", "@last"],
  ])("%s %s %s is the thread that changed last", async (...argv) => {
    const words = argv.filter(Boolean);
    const id = words.map((word) => (word === "@last" ? started.newer.thread_id : word));
    const byName = await run(...words, "--json");
    expect(byName).toMatchObject({ code: 0 });
    expect(byName.stdout).toBe((await run(...id, "--json")).stdout);
  });

  itSqlite("names a checkpoint of the last thread, and the last checkpoint of a thread", async () => {
    const path = ["--path", "messages[0].content"];
    expect(await run("inspect", "state", "@last@1", ...path)).toMatchObject({ stdout: "and my refund?\n" });
    const { stdout } = await run("inspect", "state", `${started.older.thread_id}@last`, ...path);
    expect(stdout).toBe("where is my parcel?\n");
    expect(await run("diff", "@last@-2", "@last", "--exit-code")).toMatchObject({ code: 1 });
  });

  itSqlite("names the newest run, of all threads or of one", async () => {
    const found = async (...flags: string[]) =>
      (JSON.parse((await run("inspect", "run", "@last", ...flags, "--json")).stdout) as Record<"run", object>)
        .run;
    expect(await found()).toMatchObject({ run_id: started.last.run_id });
    expect(await found("--thread", started.older.thread_id)).toMatchObject({ run_id: started.older.run_id });
    const history = await run("history", "@last", "--run", started.newer.run_id.slice(0, 20), "--json");
    expect((JSON.parse(history.stdout) as { items: unknown[] }).items).toHaveLength(3);
  });

  itSqlite("fails with a next command if there is nothing yet", async () => {
    const argv = ["inspect", "thread", "@last", "--db", "./empty.db"];
    await cli(["threads", "create", "--db", "./empty.db"], { cwd: project.dir });
    await cli(["threads", "delete", "@last", "--yes", "--db", "./empty.db"], { cwd: project.dir });
    const { code, stderr } = await run(...argv);
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error {2}there are no threads yet in sqlite \S+\n/);
    expect(stderr).toContain('fix  create one: graph-serve run --message "hello"\n');
  });

  it.each([
    ["crons", "show"],
    ["webhooks", "send"],
  ])("%s %s @last looks for the newest", async (...argv) => {
    const { code, stderr } = await run(...argv, "@last");
    expect({ code, stderr }).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("does not exist") as string,
    });
  });
});

describe("without an id", () => {
  const onTerminal = (...argv: string[]) =>
    startCli(argv, { cwd: project.dir, isTTY: true, env: { NO_COLOR: "1" } });

  itSqlite("a thread is chosen from the newest ones on a terminal", async () => {
    const picking = onTerminal("inspect", "state", "--path", "messages[0].content");
    await picking.stderr.until(/thread \[1-2, default 1\]: /);
    expect(picking.stderr.text).toMatch(
      / {2}1 {2}\S+ {2}idle {2}just now {2}and my refund\?\n {2}2 .*parcel\?\n/,
    );
    picking.stdin.push("7\n");
    await picking.stderr.until(/default 1\]: [^]*default 1\]: /);
    picking.stdin.push("2\n");
    expect(await picking.exit).toBe(0);
    expect(picking.stdout.text).toBe("where is my parcel?\n");
  });

  itSqlite("an empty answer chooses the newest run", async () => {
    const picking = onTerminal("inspect", "run");
    await picking.stderr.until(/run \[1-3, default 1\]: /);
    picking.stdin.push("\n");
    expect(await picking.exit).toBe(0);
    expect(picking.stdout.text).toContain(started.last.run_id);
  });

  itSqlite("threads patch, state set and threads delete change the chosen thread", async () => {
    const { project: own, details } = await projects();
    const { thread_id } = details.older;
    const choose = async (answers: [RegExp, string][], ...argv: string[]) => {
      const picking = startCli(argv, { cwd: own.dir, isTTY: true, env: { NO_COLOR: "1" } });
      for (const [question, answer] of answers) {
        await picking.stderr.until(question);
        picking.stdin.push(`${answer}\n`);
      }
      expect([await picking.exit, picking.stderr.text.includes("error")]).toEqual([0, false]);
      return picking.stdout.text;
    };
    const thread: [RegExp, string] = [/thread \[1-2, default 1\]: /, "2"];
    expect(await choose([thread], "threads", "patch", "--metadata", "a=1")).toContain(thread_id);
    // The patched thread is now the newest.
    const newest: [RegExp, string] = [thread[0], ""];
    expect(await choose([newest], "state", "set", "--values", '{"messages":[]}')).toMatch(
      /^[0-9a-f-]{36}\n$/,
    );
    await choose([newest, [/Delete thread .+\[y\/N\]/, "y"]], "threads", "delete");
    const { stdout } = await cli(["threads", "list", "--json"], { cwd: own.dir });
    const { items } = JSON.parse(stdout) as { items: { thread_id: string }[] };
    expect(items.map((one) => one.thread_id)).toEqual([details.newer.thread_id]);
    await own.remove();
  });

  it.each([
    ["thread", "threads", "patch"],
    ["thread", "threads", "delete", "--yes"],
    ["thread", "state", "set", "--values", "{}"],
    ["cron", "crons", "pause"],
    ["cron", "crons", "delete", "--yes"],
    ["webhook", "webhooks", "send"],
    ["webhook", "webhooks", "delete"],
  ])("%s: %s %s changes nothing in a pipe", async (what, ...argv) => {
    const { code, stderr } = await run(...argv);
    expect(code).toBe(2);
    expect(stderr).toContain(`missing required argument "${what}"`);
    expect(stderr).toContain(`use @last for the newest, or an id from graph-serve ${what}s list`);
  });

  itSqlite("says how to create a cron if there is none to choose from", async () => {
    const picking = onTerminal("crons", "pause");
    expect(await picking.exit).toBe(2);
    expect(picking.stderr.text).toContain("there are no crons in sqlite");
    expect(picking.stderr.text).toContain("docs/schedules.md");
  });

  it.each([["history"], ["replay"], ["fork"], ["export"], ["inspect", "thread"]])(
    "%s %s fails in a pipe and says what to use",
    async (...argv) => {
      const { code, stderr } = await run(...argv.filter(Boolean));
      expect(code).toBe(2);
      expect(stderr).toContain('missing required argument "thread"');
      expect(stderr).toContain("use @last for the newest, or an id from graph-serve threads list");
    },
  );
});

describe("threads list", () => {
  itSqlite("shows graph, status and title, without loading the graph", async () => {
    await project.put("graph.ts", "throw new Error('loaded');\n");
    const { stdout, stderr } = await run("threads", "list");
    await project.put("graph.ts", echoGraph());
    expect(stderr).toBe("");
    const [head = "", first = "", second = ""] = stdout.split("\n");
    expect(head).toMatch(/^ID +GRAPH +STATUS +UPDATED +RUNS +TOKENS +TITLE$/);
    expect(first).toMatch(/ agent +idle +\d{4}-\S+Z +2 +\d+ +and my refund\?$/);
    expect(second).toMatch(/ agent +idle .* where is my parcel\?$/);
  });

  itSqlite("shows relative times and colors on a terminal, and ISO times with --utc", async () => {
    const options = { cwd: project.dir, isTTY: true, columns: 120, env: { FORCE_COLOR: "1" } };
    const { stdout } = await cli(["threads", "list"], options);
    expect(stdout).toContain("\u001b[32midle\u001b[39m");
    expect(stdout).toMatch(/(just now|min ago) /);
    expect((await cli(["threads", "list", "--utc"], options)).stdout).toMatch(/\d{4}-\d\d-\d\dT[\d:.]+Z/);
  });

  itSqlite("uses the title in the metadata of a thread", async () => {
    await run("threads", "patch", started.older.thread_id, "--metadata", "title=Parcel");
    expect((await run("threads", "list")).stdout).toMatch(/ Parcel$/m);
  });
});

it("--version --json prints the version of the JSON output", async () => {
  expect(JSON.parse((await run("--version", "--json")).stdout)).toMatchObject({ json: 1 });
});
