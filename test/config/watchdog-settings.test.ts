/** Conflicting watchdog settings, as `start` and `dev` reject them. */
import { describe, expect, it } from "vitest";
import { cli, createProject } from "../cli/harness.js";

const GRAPH = "export const graph = undefined;";

describe("watchdog settings", () => {
  it.each([
    ["one port for both servers", { port: 2030, health_port: 2030 }, "health_port and port are both 2030"],
    [
      "a health port without the watchdog",
      { health_port: 2031, stall_warning_seconds: 0 },
      "health_port needs the watchdog, and stall_warning_seconds 0 disables it",
    ],
    [
      "an exit limit below the warning limit",
      { stall_warning_seconds: 10, stall_exit_seconds: 5 },
      "stall_exit_seconds is 5, which is less than stall_warning_seconds, 10",
    ],
    ["a negative limit", { stall_exit_seconds: -1 }, "stall_exit_seconds"],
  ])("start and dev reject %s", async (_what, settings, message) => {
    const project = await createProject({
      "graph.ts": GRAPH,
      "graph-server.config.json": { graphs: { graph: "./graph.ts:graph" }, ...settings },
    });
    try {
      for (const command of ["start", "dev"]) {
        const { code, stderr } = await cli([command], { cwd: project.dir });
        expect(code).toBe(2);
        expect(stderr).toContain(message);
      }
    } finally {
      await project.remove();
    }
  });
});
