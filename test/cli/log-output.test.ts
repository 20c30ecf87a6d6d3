/** The log of a server that is not on a terminal: in few writes, and complete however the process ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BufferedOutput, logOutput } from "../../src/cli/session/log-output.js";

const SOURCE = join(process.cwd(), "src/cli/session/log-output.ts");
const LINES = 25;

/** Logs in a process of its own, which then ends as `end` says. */
async function logged(end: string): Promise<string[]> {
  const program = `
    const { pino } = await import("pino");
    const { logOutput } = await import(${JSON.stringify(SOURCE)});
    const log = pino({ base: undefined }, logOutput({ stderr: process.stderr }));
    for (let index = 0; index < ${LINES}; index += 1) log.info({ index }, "line");
    ${end}`;
  // Its stdin stays open and empty: a program that reads it runs until it is ended.
  const child = spawn(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), "--input-type=module", "--eval", program],
    { stdio: ["pipe", "ignore", "pipe"] },
  );
  const [stderr] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return stderr.split("\n").filter((line) => line.includes('"msg":"line"'));
}

describe("a log that is not on a terminal", () => {
  it.each([
    ["when the process has no more work", ""],
    ["on process.exit", "process.exit(3);"],
    ["on an uncaught error", "throw new Error('crash');"],
    ["on an uncaught error of a timer", "setTimeout(() => { throw new Error('crash'); });"],
    [
      "on a handled signal",
      "process.on('SIGTERM', () => process.exit(0)); process.kill(process.pid, 'SIGTERM'); process.stdin.resume();",
    ],
    ["before a kill that follows an error line", "log.error('line'); process.kill(process.pid, 'SIGKILL');"],
    ["before a kill that follows a pause", "setTimeout(() => process.kill(process.pid, 'SIGKILL'), 400);"],
  ])("is complete %s", { timeout: 60_000 }, async (_, end) => {
    const lines = await logged(end);
    const indexes = lines.map((line) => (JSON.parse(line) as { index?: number }).index);
    expect(indexes.filter((index) => index !== undefined)).toEqual(
      Array.from({ length: LINES }, (_, index) => index),
    );
  });
});

describe("BufferedOutput", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function opened() {
    const writes: string[] = [];
    const output = new BufferedOutput({ write: (text) => writes.push(text) > 0 });
    return { writes, output, log: pino({ base: undefined, timestamp: false }, output) };
  }

  it("writes the first line after a pause at once, and the next ones together", () => {
    const { writes, log } = opened();
    for (const name of ["a", "b", "c"]) log.info(name);
    expect(writes).toHaveLength(1);
    vi.advanceTimersByTime(100);
    expect(writes).toHaveLength(2);
    expect(writes[1]?.match(/"msg"/g)).toHaveLength(2);
    vi.advanceTimersByTime(100);
    log.info("d");
    expect(writes).toHaveLength(3);
  });

  it("writes warnings and long text at once, and every line once it is closed", () => {
    const { writes, log, output } = opened();
    log.info("a");
    log.info("b");
    log.warn("c");
    expect(writes).toHaveLength(2);
    log.info("x".repeat(5000));
    expect(writes).toHaveLength(3);
    log.info("d");
    output.close();
    log.info("e");
    expect(writes).toHaveLength(5);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not delay lines of a replaced process", () => {
    const write = vi.fn(() => true);
    logOutput({ stderr: { write } }).write("a\n");
    expect(write).toHaveBeenCalledWith("a\n");
  });
});
