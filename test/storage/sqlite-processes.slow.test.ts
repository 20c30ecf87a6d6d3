import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, expect } from "vitest";
import { forkProgram } from "../helpers/compiled.js";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { openSqlite } from "../../src/storage/sqlite/open.js";
import { tempFolder } from "./temp-folder.js";

const temp = tempFolder();
const writers: ChildProcess[] = [];

/** Starts a writer; `lines` grows with the rows it has acknowledged. */
async function startWriter(file: string) {
  const child = await forkProgram("sqlite-writer", [file], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  writers.push(child);
  const lines: string[] = [];
  const wanted: { count: number; resolve: () => void }[] = [];
  createInterface({ input: child.stdout! }).on("line", (line) => {
    lines.push(line);
    for (const { count, resolve } of wanted) if (lines.length >= count) resolve();
  });
  const acknowledged = (count: number) => new Promise<void>((resolve) => wanted.push({ count, resolve }));
  const kill = async () => {
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  };
  return { lines, acknowledged, kill };
}

afterEach(() => {
  for (const child of writers.splice(0)) child.kill("SIGKILL");
});

async function assertStored(file: string, lines: string[]): Promise<void> {
  const storage = await openSqlite({
    checkpointer_scheme: "sqlite",
    checkpointer_uri: file,
    checkpointer_options: {},
    max_queued_runs: 1,
  });
  try {
    for (const line of lines) {
      const [thread_id = "", run_id = ""] = line.split(" ");
      expect(await storage.runs.get(thread_id, run_id)).toMatchObject({ run_id, status: "pending" });
      const tuple = await storage.checkpointer.getTuple({ configurable: { thread_id } });
      expect(tuple?.metadata).toMatchObject({ run_id });
    }
    expect((await storage.runs.unfinished()).length).toBeGreaterThanOrEqual(lines.length);
  } finally {
    await storage.close();
  }
}

describe("processes on one SQLite file", () => {
  it("a killed process loses no acknowledged row", async () => {
    const file = temp("killed.db");
    const writer = await startWriter(file);
    await writer.acknowledged(50);
    await writer.kill();
    expect(writer.lines.length).toBeGreaterThanOrEqual(50);
    await assertStored(file, writer.lines);
  });

  it("three processes create one file concurrently", async () => {
    const file = temp("shared.db");
    const started = await Promise.all([startWriter(file), startWriter(file), startWriter(file)]);
    await Promise.all(started.map((writer) => writer.acknowledged(30)));
    await Promise.all(started.map((writer) => writer.kill()));
    await assertStored(
      file,
      started.flatMap((writer) => writer.lines),
    );
  });
});
