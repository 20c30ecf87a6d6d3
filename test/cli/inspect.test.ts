import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { cli, type CliOptions } from "./harness.js";
import { seedProject, type Seeded } from "./seeded.js";

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seedProject();
});
afterAll(() => seeded.project.remove());

const inspect = (argv: string[], options: CliOptions = {}) =>
  cli(["inspect", ...argv], { cwd: seeded.project.dir, ...options });

describe("inspect thread", () => {
  it("the command that answers the question is shown", async () => {
    const { stdout } = await inspect(["thread", seeded.asking]);
    expect(stdout).toContain('interrupt  {"question":"about cats?"}');
    const [, line = ""] = /^answer +graph-serve (.+)$/m.exec(stdout) ?? [];
    expect(line).toBe(`run ask --thread ${seeded.asking} --resume true`);
    const copy = (await cli(["fork", seeded.asking], { cwd: seeded.project.dir })).stdout.trim();
    const argv = [...line.replace(seeded.asking, copy).split(" "), "--json"];
    const { code, stdout: answered } = await cli(argv, { cwd: seeded.project.dir });
    expect(code).toBe(0);
    expect(JSON.parse(answered)).toMatchObject({ status: "success", values: { answer: "true" } });
  });

  it("the answer command uses the same storage", async () => {
    const storage = ["--checkpointer-scheme", "sqlite", "--checkpointer-uri", ".graph-serve/dev.db"];
    const { stdout } = await inspect(["thread", seeded.asking, ...storage]);
    expect(stdout).toContain(
      `graph-serve run ask ${storage.join(" ")} --thread ${seeded.asking} --resume true`,
    );
  });

  it("the error and its node are shown", async () => {
    const { stdout } = await inspect(["thread", seeded.failed]);
    expect(stdout).toMatch(/^status +error$/m);
    expect(stdout).toMatch(/^runs +1, 1 failed, 0 tokens$/m);
    expect(stdout).toMatch(/^failed +burst: RangeError: kaboom$/m);
  });

  it("values are folded unless --full is set", async () => {
    const folded = (await inspect(["thread", seeded.chat, "--values"])).stdout;
    expect(folded).toBe(
      "messages: [4 items]\n  - human: one\n  - ai: echo: one\n  - human: other two\n  - ai: echo: other two\n",
    );
    const full = (await inspect(["thread", seeded.chat, "--values", "--full"])).stdout;
    expect(full).toContain("additional_kwargs");
  });
});

describe("inspect run", () => {
  it("the supersteps are listed in order", async () => {
    const { stdout } = await inspect(["run", seeded.run]);
    expect(stdout).toMatch(/^status +success$/m);
    expect(stdout).toMatch(/^input +{"messages":\[{"role":"user","content":"one"}]}$/m);
    const rows = stdout.split("\n").filter((line) => /^-?\d/.test(line));
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual([
      ["-1", "(input)"],
      ["0", "(start)"],
      ["1", "reply"],
    ]);
  });

  it("an abbreviated run id is accepted", async () => {
    const whole = (await inspect(["run", seeded.run])).stdout;
    const part = seeded.run.slice(0, 30);
    for (const argv of [[part], [`${part}…`], [part, "--thread", seeded.chat.slice(0, 30)]])
      expect((await inspect(["run", ...argv])).stdout).toBe(whole);
    const { code, stderr } = await inspect(["run", seeded.run.slice(0, 6)]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /runs begin with \w{6}\n {2}fix {2}use more characters of the id: [\w-]{36}, [\w-]{36}/,
    );
    expect((await inspect(["run", "ffffffff"])).code).toBe(4);
    expect((await inspect(["run", "nonsense"])).stderr).toContain("neither an id nor the beginning of one");
  });

  it("the durations of supersteps do not exceed the duration of the run", async () => {
    const { stdout } = await inspect(["run", seeded.run, "--thread", seeded.chat, "--json"]);
    const { run, supersteps } = JSON.parse(stdout) as {
      run: { created_at: string; updated_at: string };
      supersteps: { ms: number | null; nodes: string[]; changed: string[] }[];
    };
    expect(supersteps.map(({ nodes }) => nodes)).toEqual([[], ["__start__"], ["reply"]]);
    expect(supersteps[2]?.changed).toEqual(["messages"]);
    const total = supersteps.reduce((sum, { ms }) => sum + (ms ?? 0), 0);
    expect(total).toBeLessThanOrEqual(Date.parse(run.updated_at) - Date.parse(run.created_at));
  });
});

describe("inspect checkpoint", () => {
  it("a checkpoint is found by id, id prefix, step and index", async () => {
    const { chat, fork } = seeded;
    const idOf = async (at: string) => {
      const { stdout } = await inspect(["checkpoint", chat, at, "--json"]);
      return (JSON.parse(stdout) as { checkpoint: { checkpoint_id: string } }).checkpoint.checkpoint_id;
    };
    expect(await idOf(fork)).toBe(fork);
    expect(await idOf(fork.slice(0, 18))).toBe(fork);
    expect(await idOf("1")).toBe(fork);
    expect(await idOf("4")).toBe(await idOf("-1"));
    expect(await idOf("-7")).toBe(fork);
  });

  it("--writes shows the writes of each task", async () => {
    const { stdout } = await inspect(["checkpoint", seeded.vault, "0", "--writes"]);
    expect(stdout).toMatch(/^tasks\n {2}hide {2}\S+\n {4}n: 2\nvalues\n {2}n: 1$/m);
    expect((await inspect(["checkpoint", seeded.vault, "0"])).stdout).not.toContain("n: 2");
  });
});

describe("inspect state", () => {
  it("a string is printed without quotes", async () => {
    const { stdout } = await inspect(["state", seeded.chat, "--path", "messages[-1].content"]);
    expect(stdout).toBe("echo: other two\n");
  });

  it("other values are printed as JSON", async () => {
    expect((await inspect(["state", seeded.vault])).stdout).toBe('{\n  "n": 2\n}\n');
    expect((await inspect(["state", seeded.vault, "--path", "n", "--checkpoint", "0"])).stdout).toBe("1\n");
  });

  it.each([
    ["nothing", "does not exist in this state"],
    ["messages[", "is not a valid path"],
  ])("the path %s is a usage error", async (path, message) => {
    const { code, stderr } = await inspect(["state", seeded.chat, "--path", path]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe("runs list", () => {
  it("the table has one row per run", async () => {
    const { stdout } = await cli(["runs", "list", seeded.failed], { cwd: seeded.project.dir });
    const [head = "", row = ""] = stdout.split("\n");
    expect(head.split(/ {2,}/)).toEqual(["RUN", "STATUS", "STRATEGY", "STARTED", "MS", "TOKENS", "ERROR"]);
    expect(row).toMatch(/^[0-9a-f-]{36} {2}error +enqueue +\S+Z +\d+ +0 +kaboom$/);
  });

  it("--limit and --offset page through the runs", async () => {
    const list = async (...argv: string[]) =>
      JSON.parse(
        (await cli(["runs", "list", seeded.chat, "--json", ...argv], { cwd: seeded.project.dir })).stdout,
      ) as {
        items: { run_id: string }[];
        next: number | null;
      };
    const [first, second] = [await list("--limit", "2"), await list("--limit", "2", "--offset", "2")];
    expect([first.items.length, first.next, second.items.length, second.next]).toEqual([2, 2, 1, null]);
    expect(second.items[0]?.run_id).toBe(seeded.run);
    expect((await list("--limit", "3")).next).toBeNull();
  });
});
