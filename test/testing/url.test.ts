/** `test --url`: the same results from a deployed server. Expectations on data that the server omits fail. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import { openService } from "../../src/service/open.js";
import { cli, createProject, echoGraph, type Project } from "../cli/harness.js";

const BROKEN = join(import.meta.dirname, "../fixtures/broken-graphs");
const TEMPLATES = join(import.meta.dirname, "../../templates");
const EXPORTS = ["throws", "wrongOrder", "leaky", "spender", "endless", "forgetful", "changed"];

interface Found {
  fault?: object;
}

interface Report {
  cases: { name: string; status: string; nodes: string[]; tokens: number; failures: Found[] }[];
}

const serve = async (graphs: Record<string, string>, cwd: string): Promise<RunningServer> =>
  startServer(await openService({ cwd, graphs }), { host: "127.0.0.1", port: 0 });

/** The failures without the source positions of exceptions, which a deployed server does not send. */
const withoutFaults = <T extends { failures: Found[] }>(cases: readonly T[]): T[] =>
  cases.map((one) => ({ ...one, failures: one.failures.map(({ fault: _, ...failure }) => failure) }));

/** All cases with their results. */
async function verdicts(argv: string[], cwd: string) {
  const { stdout, stderr } = await cli(["test", "--json", "--timeout", "20", ...argv], { cwd });
  if (stdout === "") throw new Error(stderr);
  const { cases } = JSON.parse(stdout) as Report;
  return cases.map(({ name, status, nodes, tokens, failures }) => ({
    name,
    status,
    nodes,
    tokens,
    failures,
  }));
}

describe("test --url with broken graphs", () => {
  let project: Project;
  let server: RunningServer;
  beforeAll(async () => {
    const graphs = Object.fromEntries(EXPORTS.map((name) => [name, `${BROKEN}/graphs.ts:${name}`]));
    project = await createProject({ "graph-server.config.json": { graphs } });
    server = await serve(graphs, BROKEN);
  });
  afterAll(async () => {
    await server.close(0);
    await project.remove();
  });

  it("reports the same failures at the same positions as in-process", async () => {
    const config = ["-c", join(project.dir, "graph-server.config.json")];
    const here = await verdicts([".", ...config], BROKEN);
    const there = await verdicts([".", ...config, "--url", server.url], BROKEN);
    expect(here).toHaveLength(8);
    expect(here.filter(({ status }) => status === "failed")).toHaveLength(7);
    const known = ({ name }: { name: string }) => name !== "loads";
    expect(there.filter(known)).toEqual(withoutFaults(here).filter(known));
    expect(here.flatMap(({ failures }) => failures.filter(({ fault }) => fault))).toHaveLength(1);
    // A graph file without a key in the config is rejected; it must not run on another graph of the server.
    expect(there.find(({ name }) => name === "loads")?.failures).toMatchObject([
      {
        message: expect.stringContaining("./graphs.ts:missing is not in the configuration") as string,
      },
    ]);
  }, 60_000);
});

describe.each(["chat", "agent-tools", "hitl", "minimal"])("test --url with the cases of %s", (name) => {
  it("passes as in-process", async () => {
    const cwd = join(TEMPLATES, name);
    const server = await serve({ agent: "./graph.ts:graph" }, cwd);
    try {
      const there = await verdicts(["--ci", "--url", server.url], cwd);
      expect(there.length).toBeGreaterThan(1);
      expect(there).toEqual(await verdicts(["--ci"], cwd));
      expect(there.filter(({ status }) => status !== "passed")).toEqual([]);
    } finally {
      await server.close(0);
    }
  }, 60_000);
});

describe("test --url with a limited server", () => {
  let project: Project;
  let real: RunningServer;
  let front: Server;
  let url: string;
  beforeAll(async () => {
    project = await createProject({
      "graph.ts": echoGraph(),
      "graph-server.config.json": { graphs: { agent: "./graph.ts" } },
      "a.graph.yaml": `cases:
  - name: expects omitted data
    input: { messages: [{ role: user, content: hi }] }
    expect: { tokens: { max: 200 }, nodes: [reply] }
`,
      "b.graph.yaml": `mock: ./model.jsonl
cases: [{ name: has a recording, input: { messages: [{ role: user, content: hi }] } }]
`,
    });
    await project.put("model.jsonl", `${JSON.stringify({ format: "graph-serve tape", version: 1 })}\n`);
    real = await serve({ agent: "./graph.ts" }, project.dir);
    // A proxy that removes usage and task events.
    front = createServer((request, response) => {
      void (async () => {
        const parts: Buffer[] = [];
        for await (const part of request) parts.push(part as Buffer);
        const answer = await fetch(real.url + request.url, {
          method: request.method ?? "GET",
          headers: { "content-type": "application/json" },
          ...(parts.length > 0 && { body: Buffer.concat(parts) }),
        });
        const text = (await answer.text())
          .replaceAll(/"usage":\{[^}]*\}/g, '"usage":null')
          .replaceAll(/id: \d+\nevent: tasks\n.*\n\n/g, "");
        response
          .writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
          .end(text);
      })();
    });
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    front.closeAllConnections();
    await new Promise((resolve) => front.close(resolve));
    await real.close(0);
    await project.remove();
  });

  it("fails expectations on data that the server omits", async () => {
    const [one] = await verdicts(["a.graph.yaml", "--url", url], project.dir);
    expect(one?.failures).toMatchObject([
      { expectation: "tokens", message: "the server does not report token usage" },
      { expectation: "nodes", message: "the server does not report executed nodes" },
    ]);
  });

  it("warns that recordings are not used", async () => {
    const { stderr } = await cli(["test", "b.graph.yaml", "--url", real.url], { cwd: project.dir });
    expect(stderr).toContain("recordings are not used: the server calls its own models");
  });
});
