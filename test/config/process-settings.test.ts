/** Settings of several processes on one port, as `start` and `worker` check them before anything is started. */
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.js";
import { cli, createProject } from "../cli/harness.js";

const postgres = {
  checkpointer_scheme: "postgres",
  checkpointer_uri: "postgresql://nobody@127.0.0.1:1/none",
};

async function withConfig<T>(settings: object, work: (dir: string) => Promise<T>): Promise<T> {
  const project = await createProject({
    "graph.ts": "export const graph = undefined;",
    "graph-server.config.json": { graphs: { graph: "./graph.ts:graph" }, ...settings },
  });
  try {
    return await work(project.dir);
  } finally {
    await project.remove();
  }
}

describe("several processes", () => {
  it.each([
    [
      "memory",
      { processes: 2 },
      "each process would have its own threads",
      "set checkpointer_scheme to postgres",
    ],
    [
      "a SQLite file",
      { processes: 2, checkpointer_uri: "./threads.db", checkpointer_scheme: "sqlite" },
      "sqlite locks threads only within one process",
      "processes to 1",
    ],
    [
      "Redis",
      { processes: 2, checkpointer_scheme: "redis", checkpointer_uri: "redis://127.0.0.1:1" },
      "redis locks threads only within one process",
      "set checkpointer_scheme to postgres",
    ],
    [
      "a custom storage",
      { processes: 2, checkpointer_scheme: "./storage.ts:open" },
      "it is unknown whether several processes can share a custom storage",
      "processes to 1",
    ],
    [
      "MongoDB without a shared stream",
      { processes: 2, checkpointer_scheme: "mongodb", checkpointer_uri: "mongodb://127.0.0.1:1/none" },
      "the setting stream is memory",
      "set stream to redis or postgres",
    ],
    [
      "frames in memory",
      { ...postgres, processes: 2, stream: "memory" },
      "the setting stream is memory",
      "stream",
    ],
    ["0 processes", { processes: 0 }, "processes must be >= 1, it is 0", "from 1 to 64"],
    ["too many processes", { processes: 65 }, "processes must be <= 64, it is 65", "from 1 to 64"],
    ["half a process", { processes: 1.5 }, "processes must be an integer, it is 1.5", "from 1 to 64"],
  ])("start refuses %s", async (_what, settings, message, hint) => {
    const { code, stderr } = await withConfig(settings, (cwd) => cli(["start"], { cwd }));
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });

  it("the flag is refused with its name", async () => {
    const { code, stderr } = await withConfig({}, (cwd) => cli(["start", "--processes", "none"], { cwd }));
    expect(code).toBe(2);
    expect(stderr).toContain('--processes: processes must be an integer, it is "none"');
  });

  it("share their frames in PostgreSQL by default", async () => {
    await withConfig({ ...postgres, processes: 2 }, async (cwd) => {
      const { settings, origins } = await loadConfig({ cwd, env: {} });
      expect(settings.stream).toBe("postgres");
      expect(origins.stream).toEqual({ kind: "default", detail: "default of 2 processes" });
      const chosen = await loadConfig({ cwd, env: { GRAPH_SERVE_STREAM: "redis" } });
      expect(chosen.settings.stream).toBe("redis");
    });
  });
});
