/** Ids do not go back when the clock of the machine does. Isolated: the ids of this process stay ahead of its clock. */
import { expect, vi } from "vitest";
import { newId } from "../../src/support/ids.js";
import { cli, createProject, echoGraph } from "./harness.js";
import { itSqlite as it } from "../helpers/with-sqlite.js";

const HOUR_MS = 3_600_000;

it("a run started after the clock went back is found by its id", async () => {
  const realNow = Date.now;
  const ahead = vi.spyOn(Date, "now").mockImplementation(() => realNow() + HOUR_MS);
  newId();
  ahead.mockRestore();

  const config = { graphs: { agent: "./graph.ts:graph" } };
  const project = await createProject({
    "graph.ts": echoGraph(),
    "graph-server.config.json": JSON.stringify(config),
  });
  try {
    const at = { cwd: project.dir };
    const { stdout } = await cli(["run", "--json", "--message", "hello"], at);
    const { run_id } = JSON.parse(stdout) as { run_id: string };
    const found = await cli(["inspect", "run", run_id, "--json"], at);
    expect(JSON.parse(found.stdout)).toMatchObject({ run: { run_id, status: "success" } });

    const missing = await cli(["inspect", "run", newId(), "--json"], at);
    expect(missing.code).toBe(4);
    expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: "run_not_found" } });
  } finally {
    await project.remove();
  }
});
