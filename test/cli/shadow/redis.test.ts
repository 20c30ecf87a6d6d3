/** Redis keeps threads and runs only in the server process: shadow runs read them from the server, not from Redis. */
import { expect, it, onTestFinished } from "vitest";
import type { JudgedResult } from "../../../src/cli/shadow/report.js";
import { withRedis } from "../../helpers/redis.js";
import { cli, createProject, echoGraph, startCli } from "../harness.js";

withRedis("shadow of a server on Redis", (redis) => {
  it("with --url it works, and with --db it is refused with the reason", async () => {
    const { max_queued_runs: _, ...place } = redis.options();
    const project = await createProject({
      "graph.ts": echoGraph(),
      "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" }, ...place },
    });
    onTestFinished(() => project.remove());
    const server = startCli(["start", "-p", "0"], { cwd: project.dir });
    onTestFinished(async () => {
      server.stop();
      await server.exit;
    });
    await server.stderr.until(/"msg":"listening"\}\n/);
    const [, url = ""] = /"url":"(http:[^"]+)"/.exec(server.stderr.text) ?? [];
    const input = { messages: [{ role: "user", content: "hello" }] };
    const thread_id = crypto.randomUUID();
    const body = JSON.stringify({ assistant_id: "agent", input, if_not_exists: "create" });
    const answer = await fetch(`${url}/threads/${thread_id}/runs/wait`, { method: "POST", body });
    expect(await answer.text()).toContain("echo: hello");
    const keys = await redis.keys();
    const { stdout, code } = await cli(["shadow", "--url", url, "--json", "--ci"], { cwd: project.dir });
    expect((JSON.parse(stdout) as { items: JudgedResult[] }).items).toMatchObject([
      { thread_id, outcome: "same" },
    ]);
    expect(code).toBe(0);
    expect((await redis.keys()).sort()).toEqual(keys.sort());
    const refused = await cli(["shadow", "--db", redis.uri], { cwd: project.dir });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("scheme redis keeps threads only in the server process");
    expect(refused.stderr).toContain("specify the server with --url");
  });
});
