import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { newId } from "../../src/support/ids.js";
import { openStorage } from "../../src/storage/open.js";
import type { ThreadState } from "../../src/models/state.js";
import type { Thread } from "../../src/models/thread.js";
import type { ThreadFile } from "../../src/models/thread-file.js";
import { redacted } from "../../src/cli/transfer/redact.js";
import { cli, startCli } from "./harness.js";
import { createThreadProject, type ThreadProject } from "./thread-fixture.js";

let project: ThreadProject;
beforeEach(async () => {
  project = await createThreadProject("my card is 4111");
});
afterEach(() => project.remove());

const exported = async (...argv: string[]) => {
  const { code, stdout } = await project.run(["export", project.threadId, ...argv]);
  expect(code).toBe(0);
  return JSON.parse(stdout) as ThreadFile;
};
const OTHER = ["--checkpointer-uri", "./other.db"];
const other = (...argv: string[]) => cli([...argv, ...OTHER], { cwd: project.dir });
const history = async (run: (...argv: string[]) => ReturnType<typeof cli>, threadId: string) => {
  const { stdout } = await run("history", threadId, "--json");
  return (JSON.parse(stdout) as { items: ThreadState[] }).items;
};

describe("export", () => {
  it("the file has the thread, its runs and every state", async () => {
    const file = await exported();
    expect(file).toMatchObject({
      format: "graph-serve/thread",
      version: 1,
      thread: { thread_id: project.threadId, status: "interrupted" },
    });
    expect(file.runs).toHaveLength(3);
    const states = await history((...argv) => project.run(argv), project.threadId);
    expect(file.states.map(({ checkpoint }) => checkpoint)).toEqual(
      states.map(({ checkpoint }) => checkpoint).reverse(),
    );
    expect(JSON.stringify(file)).not.toContain("internal");
    expect(JSON.stringify(await exported("--raw"))).toContain("internal");
  });

  it("redacted strings do not appear in the file", async () => {
    const text = JSON.stringify(await exported("--redact", "messages[*].content"));
    expect(text).not.toContain("4111");
    expect(text).toContain("[redacted]");
    expect(text).toContain('"count":2');
  });

  it("--out writes a file", async () => {
    const { stdout, stderr } = await project.run(["export", project.threadId, "--out", "thread.json"]);
    expect([stdout, stderr]).toEqual(["", "wrote thread.json\n"]);
    const file = JSON.parse(await readFile(join(project.dir, "thread.json"), "utf8")) as ThreadFile;
    expect(file.thread.thread_id).toBe(project.threadId);
  });

  it.each<[unknown, string, unknown]>([
    [{ a: { b: 1, c: 2 } }, "a.b", { a: { b: "[redacted]", c: 2 } }],
    [{ a: [1, 2, 3] }, "a[-1]", { a: [1, 2, "[redacted]"] }],
    [{ a: [{ b: 1 }, { b: 2 }] }, "a.*.b", { a: [{ b: "[redacted]" }, { b: "[redacted]" }] }],
    [{ a: 1 }, "x.y", { a: 1 }],
  ])("%j is redacted at %s", (values, path, expected) => {
    const steps = path
      .split(/[.[\]]+/)
      .filter(Boolean)
      .map((step) => (/^-?\d+$/.test(step) ? Number(step) : step));
    expect(redacted(values, [steps])).toEqual(expected);
  });
});

describe("import", () => {
  beforeEach(async () => {
    await project.run(["export", project.threadId, "--out", "thread.json"]);
  });

  it("the imported thread equals the original", async () => {
    const { code, stdout } = await other("import", "thread.json", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ thread_id: project.threadId, status: "interrupted" });
    const [there, here] = [
      await history(other, project.threadId),
      await history((...argv) => project.run(argv), project.threadId),
    ];
    const facts = (states: ThreadState[]) =>
      states.map(({ values, next, checkpoint, parent_checkpoint, created_at, interrupts, metadata }) => ({
        values,
        next,
        checkpoint,
        parent_checkpoint,
        created_at,
        interrupts,
        step: metadata.step,
        run_id: metadata.run_id,
      }));
    expect(facts(there)).toEqual(facts(here));
    const runs = JSON.parse((await other("runs", "list", project.threadId, "--json")).stdout) as {
      items: object[];
    };
    expect(runs.items).toHaveLength(3);
  });

  it("the question of an imported thread can be answered", async () => {
    await other("import", "thread.json");
    const { code, stdout } = await other(
      "run",
      "--thread",
      project.threadId,
      "--resume",
      '"5 euro"',
      "--json",
      "--checkpointer-scheme",
      "sqlite",
    );
    expect(code).toBe(0);
    const { values } = JSON.parse(stdout) as { values: { messages: { content: string }[] } };
    expect(values.messages.at(-1)?.content).toBe("paid 5 euro");
    expect(values.messages).toHaveLength(5);
  });

  it("an existing id is rejected, and --as new is accepted", async () => {
    const taken = await project.json<{ error: object }>(["import", "thread.json"]);
    expect([taken.code, taken.document.error]).toMatchObject([
      5,
      {
        code: "thread_exists",
        // The same storage, which `project` names with flags.
        hint: expect.stringMatching(
          /graph-serve import thread\.json --as new --checkpointer-scheme sqlite --checkpointer-uri \S+$/,
        ) as string,
      },
    ]);
    const again = await project.json<Thread>(["import", "thread.json", "--as", "new"]);
    expect(again.code).toBe(0);
    expect(again.document.thread_id).not.toBe(project.threadId);
    expect(again.document.values).toMatchObject({ count: 2 });
  });

  it.each<[string, string | object]>([
    ["invalid JSON", "{"],
    ["another format", { format: "other" }],
    ["a later version", { format: "graph-serve/thread", version: 2 }],
    ["no states", { format: "graph-serve/thread", version: 1, thread: { thread_id: "x" }, runs: [] }],
  ])("a file with %s is rejected", async (_, content) => {
    await project.put("odd.json", content);
    const { code, document } = await project.json<{ error: { code: string; message: string } }>([
      "import",
      "odd.json",
    ]);
    expect([code, document.error.code]).toEqual([2, "invalid_request"]);
    expect(document.error.message).toContain("odd.json cannot be imported");
  });

  it.each(["constructor", "__proto__", "toString"])("a call of a node named %s is rejected", async (node) => {
    const file = JSON.parse(await readFile(join(project.dir, "thread.json"), "utf8")) as ThreadFile;
    const last = file.checkpoints!.at(-1)!;
    last.writes.push([newId(), "__pregel_tasks", { lg_name: "Send", node, args: {} }]);
    await project.put("sends.json", file);
    const { code, stdout } = await other("import", "sends.json", "--json");
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { code: "invalid_request" } }]);
    expect(stdout).toContain(`checkpoint ${last.checkpoint_id} calls a node`);
  });

  it("data that would create objects is rejected completely", async () => {
    const file = JSON.parse(await readFile(join(project.dir, "thread.json"), "utf8")) as ThreadFile;
    // Without checkpoints, the states are imported.
    delete file.checkpoints;
    const last = file.states.at(-1);
    Object.assign(last?.values as object, { note: { lc: 1, type: "constructor", id: ["x"], kwargs: {} } });
    await project.put("hostile.json", file);
    const { code } = await other("import", "hostile.json", "--json");
    expect(code).toBe(2);
    const storage = await openStorage({
      checkpointer_scheme: "sqlite",
      checkpointer_uri: join(project.dir, "other.db"),
      checkpointer_options: {},
      max_queued_runs: 1,
    });
    expect(await storage.threads.get(project.threadId)).toBeUndefined();
    expect(
      await storage.checkpointer.getTuple({ configurable: { thread_id: project.threadId } }),
    ).toBeUndefined();
    await storage.close();
  });
});

describe("export --url", () => {
  it("a server exports the same file", async () => {
    const server = startCli(
      ["start", "-p", "0", "--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"],
      { cwd: project.dir },
    );
    const [url] = await Promise.race([
      server.stderr.until(/http:\/\/127\.0\.0\.1:\d+/),
      server.stdout.until(/http:\/\/127\.0\.0\.1:\d+/),
    ]);
    const { stdout } = await cli(["export", project.threadId, "--url", url], { cwd: project.dir });
    const pulled = JSON.parse(stdout) as ThreadFile;
    const { checkpoints: _storedOnly, ...file } = await exported();
    expect(pulled).toEqual(file);
    const missing = await cli(["export", "0198c0de-0000-7000-8000-00000000dead", "--url", url, "--json"], {
      cwd: project.dir,
    });
    expect([missing.code, JSON.parse(missing.stdout)]).toMatchObject([
      4,
      { error: { code: "thread_not_found" } },
    ]);
    server.stop();
    await server.exit;
  });

  it.each<[string[], number, string]>([
    [
      ["export", "0198c0de-0000-7000-8000-00000000dead", "--url", "http://127.0.0.1:9"],
      3,
      "server_unreachable",
    ],
    [["export", "0198c0de-0000-7000-8000-00000000dead", "--url", "ftp://x"], 2, "invalid_request"],
    [["export", "0198c0de-0000-7000-8000-00000000dead"], 4, "thread_not_found"],
    [["export", "0198c0de", "--redact", "a["], 2, "invalid_request"],
  ])("%j exits with code %i", async (argv, exit, code) => {
    const place = argv.includes("--url") ? [] : ["--checkpointer-uri", "./threads.db"];
    const result = await cli([...argv, ...place, "--json"], { cwd: project.dir });
    const { error } = JSON.parse(result.stdout) as { error: { code: string } };
    expect([result.code, error.code]).toEqual([exit, code]);
  });
});
