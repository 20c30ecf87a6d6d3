/** `runs dead` and `runs redrive`: directly on the storage, without graphs, and through a server. */
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import type { DeadRun } from "../../src/models/dead-run.js";
import { openService } from "../../src/service/open.js";
import { openStorage } from "../../src/storage/open.js";
import { serve } from "../helpers/app.js";
import { createTrails, INPUT, leaveRun, type LeftRun } from "../helpers/left-runs.js";
import { openTestService } from "../helpers/service.js";
import { cli, createProject } from "./harness.js";

const NOBODY = "0198c0de-0000-7000-8000-000000000000";

/** A server on a SQLite file in a folder without a configuration, with dead runs. */
async function open(count: number) {
  const project = await createProject();
  onTestFinished(() => project.remove());
  const db = join(project.dir, "threads.db");
  const graphs = createTrails(join(project.dir, "log"));
  const settings = { checkpointer_scheme: "sqlite", checkpointer_uri: db, max_attempts: 1 };
  const storage = await openStorage({ ...settings, checkpointer_options: {}, max_queued_runs: 10 });
  const before = await openService({ graphs, storage, mode: "edit" });
  const left: LeftRun[] = [];
  for (let n = 0; n < count; n += 1) left.push(await leaveRun(before, storage, { attempt: 1 }));
  await before.close(0);
  const service = await openTestService({ graphs, settings });
  const { url } = await serve(service);
  return { project, service, left, places: { db: ["--db", db], url: ["--url", url] } };
}

describe.each(["db", "url"] as const)("dead runs with --%s", (place) => {
  async function opened(count: number) {
    const { project, places, ...rest } = await open(count);
    const runs = (...argv: string[]) => cli(["runs", ...argv, ...places[place]], { cwd: project.dir });
    return { ...rest, runs };
  }

  it("dead runs are listed in pages, and a single run is redriven", async () => {
    const { service, left, runs } = await opened(2);
    const [first, second] = left as [LeftRun, LeftRun];
    const { code, stdout } = await runs("dead", "--limit", "1", "--json");
    const { items, next } = JSON.parse(stdout) as { items: DeadRun[]; next: number };
    expect([code, next]).toEqual([0, 1]);
    const reason = "the run's process died once, and it is not tried again";
    expect(items).toMatchObject([{ ...second, graph_id: "trail", attempts: 1, reason }]);
    const text = (await runs("dead")).stdout;
    for (const part of [first.run_id, second.run_id, "trail", reason]) expect(text).toContain(part);
    const redriven = await runs("redrive", first.run_id);
    expect([redriven.code, redriven.stderr]).toEqual([
      0,
      expect.stringMatching(new RegExp(`will continue run ${first.run_id}\\n$`)),
    ]);
    const joined = await service.runs.join(first.thread_id, first.run_id);
    expect(await joined.answer).toMatchObject({ log: ["in", "a", "b", "c"] });
    const rest = JSON.parse((await runs("dead", "--json")).stdout) as { items: DeadRun[] };
    expect(rest.items).toMatchObject([second]);
  });

  it("runs redrive --all redrives all possible runs and reports the others", async () => {
    const { service, left, runs } = await opened(3);
    const [one, two, three] = left as [LeftRun, LeftRun, LeftRun];
    await service.runs.create(two.thread_id, { assistant_id: "trail", input: INPUT });
    const { code, stdout } = await runs("redrive", "--all", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      redriven: [one.run_id, three.run_id],
      refused: [{ run_id: two.run_id, code: "run_not_redrivable" }],
    });
    expect(code).toBe(5);
    for (const { thread_id, run_id } of [one, three])
      await (
        await service.runs.join(thread_id, run_id)
      ).answer;
    const again = await runs("redrive", "--all");
    expect([again.code, again.stderr]).toEqual([5, expect.stringContaining("written to its thread since")]);
  });

  it("a run that cannot be redriven is refused with the reason", async () => {
    const { service, runs } = await opened(0);
    expect((await runs("redrive", "--all")).stderr).toContain("no dead runs in");
    const done = await service.runs.createStateless({
      assistant_id: "trail",
      input: INPUT,
      on_completion: "keep",
    });
    await (
      await service.runs.join(done.thread_id, done.run_id)
    ).answer;
    const refused = await runs("redrive", done.run_id);
    expect([refused.code, refused.stderr]).toEqual([
      5,
      expect.stringContaining("is not dead: it is success"),
    ]);
    expect((await runs("redrive", NOBODY)).code).toBe(4);
    for (const wrong of [[], ["--all", NOBODY]]) {
      const { code, stderr } = await runs("redrive", ...wrong);
      expect([code, stderr]).toEqual([2, expect.stringContaining("graph-serve runs dead")]);
    }
  });
});
