/** Threads may contain escape sequences that manipulate a terminal: commands must escape them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { cli, type CliOptions } from "../harness.js";
import { CONTROL, createProjectOfCommands, HOSTILE } from "./project.js";

let project: Awaited<ReturnType<typeof createProjectOfCommands>>;
beforeAll(async () => {
  project = await createProjectOfCommands();
});
afterAll(() => project.project.remove());

const FORMS: [string, string[], CliOptions][] = [
  ["a pipe", [], {}],
  ["a terminal without colours", [], { isTTY: true, columns: 80, env: { NO_COLOR: "1" } }],
  ["a narrow terminal", [], { isTTY: true, columns: 40, env: { NO_COLOR: "1" } }],
  ["a program", ["--json"], {}],
  ["a program that reads lines", ["--jsonl"], {}],
  ["a pipe with --verbose", ["--verbose"], {}],
];

/** Every command that shows thread data. */
function showing(thread: string, run: string): string[][] {
  return [
    ["threads", "list"],
    ["inspect", "thread", thread],
    ["threads", "list", "--status", HOSTILE],
    ["inspect", "thread", HOSTILE],
    ["threads", "create", "--metadata", `${HOSTILE}=${HOSTILE}`],
    ["fork", thread],
    ["threads", "patch", thread, "--metadata", `k=${HOSTILE}`],
    ["threads", "prune", "--older-than", "30d", "--dry-run"],
    ["runs", "list", thread],
    ["inspect", "run", run, "--thread", thread],
    ["inspect", "thread", thread],
    ["inspect", "thread", thread, "--full"],
    ["inspect", "run", run],
    ["inspect", "checkpoint", thread, "--writes"],
    ["inspect", "checkpoint", thread, "--full"],
    ["inspect", "state", thread],
    ["inspect", "state", thread, "--path", "messages[0].content"],
    ["inspect", "state", thread, "--path", HOSTILE],
    ["history", thread],
    ["history", thread, "--oneline"],
    ["history", thread, "--node", HOSTILE],
    ["replay", thread],
    ["replay", thread, "--format", "html"],
    ["diff", `${thread}@-1`, thread],
    ["diff", `${thread}@-2`, thread],
    ["diff", `${thread}@-2`, thread, "--format", "json-patch"],
    ["diff", `${thread}@-2`, thread, "--format", "html"],
    ["fork", thread],
    ["fork", thread, "--values", HOSTILE],
    ["state", "set", thread, "--values", "{}", "--as-node", HOSTILE],
    ["export", thread],
    ["export", thread, "--redact", HOSTILE],
    ["graph", "--thread", thread],
    ["run", "hostile", "--thread", thread, "--resume", JSON.stringify(HOSTILE.replaceAll("\0", ""))],
    ["run", "hostile", "--message", `throw ${HOSTILE.replaceAll("\0", "")}`],
    ["recover"],
    [HOSTILE],
    ["threads", HOSTILE],
    ["threads", "list", `--${HOSTILE}`],
  ];
}

it.each(FORMS)(
  "control characters in a thread are not written to %s",
  { timeout: 120_000 },
  async (_, flags, options) => {
    const { asking, askingRun, failed, failedRun } = project.hostile;
    for (const argv of [...showing(asking, askingRun), ...showing(failed, failedRun)]) {
      const { code, stdout, stderr } = await cli([...argv, ...flags], {
        cwd: project.project.dir,
        ...options,
      });
      const found = CONTROL.exec(stdout + stderr);
      const near =
        found && JSON.stringify((stdout + stderr).slice(Math.max(0, found.index - 40), found.index + 20));
      expect({ argv, near, ours: code === 70 }).toEqual({ argv, near: null, ours: false });
    }
  },
);
