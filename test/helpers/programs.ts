/** System programs that tests start. Tests are skipped with a message if a program is not installed. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { describe, it } from "vitest";

const FOLDERS = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];

/** Declares tests that need a program and passes its path to `declare`. */
export function withProgram(name: string, title: string, declare: (path: string) => void): void {
  const path = FOLDERS.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (path !== undefined) {
    describe(title, () => declare(path));
    return;
  }
  process.stderr.write(`${title}: skipped, the program ${name} is not installed.\n`);
  it.skip(`${title}: skipped, no program ${name}`, () => undefined);
}

const LIMIT_MS = 30_000;
const STEP_MS = 50;

/** Starts a program and resolves when it listens on `port`. */
export async function startListening(command: readonly string[], port: number): Promise<ChildProcess> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += String(text)));
  for (const end = Date.now() + LIMIT_MS; Date.now() < end;) {
    if (child.exitCode !== null) break;
    if (await answers(port)) return child;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  child.kill("SIGKILL");
  throw new Error(`${program} does not listen on ${port}: ${printed}`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

export async function stopProgram(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

/** Wraps a command to run as another user, for programs that refuse to run as root. */
export function asOther(user: string, command: readonly string[]): string[] {
  if (process.getuid?.() !== 0) return [...command];
  return ["runuser", "-u", user, "--", ...command];
}

/** Changes the owner of a file or folder to the user of `asOther`. */
export function giveTo(user: string, path: string): void {
  if (process.getuid?.() === 0) spawnSync("chown", ["-R", user, path]);
}
