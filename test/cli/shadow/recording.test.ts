/** `start` records the calls of a share of threads, and deletes the recordings with their threads. */
import { readdir, readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { itSqlite } from "../../helpers/with-sqlite.js";
import type { ShadowResult } from "../../../src/testing/shadow/shadow.js";
import { cli } from "../harness.js";
import { ask, model, project, SECRET, start, stopped, useModelProject } from "./model-project.js";

useModelProject();

const configure = (recording: object) =>
  project.put("graph-server.config.json", {
    graphs: { agent: "./graph.ts:graph" },
    ...{ checkpointer_scheme: "sqlite", checkpointer_uri: "threads.db", recording },
  });

const recorded = () => readdir(join(project.dir, "recordings")).catch(() => []);

itSqlite(
  "runs are recorded without secrets, shadow runs replay them, and they are deleted with their threads",
  async () => {
    await configure({ folder: "./recordings" });
    const url = await start();
    const [kept, deleted] = [await ask(url, "what is the weather"), await ask(url, "hello")];
    await expect.poll(recorded).toEqual([kept, deleted].sort());
    const folder = join(project.dir, "recordings", kept);
    const [name = ""] = await readdir(folder);
    const text = await readFile(join(folder, name), "utf8");
    expect(text).toContain("what is the weather");
    expect(text).not.toContain(SECRET);
    expect((await stat(join(folder, name))).mode & 0o077).toBe(0);
    await fetch(`${url}/threads/${deleted}`, { method: "DELETE" });
    await expect.poll(recorded).toEqual([kept]);
    await stopped();
    const asked = model.requests.length;
    const { stdout } = await cli(["shadow", "--json"], { cwd: project.dir, env: { MODEL_API_KEY: SECRET } });
    const { items } = JSON.parse(stdout) as { items: ShadowResult[] };
    expect(items).toMatchObject([{ thread_id: kept, outcome: "same" }]);
    expect(model.requests).toHaveLength(asked);
  },
);

itSqlite(
  "texts that match `redact` are not recorded, and shadow runs are the same without them",
  async () => {
    await configure({ folder: "./recordings", redact: ["\\b\\d{4} \\d{4}\\b"] });
    const thread = await ask(await start(), "my card is 1234 5678");
    await stopped();
    const folder = join(project.dir, "recordings", thread);
    const [name = ""] = await readdir(folder);
    const text = await readFile(join(folder, name), "utf8");
    expect(text).toContain("my card is [redacted]");
    expect(text).not.toContain("1234 5678");
    const asked = model.requests.length;
    const { stdout } = await cli(["shadow", "--json"], { cwd: project.dir, env: { MODEL_API_KEY: SECRET } });
    expect((JSON.parse(stdout) as { items: ShadowResult[] }).items).toMatchObject([{ outcome: "same" }]);
    expect(model.requests).toHaveLength(asked);
    await configure({ folder: "./recordings", redact: ["("] });
    const refused = await cli(["start", "-p", "0"], { cwd: project.dir });
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("recording.redact: Invalid regular expression") as string,
    ]);
  },
);

itSqlite("recordings that are too old or whose threads are gone are deleted at the next start", async () => {
  await configure({ folder: "./recordings", keep: "2h" });
  const url = await start();
  const [old, gone, kept] = [await ask(url, "one"), await ask(url, "two"), await ask(url, "three")];
  await stopped();
  expect(await recorded()).toHaveLength(3);
  await cli(["threads", "delete", gone, "--yes"], { cwd: project.dir });
  const folder = join(project.dir, "recordings", old);
  const before = Date.now() / 1000 - 3 * 3600;
  for (const name of await readdir(folder)) await utimes(join(folder, name), before, before);
  await start();
  await expect.poll(recorded).toEqual([kept]);
});

itSqlite("only a share of threads is recorded", async () => {
  await configure({ folder: "./recordings", share: 0.000_000_001 });
  await ask(await start(), "hello");
  await stopped();
  expect(await recorded()).toEqual([]);
});

it.each([
  [{}, "folder"],
  [{ folder: "./recordings", share: 2 }, "share"],
  [{ folder: "./recordings", keep: "forever" }, "keep"],
])("the setting %j is refused", async (recording, text) => {
  await configure(recording);
  const { code, stderr } = await cli(["config", "print"], { cwd: project.dir });
  expect(code).toBe(2);
  expect(stderr).toContain(text);
});
