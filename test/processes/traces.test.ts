/** Traces of a run whose process is killed. */
import { expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import type { Run } from "../../src/models/run.js";
import { cli, createProject } from "../cli/harness.js";
import { startCollector } from "../helpers/collector.js";
import { withPostgres } from "../helpers/postgres.js";
import { onServers, PATIENCE, settingsOf } from "../helpers/server-processes.js";

withPostgres("the trace of a killed process", (postgres) =>
  onServers(
    () => settingsOf(postgres.options()),
    (servers) => {
      it("is exported once, by the process that resumes its run", { timeout: 180_000 }, async () => {
        const collector = await startCollector();
        const dying = await servers.one();
        const gate = newId();
        const thread_id = newId();
        const { body } = await dying.request(
          "POST",
          `/threads/${thread_id}/runs`,
          { assistant_id: "trail", input: { gates: { b: gate } }, if_not_exists: "create" },
          { Prefer: "respond-async" },
        );
        const run = body as Run;
        await expect.poll(() => servers.nodes(run), PATIENCE).toEqual(["a", "b"]);
        await dying.kill();
        const other = await servers.one();
        other.open(gate);
        await expect.poll(async () => (await other.run(run)).status, PATIENCE).toBe("success");
        await other.kill("SIGTERM");
        const [root, ...more] = collector.named("invoke_workflow trail");
        expect([root?.attributes["graph_serve.attempt"], more]).toEqual([2, []]);
        const { metadata } = run;
        expect(String(metadata.traceparent)).toContain(String(root?.traceId));
        const live = idsBelow(collector.spans.splice(0), root?.spanId);
        // The killed process may not have stored the step of `a`, which is then executed again.
        const names = live.map(([name]) => name);
        expect(names.filter((name) => name !== "a")).toEqual(["b", "c", "invoke_workflow trail"]);
        const project = await createProject({ "graph-server.config.json": settingsOf(postgres.options()) });
        const { code } = await cli(["trace", "export", run.run_id], { cwd: project.dir, env: {} });
        await project.remove();
        expect(code).toBe(0);
        expect(idsBelow(collector.spans, root?.spanId)).toEqual(live);
      });
    },
  ),
);

type Span = { name: string; traceId: string; spanId: string; parentSpanId?: string };

/** The span of a run and its tasks. */
const idsBelow = (spans: readonly Span[], root: string | undefined) =>
  spans
    .filter(({ spanId, parentSpanId }) => spanId === root || parentSpanId === root)
    .map(({ name, traceId, spanId }) => [name, traceId, spanId])
    .sort();
