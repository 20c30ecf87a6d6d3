import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { textWidth } from "../../src/view/text.js";
import type { ThreadState } from "../../src/models/state.js";
import { cli, startCli } from "./harness.js";
import { createThreadProject, type ThreadProject } from "./thread-fixture.js";

let project: ThreadProject;
beforeAll(async () => {
  project = await createThreadProject();
});
afterAll(() => project.remove());

type Frame = ThreadState & { nodes: string[]; changes: unknown[] };
const frames = async (...argv: string[]) =>
  (await project.json<{ items: Frame[] }>(["replay", project.threadId, ...argv])).document.items;

describe("text output", () => {
  it("steps are printed as a chat, oldest first", async () => {
    const { code, stdout, stderr } = await project.run(["replay", project.threadId]);
    expect(code).toBe(0);
    expect(stderr).toContain(`thread ${project.threadId}  interrupted  sqlite `);
    expect(stdout).toMatch(/^step -1 {2}input /);
    expect(stdout).toContain("  human   hello\n");
    expect(stdout).toContain("  ai      echo: hello\n");
    expect(stdout.indexOf("echo: hello")).toBeLessThan(stdout.indexOf("echo: again"));
    expect(stdout).toContain('  waiting for {"question":"how much?"}\n');
    expect(stdout).toContain("  + count: 1\n");
    expect(stdout).toContain("  next pay\n");
  });

  it("a branch names the checkpoint it starts from", async () => {
    const { stdout } = await project.run(["replay", project.threadId]);
    const ids = (await frames()).map(({ checkpoint }) => checkpoint?.checkpoint_id);
    expect(stdout).toContain(`  from ${ids[2]}\n`);
  });

  it("hidden keys are shown only with --raw", async () => {
    expect((await project.run(["replay", project.threadId])).stdout).not.toContain("internal");
    const raw = await project.run(["replay", project.threadId, "--raw"]);
    expect(raw.stdout).toContain('+ secret: "internal"');
    expect(raw.stderr).toContain("--raw");
  });

  it("--checkpoint, --to and --changed-only limit the steps", async () => {
    const all = await frames();
    const some = await frames("--checkpoint", "1", "--to", "-3");
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(all.length);
    const news = await frames("--changed-only");
    expect(news.length).toBeLessThan(all.length);
    expect(news.every(({ changes, interrupts }) => changes.length > 0 || interrupts.length > 0)).toBe(true);
  });

  it.each([40, 80])("lines fit %i columns", async (columns) => {
    const { stdout, exit } = startCli(
      ["replay", project.threadId, "--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"],
      { cwd: project.dir, isTTY: true, env: { NO_COLOR: "1" } },
    );
    Object.assign(stdout, { columns });
    expect(await exit).toBe(0);
    expect(Math.max(...stdout.text.split("\n").map(textWidth))).toBeLessThanOrEqual(columns);
    expect(stdout.text).not.toContain("\u001b");
  });

  it("values are hidden if the graph does not load", async () => {
    await project.put("broken.json", { graphs: { agent: "./nowhere.ts:graph" } });
    const { code, stdout, stderr } = await project.run(["replay", project.threadId, "-c", "broken.json"]);
    expect(code).toBe(0);
    expect(stdout).toContain("step -1  input");
    expect(stderr).toContain("values hidden: the graph does not load");
    const raw = await project.run(["replay", project.threadId, "-c", "broken.json", "--raw"]);
    expect(raw.stdout).toContain("echo: hello");
  });
});

describe("replay --step", () => {
  const start = () =>
    startCli(
      [
        "replay",
        project.threadId,
        "--step",
        "--checkpointer-scheme",
        "sqlite",
        "--checkpointer-uri",
        "./threads.db",
      ],
      { cwd: project.dir, isTTY: true, env: { NO_COLOR: "1" } },
    );

  it("space shows the next step, p the previous step, q quits", async () => {
    const { stdout, stderr, stdin, exit } = start();
    await stdout.until(/step -1 {2}input/);
    expect(stderr.text).toContain("keys: space next, p back, q quit");
    const seen = stdout.text.length;
    stdin.push(" ");
    await stdout.until(/step 0/, seen);
    expect(stdout.text).not.toContain("step 1");
    const again = stdout.text.length;
    stdin.push("p");
    await stdout.until(/step -1 {2}input/, again);
    stdin.push("q");
    expect(await exit).toBe(0);
  });

  it.each<[string, (running: ReturnType<typeof start>) => unknown, number]>([
    ["Ctrl-C", ({ stdin }) => stdin.push("\u0003"), 130],
    ["Ctrl-D", ({ stdin }) => stdin.push("\u0004"), 0],
    ["end of input", ({ stdin }) => stdin.push(null), 0],
    ["SIGTERM", (running) => running.stop("SIGTERM"), 143],
  ])("%s ends replay and restores the terminal", async (_, end, code) => {
    const running = start();
    const modes: boolean[] = [];
    running.stdin.setRawMode = (raw) => modes.push(raw);
    await running.stdout.until(/step -1 {2}input/);
    // Raw mode is set before the first output, so that a key pressed immediately counts.
    expect(modes).toEqual([true]);
    end(running);
    expect(await running.exit).toBe(code);
    expect(modes).toEqual([true, false]);
  });

  it("replay ends after the last step", async () => {
    const { stdin, stdout, exit } = start();
    stdin.push("n".repeat(50));
    expect(await exit).toBe(0);
    expect(stdout.text).toContain("how much?");
  });
});

describe("bad input", () => {
  it.each<[string[], number, string]>([
    [["replay", "0198c0de-0000-7000-8000-00000000dead"], 4, "thread_not_found"],
    [["replay", "THREAD", "--checkpoint", "77"], 4, "checkpoint_not_found"],
    [["replay", "THREAD", "--step", "--delay", "1"], 2, "invalid_request"],
    [["replay", "THREAD", "--step"], 2, "invalid_request"],
    [["replay", "THREAD", "--delay", "soon"], 2, "invalid_request"],
    [["replay", "THREAD", "--format", "pdf"], 2, "invalid_request"],
  ])("%j exits with code %i", async (argv, exit, code) => {
    const words = argv.map((word) => (word === "THREAD" ? project.threadId : word));
    const result = await project.json<{ error: { code: string } }>(words);
    expect([result.code, result.document.error.code]).toEqual([exit, code]);
  });

  it("a thread without checkpoints prints an empty list", async () => {
    const { document } = await project.json<{ thread_id: string }>(["threads", "create"]);
    expect((await project.json<object>(["replay", document.thread_id])).document).toEqual({
      items: [],
      next: null,
    });
    expect((await project.run(["replay", document.thread_id])).stderr).toContain("no checkpoints to replay");
  });

  it("a signal ends a delay", async () => {
    const running = startCli(
      [
        "replay",
        project.threadId,
        "--delay",
        "100000",
        "--checkpointer-scheme",
        "sqlite",
        "--checkpointer-uri",
        "./threads.db",
      ],
      { cwd: project.dir },
    );
    await running.stdout.until(/step -1/);
    running.stop("SIGINT");
    expect(await running.exit).toBe(130);
  });
});

it("replay prints the same steps through a server", async () => {
  const server = startCli(
    ["start", "-p", "0", "--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"],
    { cwd: project.dir },
  );
  const found = await Promise.race([
    server.stderr.until(/http:\/\/127\.0\.0\.1:\d+/),
    server.stdout.until(/http:\/\/127\.0\.0\.1:\d+/),
  ]);
  const offline = await project.run(["replay", project.threadId, "--json"]);
  const online = await cli(["replay", project.threadId, "--json", "--url", found[0]], { cwd: project.dir });
  expect(online.stdout).toBe(offline.stdout);
  server.stop();
  await server.exit;
});
