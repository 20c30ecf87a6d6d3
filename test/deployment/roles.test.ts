/** The Compose file of docs/deployment.md: its processes, started on the test databases. */
import { afterAll, expect, it } from "vitest";
import { Client } from "@langchain/langgraph-sdk";
import { parse } from "yaml";
import { newId } from "../../src/support/ids.js";
import { createProject, echoGraph, type RunningCli, startCli } from "../cli/harness.js";
import { markedBlocks } from "../helpers/markdown.js";
import { type TestPostgres, withPostgres } from "../helpers/postgres.js";
import { withRedis } from "../helpers/redis.js";

interface Compose {
  services: Record<
    string,
    { command?: string; environment: Record<string, string>; deploy?: { replicas: number } }
  >;
}

const KEY = "a-key-of-the-test";

const compose = (): Compose =>
  parse(markedBlocks("docs/deployment.md").find(({ name }) => name === "compose.roles.yaml")?.text ?? "", {
    merge: true,
  }) as Compose;

withRedis("the processes of the compose file", (redis) =>
  withPostgres("on one database", (postgres) => declare(redis.uri, postgres)),
);

function declare(redisUri: string, postgres: TestPostgres): void {
  const running: RunningCli[] = [];
  afterAll(async () => {
    for (const each of running) each.stop("SIGTERM");
    await Promise.all(running.map(({ exit }) => exit));
  });

  it("share their runs", { timeout: 120_000 }, async () => {
    const { services } = compose();
    const project = await createProject({
      "graph.ts": echoGraph(),
      "graph-server.config.json": JSON.stringify({
        graphs: { agent: "./graph.ts:graph" },
        checkpointer_options: { schema: postgres.schema, pool_max_size: 3 },
        shutdown_grace_seconds: 1,
      }),
    });
    const start = async (name: "api" | "worker") => {
      const { command = "", environment } = services[name] ?? { environment: {} };
      const argv = command.split(" ").slice(2);
      const env = {
        ...environment,
        GRAPH_SERVE_CHECKPOINTER_URI: postgres.uri,
        GRAPH_SERVE_STREAM_URI: redisUri,
        GRAPH_SERVE_API_KEYS: KEY,
      };
      const port = argv.map((word) => (word === "2024" ? "0" : word));
      const cli = startCli(port, { cwd: project.dir, env });
      running.push(cli);
      await cli.stderr.until(/"msg":"listening"\}\n/);
      return /"url":"([^"]+)"/.exec(cli.stderr.text)?.[1] ?? "";
    };
    const urls: Record<string, string[]> = { api: [], worker: [] };
    for (const name of ["api", "worker"] as const)
      for (let count = services[name]?.deploy?.replicas ?? 0; count > 0; count -= 1)
        urls[name]?.push(await start(name));
    expect(urls).toMatchObject({ api: { length: 2 }, worker: { length: 2 } });
    for (const apiUrl of urls.api ?? []) {
      const client = new Client({ apiUrl, apiKey: KEY });
      const input = { messages: [{ role: "user", content: "hello" }] };
      const answer = await client.runs.wait(newId(), "agent", { input, ifNotExists: "create" });
      expect(answer).toMatchObject({ messages: [{ content: "hello" }, { content: "echo: hello" }] });
    }
    const figures = await Promise.all(
      (urls.worker ?? []).map(async (url) => {
        const answer = await fetch(`${url}/metrics`, { headers: { "x-api-key": KEY } });
        return Number(/^graph_serve_runs_total\{.*\} (\d+)$/m.exec(await answer.text())?.[1] ?? 0);
      }),
    );
    expect(figures.reduce((sum, runs) => sum + runs, 0)).toBe(2);
    await project.remove();
  });
}
