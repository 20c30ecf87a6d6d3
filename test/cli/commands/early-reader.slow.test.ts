/** `| head -1`: a closed stdout ends every command without an error. Uses real processes and pipes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installPackage } from "../../helpers/compiled.js";
import { createProjectOfCommands } from "./project.js";
import { entries } from "./table.js";

const AT_ONCE = 2;

let installed: string;
let project: Awaited<ReturnType<typeof createProjectOfCommands>>;
beforeAll(async () => {
  [installed, project] = await Promise.all([installPackage(), createProjectOfCommands()]);
});
afterAll(async () => {
  await rm(installed, { recursive: true, force: true });
  await project.project.remove();
});

/** Runs the command with its stdout closed. */
async function unread(argv: string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [join(installed, "bin/graph-serve.js"), ...argv], {
    cwd: project.project.dir,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  const exit = once(child, "exit") as Promise<[number | null]>;
  const [stderr, [code]] = await Promise.all([text(child.stderr), exit]);
  return { code, stderr };
}

it("every command exits with code 0 if stdout is closed", { timeout: 240_000 }, async () => {
  const { threads, run, fork } = project;
  const table = entries({ threads, run, fork, thread: threads.chat, ownRun: run });
  const calls = Object.entries(table).flatMap(([name, { succeeds }]) =>
    // Servers print nothing on stdout.
    succeeds === undefined ? [] : [[...name.split(" "), ...succeeds, "-q"]],
  );
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let argv = calls.shift(); argv; argv = calls.shift()) {
      const { code, stderr } = await unread(argv);
      expect({ argv, code, stack: /^ +at |EPIPE|Error:/m.test(stderr) }).toEqual({
        argv,
        code: 0,
        stack: false,
      });
    }
  });
  await Promise.all(workers);
});
