/** Long threads are read page by page: memory use depends on the reader of stdout, not on the length of the thread. */
import { Readable } from "node:stream";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it, vi } from "vitest";
import type { CliIo, Output } from "../../src/cli/terminal/io.js";
import { main } from "../../src/cli/main.js";
import { startTestServer } from "../helpers/app.js";
import { Capture } from "./harness.js";

const CHECKPOINTS = 200;
/** Maximum number of states that a command may request before its first line is read. */
const MOST_HELD = 90;

const State = Annotation.Root({ n: Annotation<number>() });
const loop = new StateGraph(State)
  .addNode("step", ({ n }) => ({ n: n + 1 }))
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < CHECKPOINTS - 2 ? "step" : END), ["step", END])
  .compile();

/** A reader that pauses after the first bytes until `resume` is called. */
class SlowReader implements Output {
  text = "";
  writableNeedDrain = true;
  readonly stalled: Promise<void>;
  #stall: () => void = () => undefined;
  #drain: () => unknown = () => undefined;

  constructor() {
    this.stalled = new Promise((resolve) => (this.#stall = resolve));
  }

  write(text: string): boolean {
    this.text += text;
    return !this.writableNeedDrain;
  }

  once(_event: "drain", listener: () => void): void {
    this.#drain = listener;
    this.#stall();
  }

  resume(): void {
    this.writableNeedDrain = false;
    this.#drain();
  }
}

/** Counts the states requested from a server. */
function countStates(): { asked: number } {
  const count = { asked: 0 };
  const send = globalThis.fetch;
  vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
    if (typeof input === "string" && input.endsWith("/history"))
      count.asked += (JSON.parse(init?.body as string) as { limit: number }).limit;
    return send(input, init);
  });
  return count;
}

async function startLongThread() {
  const server = await startTestServer({ graphs: { agent: loop } });
  const { thread_id } = await server.service.threads.create({});
  const { run_id, status } = await server.service.runs.create(thread_id, {
    assistant_id: "agent",
    input: { n: 0 },
    config: { recursion_limit: CHECKPOINTS },
  });
  expect(status).toBe("success");
  return { url: server.url, thread: thread_id, run: run_id };
}

const io = (stdout: Output): CliIo => ({
  stdout,
  stderr: new Capture(),
  stdin: Object.assign(new Readable({ read: () => undefined }), { isTTY: false }),
  env: {},
  cwd: process.cwd(),
  signal: new AbortController().signal,
});

describe(`a thread of ${CHECKPOINTS} checkpoints`, () => {
  it.each<[string, (ids: { thread: string }) => string[]]>([
    ["history", ({ thread }) => ["history", thread]],
    ["history --json", ({ thread }) => ["history", thread, "--json"]],
    ["history --reverse", ({ thread }) => ["history", thread, "--reverse", "--oneline"]],
    ["replay", ({ thread }) => ["replay", thread]],
    ["replay --jsonl", ({ thread }) => ["replay", thread, "--jsonl"]],
    ["replay --format html", ({ thread }) => ["replay", thread, "--format", "html"]],
    ["export", ({ thread }) => ["export", thread]],
  ])("%s prints its first line before the last page is read", async (_, argv) => {
    const place = await startLongThread();
    const states = countStates();
    const stdout = new SlowReader();
    const exit = main([...argv(place), "--url", place.url], io(stdout));
    await Promise.race([stdout.stalled, exit]);
    expect(stdout.text.length).toBeGreaterThan(0);
    expect(states.asked).toBeLessThanOrEqual(MOST_HELD);
    stdout.resume();
    expect(await exit).toBe(0);
    expect(states.asked).toBeGreaterThanOrEqual(CHECKPOINTS);
    expect(stdout.text.split("\n").length).toBeGreaterThan(CHECKPOINTS);
  });

  it("inspect run prints the summary first, then a page of rows at a time", async () => {
    const place = await startLongThread();
    const states = countStates();
    const stdout = new Capture();
    const exit = main(
      ["inspect", "run", place.run, "--thread", place.thread, "--url", place.url],
      io(stdout),
    );
    await stdout.until(/^status +success$/m);
    expect(states.asked).toBeLessThanOrEqual(MOST_HELD);
    expect(await exit).toBe(0);
    const rows = stdout.text.split("\n").filter((line) => /^-?\d+ /.test(line));
    expect(rows).toHaveLength(CHECKPOINTS);
    expect(stdout.text.match(/^STEP /gm)).toHaveLength(1);
  });
});
