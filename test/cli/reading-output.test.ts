/** Output for a terminal, a pipe and a program; control characters in data are escaped. */
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { main } from "../../src/cli/main.js";
import { cli, createProject, echoGraph, startCli, type CliOptions, type Project } from "./harness.js";
import { openSeeded, seedProject, type Seeded } from "./seeded.js";

const HOSTILE = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egnp.exe\r";
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
const ESCAPE = /\u001b/;

let seeded: Seeded;
let hostile: string;
beforeAll(async () => {
  seeded = await seedProject();
  const service = await openSeeded(seeded.project);
  hostile = (await service.threads.create({ metadata: { [HOSTILE]: HOSTILE } })).thread_id;
  const input = { messages: [{ role: "user", content: HOSTILE }] };
  await service.runs.create(hostile, { assistant_id: "agent", input });
  await service.close();
});
afterAll(() => seeded.project.remove());

const read = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: seeded.project.dir, ...options });

const readings = (thread: string): string[][] => [
  ["threads", "list"],
  ["inspect", "thread", thread],
  ["runs", "list", thread],
  ["inspect", "thread", thread],
  ["inspect", "thread", thread, "--full"],
  ["inspect", "checkpoint", thread, "0", "--writes"],
  ["inspect", "state", thread],
  ["inspect", "state", thread, "--path", "messages[0].content"],
  ["history", thread],
  ["history", thread, "--oneline"],
  ["diff", `${thread}@0`, thread],
  ["diff", `${thread}@0`, thread, "--format", "html"],
];

describe("a pipe", () => {
  it("output contains no control characters", async () => {
    for (const argv of readings(hostile)) {
      const { code, stdout, stderr } = await read(argv);
      expect({ argv, code, control: CONTROL.test(stdout + stderr) }).toEqual({
        argv,
        code: 0,
        control: false,
      });
    }
  });

  it("ids and times are printed in full", async () => {
    const { stdout } = await read(["threads", "list"]);
    expect(stdout).toContain(seeded.chat);
    expect(stdout).toMatch(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/);
  });

  it("JSON contains no control characters", async () => {
    for (const argv of readings(hostile)) {
      const { stdout } = await read([...argv, "--json"]);
      expect({ argv, control: CONTROL.test(stdout) }).toEqual({ argv, control: false });
    }
    const { stdout } = await read(["inspect", "state", hostile, "--path", "messages[0].content", "--json"]);
    expect(JSON.parse(stdout)).toBe(HOSTILE);
  });
});

describe("a terminal", () => {
  it.each([40, 80, 120])("lines fit %i columns", async (columns) => {
    for (const argv of [...readings(seeded.chat), ...readings(hostile)]) {
      if (argv.includes("html") || argv.includes("state") || argv.includes("--full")) continue;
      const { stdout } = await read(argv, { isTTY: true, columns, env: { NO_COLOR: "1" } });
      const longest = Math.max(...stdout.split("\n").map((line) => line.length));
      expect({ argv, fits: longest <= columns, longest }).toMatchObject({ argv, fits: true });
    }
  });

  it("colours are disabled by NO_COLOR and --no-color", async () => {
    const argv = ["history", seeded.chat];
    expect((await read(argv, { isTTY: true })).stdout).toMatch(ESCAPE);
    expect((await read(argv, { isTTY: true, env: { NO_COLOR: "1" } })).stdout).not.toMatch(ESCAPE);
    expect((await read([...argv, "--no-color"], { isTTY: true })).stdout).not.toMatch(ESCAPE);
  });

  it("short ids are accepted as arguments", async () => {
    const { stdout } = await read(["threads", "list"], { isTTY: true, env: { NO_COLOR: "1" } });
    expect(stdout).not.toContain(seeded.asking);
    const short = seeded.asking.slice(0, 13);
    expect(stdout).toContain(short);
    const found = await read(["inspect", "thread", short, "--json"]);
    expect(found.code === 0 || found.stdout.includes("begin with")).toBe(true);
  });
});

describe("an empty storage", () => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject({
      "graph.ts": echoGraph(),
      "graph-server.config.json": { graphs: { agent: "./graph.ts" } },
    });
    await cli(["threads", "create"], { cwd: project.dir });
  });
  afterAll(() => project.remove());

  it("lists are empty", async () => {
    const list = ["threads", "list", "--status", "busy"];
    const { code, stdout, stderr } = await cli(list, { cwd: project.dir });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("no threads found");
    const json = await cli([...list, "--json"], { cwd: project.dir });
    expect(JSON.parse(json.stdout)).toEqual({ items: [], next: null });
    expect((await cli([...list, "--jsonl"], { cwd: project.dir })).stdout).toBe("");
  });

  it("a thread without runs is shown", async () => {
    const { stdout } = await cli(["threads", "list", "--json"], { cwd: project.dir });
    const [thread = { thread_id: "" }] = (JSON.parse(stdout) as { items: { thread_id: string }[] }).items;
    for (const argv of [["inspect", "thread"], ["history"], ["runs", "list"], ["inspect", "checkpoint"]]) {
      const result = await cli([...argv, thread.thread_id], { cwd: project.dir });
      expect({ argv, code: result.code }).toEqual({ argv, code: 0 });
    }
    const history = await cli(["history", thread.thread_id, "--json"], { cwd: project.dir });
    expect(JSON.parse(history.stdout)).toEqual({ items: [], next: null });
  });
});

describe("a slow reader", () => {
  it("output pauses after every item until the reader is ready", async () => {
    let taken: (() => void) | undefined;
    let held = "";
    const stdout = {
      write: (text: string) => ((held += text), false),
      get writableNeedDrain() {
        return held !== "";
      },
      once: (_event: "drain", listener: () => void) => {
        taken = listener;
      },
    };
    const { stderr, stdin } = startCli([]);
    const exit = main(["history", seeded.chat, "--jsonl"], {
      stdout,
      stderr,
      stdin,
      env: {},
      cwd: seeded.project.dir,
    });
    const lines: number[] = [];
    let ended = false;
    void exit.then(() => (ended = true));
    while (!ended) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!taken) continue;
      lines.push(held.trimEnd().split("\n").length);
      held = "";
      const next = taken;
      taken = undefined;
      next();
    }
    expect(await exit).toBe(0);
    expect(lines).toEqual(Array.from({ length: 9 }, () => 1));
  });
});
