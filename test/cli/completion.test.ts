import { execFileSync, spawnSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installedCli } from "../helpers/compiled.js";
import { cli, createProject, echoGraph, type Project } from "./harness.js";
import { describeSqlite } from "../helpers/with-sqlite.js";

const SHELLS = ["bash", "zsh", "fish"] as const;
const scripts: Record<string, string> = {};
let folder: string;
const fileOf = (shell: string) => join(folder, `completion.${shell}`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "graph-serve-completion-"));
  for (const shell of SHELLS) {
    const { code, stdout } = await cli(["completion", shell]);
    expect(code).toBe(0);
    scripts[shell] = stdout;
    await writeFile(fileOf(shell), stdout);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const isInstalled = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0;

/** The completions that bash offers for the last word. */
function offered(...words: string[]): string[] {
  const line = ["graph-serve", ...words];
  const quoted = line.map((word) => `'${word}'`).join(" ");
  const program = `source '${fileOf("bash")}'; COMP_WORDS=(${quoted}); COMP_CWORD=${line.length - 1}
    _graph_serve; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", program], { encoding: "utf8" }).split("\n").filter(Boolean);
}

describe("bash completion", () => {
  it.each([
    [["sch"], ["schemas"]],
    [
      ["config", ""],
      ["print", "path", "validate", "schema"],
    ],
    [["config", "print", "--or"], ["--origin"]],
    [["graph", "--format", "m"], ["mermaid"]],
    [["graph", "./graph.ts", "--xr"], ["--xray"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["schemas", "--out", ""], []],
    [
      ["dev", "--js"],
      ["--json", "--jsonl"],
    ],
    [["runs", "list", "--status", "su"], ["success"]],
    [
      ["threads", "list", "--status", "i"],
      ["idle", "interrupted"],
    ],
    [["test", "--reporter", "ju"], ["junit"]],
    [["run", "--stream", "messages-t"], ["messages-tuple"]],
    [["--vers"], ["--version"]],
    [["dev", "--vers"], []],
  ])("bash completes %j", (words, expected) => {
    expect(offered(...words)).toEqual(expected);
  });

  it("bash completes every command in the help", async () => {
    const { stdout } = await cli(["--help"]);
    const commands = /\nDevelop:\n([\s\S]*?)\n\n(?:Commands|Help|Examples):/.exec(stdout)?.[1] ?? "";
    const names = [...commands.matchAll(/^ {2}([a-z]+)/gm)]
      .map(([, name]) => name)
      .filter((n) => n !== "help");
    expect(names.length).toBeGreaterThan(8);
    expect(offered("")).toEqual(expect.arrayContaining(names));
  });
});

describeSqlite("completion of project names and ids", () => {
  let project: Project;
  let thread: string;
  beforeAll(async () => {
    project = await createProject({
      "graph.ts": echoGraph(),
      "graph-server.config.json": { graphs: { agent: "./graph.ts" } },
      "bin/graph-serve": `#!/bin/sh\nexec node ${await installedCli()} "$@"\n`,
    });
    await chmod(join(project.dir, "bin/graph-serve"), 0o755);
    const { stdout } = await cli(["run", "--message", "hi", "--json"], { cwd: project.dir });
    thread = (JSON.parse(stdout) as { thread_id: string }).thread_id;
  });
  afterAll(() => project.remove());

  it.each(["graph", "thread", "run"])("completion --list %s prints names or ids", async (kind) => {
    const { code, stdout, stderr } = await cli(["completion", "--list", kind], { cwd: project.dir });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(kind === "graph" ? /^agent\n$/ : /^[0-9a-f-]{36}\n$/);
    if (kind === "thread") expect(stdout.trim()).toBe(thread);
  });

  it("completion --list prints nothing if the project cannot be read", async () => {
    await project.put("broken/graph-server.config.json", "{");
    for (const kind of ["graph", "thread", "run"]) {
      const argv = ["completion", "--list", kind];
      expect(await cli(argv, { cwd: join(project.dir, "broken") })).toEqual({
        code: 0,
        stdout: "",
        stderr: "",
      });
    }
  });

  it("names that a shell would expand are not listed", async () => {
    const graphs = { "$(touch${IFS}x)": "./graph.ts", "`id`": "./graph.ts", "team/agent-2": "./graph.ts" };
    await project.put("odd/graph-server.config.json", JSON.stringify({ graphs }));
    const { stdout } = await cli(["completion", "--list", "graph"], { cwd: join(project.dir, "odd") });
    expect(stdout).toBe("team/agent-2\n");
  });

  it("bash completes thread ids and graph names", () => {
    const words = (...line: string[]) => {
      const quoted = [join(project.dir, "bin/graph-serve"), ...line].map((word) => `'${word}'`).join(" ");
      const program = `cd '${project.dir}'; source '${fileOf("bash")}'; COMP_WORDS=(${quoted})
        COMP_CWORD=${line.length}; _graph_serve; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["--norc", "-c", program], { encoding: "utf8" })
        .split("\n")
        .filter(Boolean);
    };
    expect(words("inspect", "thread", thread.slice(0, 4))).toEqual([thread]);
    expect(words("run", "--thread", "")).toEqual([thread]);
    expect(words("schemas", "ag")).toEqual(["agent"]);
  });
});

describe("without npx", () => {
  it.each(SHELLS)(
    "the %s script and the help say what is completed, and which function to define",
    async (shell) => {
      expect(scripts[shell]).toContain("# It completes graph-serve, not npx graph-serve.");
      const define = shell === "fish" ? "npx graph-serve $argv" : 'graph-serve() { npx graph-serve "$@"; }';
      expect(scripts[shell]).toContain(define);
      expect((await cli(["completion", "--help"])).stdout).toContain(define);
    },
  );

  it("bash completes ids with the program of the project, also in its subfolders", async () => {
    const project = await createProject({ "src/deep/.keep": "" });
    const bin = await mkdtemp(join(tmpdir(), "graph-serve-path-"));
    try {
      await rm(join(project.dir, "node_modules"));
      const program = await project.put("node_modules/.bin/graph-serve", "#!/bin/sh\necho found-$3\n");
      await chmod(program, 0o755);
      const offer = (folder: string) =>
        execFileSync(
          "bash",
          [
            "--norc",
            "-c",
            `cd '${folder}'; source '${fileOf("bash")}'; graph-serve() { npx graph-serve "$@"; }
            COMP_WORDS=(graph-serve inspect thread ''); COMP_CWORD=3; PATH='${bin}'; _graph_serve
            printf '%s\\n' "\${COMPREPLY[@]}"`,
          ],
          { encoding: "utf8" },
        ).trim();
      expect(offer(project.dir)).toBe("found-thread");
      expect(offer(join(project.dir, "src/deep"))).toBe("found-thread");
      expect(offer(bin)).toBe("");
    } finally {
      await project.remove();
      await rm(bin, { recursive: true });
    }
  });
});

describe("zsh and fish completion", () => {
  it.each(["zsh", "fish"])("%s accepts its script without errors", (shell) => {
    if (isInstalled(shell)) {
      const { status, stderr } = spawnSync(shell, ["-n", fileOf(shell)], { encoding: "utf8" });
      expect([status, stderr]).toEqual([0, ""]);
    }
    expect(scripts[shell]).toContain("graph-serve");
    expect(scripts[shell]).toMatch(/'\/config\/print'/);
    expect(scripts[shell]).toMatch(/origin/);
  });

  it("fish completes subcommands", (context) => {
    if (!isInstalled("fish")) context.skip();
    const program = `source '${fileOf("fish")}'; complete -C 'graph-serve config p'`;
    const { stdout } = spawnSync("fish", ["--no-config", "-c", program], { encoding: "utf8" });
    expect(stdout.split("\n").map((line) => line.split("\t")[0])).toEqual(
      expect.arrayContaining(["print", "path"]),
    );
  });
});

describe("the completion command", () => {
  it("--json prints the script in a document", async () => {
    const { stdout } = await cli(["completion", "bash", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ shell: "bash", script: scripts.bash?.replace(/\n$/, "\n") });
  });

  it.each([[["completion"]], [["completion", "tcsh"]]])("%j is a usage error", async (argv) => {
    const { code, stdout } = await cli([...argv, "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "invalid_request" } });
  });
});
