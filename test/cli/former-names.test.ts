/** Commands and flags renamed since the previous release: they work, are hidden in the help, and name their replacement. */
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import type { RunningServer } from "../../src/http/listen.js";
import { cli } from "./harness.js";
import { seedProject, serveSeeded, type Seeded } from "./seeded.js";

let seeded: Seeded;
let server: RunningServer;
beforeAll(async () => {
  seeded = await seedProject();
  server = await serveSeeded(seeded.project);
});
afterAll(async () => {
  await server.close(0);
  await seeded.project.remove();
});

const run = (...argv: string[]) => cli(argv, { cwd: seeded.project.dir });

/** The JSON document that a former command prints, and its note on stderr. */
async function former(...argv: string[]) {
  const { code, stdout, stderr } = await run(...argv, "--json");
  expect({ argv, code }).toEqual({ argv, code: 0 });
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  return { document: JSON.parse(stdout) as Record<string, unknown>, note: stderr };
}

describe("a former command", () => {
  it("threads get prints only the thread", async () => {
    const { document, note } = await former("threads", "get", seeded.chat);
    const { stdout } = await run("inspect", "thread", seeded.chat, "--json");
    expect(document).toEqual((JSON.parse(stdout) as { thread: unknown }).thread);
    expect(note).toContain("graph-serve inspect thread");
  });

  it("runs get prints only the run", async () => {
    const { document, note } = await former("runs", "get", seeded.chat, seeded.run);
    expect(document).toMatchObject({ run_id: seeded.run, thread_id: seeded.chat, kwargs: {} });
    expect(note).toContain("graph-serve inspect run");
  });

  it("threads copy prints the new thread", async () => {
    const { document, note } = await former("threads", "copy", seeded.chat, "--checkpoint", "0");
    expect(document).toMatchObject({
      metadata: { forked_from: seeded.chat },
      values: { messages: [{ content: "one" }] },
    });
    expect(note).toContain("graph-serve fork");
  });

  it("pull prints the same as export --url", async () => {
    const { document, note } = await former("pull", server.url, seeded.chat);
    const { stdout } = await run("export", seeded.chat, "--url", server.url);
    expect(document).toEqual(JSON.parse(stdout));
    expect(note).toContain("graph-serve export THREAD --url URL");
  });

  it("config validate prints the same as validate --config-only", async () => {
    const { document, note } = await former("config", "validate");
    const { stdout } = await run("validate", "--config-only", "--json");
    expect(document).toEqual(JSON.parse(stdout));
    expect(note).toContain("graph-serve validate --config-only");
  });

  it("--quiet hides the note", async () => {
    expect((await run("threads", "get", seeded.chat, "-q")).stderr).toBe("");
  });
});

describe("a former flag", () => {
  it.each([
    ["inspect state THREAD --at 0", "inspect state THREAD --checkpoint 0"],
    ["inspect state THREAD --at -1", "inspect state THREAD@-1"],
    ["replay THREAD --from 1", "replay THREAD --checkpoint 1"],
    ["replay THREAD --from 1", "replay THREAD@1"],
  ])("%s works like %s", async (before, now) => {
    const wordsOf = (line: string) => line.replace("THREAD", seeded.chat).split(" ");
    const [old, current] = [await run(...wordsOf(before), "--json"), await run(...wordsOf(now), "--json")];
    expect(old.stdout).toBe(current.stdout);
    expect(old.stderr).toMatch(/^note {2}--(at|from) was renamed to --checkpoint\n/);
  });

  it("--env-file works like --env", async () => {
    await seeded.project.put("other.env", "GRAPH_SERVE_PORT=3456\n");
    const [old, current] = [
      await run("config", "print", "--env-file", "other.env", "--json"),
      await run("config", "print", "--env", "other.env", "--json"),
    ];
    expect(current).toMatchObject({ code: 0, stderr: "" });
    expect(current.stdout).toContain("3456");
    expect(old).toMatchObject({ stdout: current.stdout, stderr: "note  --env-file was renamed to --env\n" });
  });

  it("fork and state set accept --at", async () => {
    for (const argv of [
      ["fork", seeded.chat, "--at", "0"],
      ["state", "set", seeded.chat, "--values", "{}", "--at", "0"],
    ]) {
      const { code, stderr } = await run(...argv);
      expect({ argv, code }).toEqual({ argv, code: 0 });
      expect(stderr).toContain("--at was renamed to --checkpoint");
    }
  });
});

it("former names are not listed in the help", async () => {
  const helps = await Promise.all(
    [["threads"], ["runs"], ["config"], ["inspect", "state"], ["fork"], ["replay"], []].map(async (path) => {
      const { stdout } = await run(...path, "--help");
      return stdout;
    }),
  );
  expect(helps.join("\n")).not.toMatch(
    /^ {2}(get|copy|validate \[options\]|pull)\b|--at\b|--from\b|--env-file\b/m,
  );
});
