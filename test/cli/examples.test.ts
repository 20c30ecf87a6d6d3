/** Runs the help examples of the debugging commands. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCli } from "./harness.js";
import { createThreadProject, type ThreadProject } from "./thread-fixture.js";

const COMMANDS = [
  "schemas",
  "graph",
  "doctor",
  "recover",
  "completion",
  "replay",
  "fork",
  "state set",
  "export",
  "import",
];

let project: ThreadProject;
let url: string;
let server: ReturnType<typeof startCli>;

beforeAll(async () => {
  project = await createThreadProject();
  server = startCli(
    ["start", "-p", "0", "--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"],
    {
      cwd: project.dir,
    },
  );
  [url] = await Promise.race([
    server.stderr.until(/http:\/\/127\.0\.0\.1:\d+/),
    server.stdout.until(/http:\/\/127\.0\.0\.1:\d+/),
  ]);
});
afterAll(async () => {
  server.stop();
  await server.exit;
  await project.remove();
});

async function examplesOf(command: string): Promise<string[]> {
  const { code, stdout } = await project.run([...command.split(" "), "--help"]);
  expect(code).toBe(0);
  const text = /\nExamples:\n([\s\S]*)$/.exec(stdout)?.[1] ?? "";
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.trim());
}

/** Splits an example into arguments and output file, and replaces placeholder ids and URLs with real ones. */
function wordsOf(example: string): { argv: string[]; out: string | undefined } {
  const [command = "", out] = example.split(/ > /);
  const words = command.match(/'[^']*'|\S+/g) ?? [];
  const argv = words.slice(1).map((word) => {
    if (/^0198c0de/.test(word)) return word.replace(/^[^@]*/, project.threadId);
    return word.startsWith("http://127.0.0.1:2024") ? url : word.replace(/^'|'$/g, "");
  });
  return { argv, out };
}

describe.each(COMMANDS)("%s", (command) => {
  it("the help examples work", async () => {
    const examples = await examplesOf(command);
    expect(examples.length).toBeGreaterThan(0);
    await project.run(["export", project.threadId, "--out", "thread.json"]);
    for (const example of examples) {
      const { argv, out } = wordsOf(example);
      const isOwnPlace = /^(schemas|doctor|completion)$/.test(argv[0] ?? "");
      const words = argv.includes("--step") ? argv.filter((word) => word !== "--step") : argv;
      const place = isOwnPlace ? [] : undefined;
      const result = await (place
        ? project.bare(words)
        : project.run(example === "graph-serve import thread.json" ? [...words, "--as", "new"] : words));
      expect([example, result.code, result.stderr.includes("error  ")]).toEqual([example, 0, false]);
      if (out !== undefined) await project.put(out, result.stdout);
    }
  });
});
