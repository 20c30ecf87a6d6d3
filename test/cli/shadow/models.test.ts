/** Repeated runs get the recorded responses of models and tools, and call nothing else. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { JudgedResult as ShadowResult } from "../../../src/cli/shadow/report.js";
import { httpGraph, type ModelServer, startModelServer } from "../../testing/model-server.js";
import { cli, createProject, startCli, type Project } from "../harness.js";
import { describeSqlite as describe, itSqlite as it } from "../../helpers/with-sqlite.js";

const SECRET = "not-for-your-eyes-42";

let project: Project;
let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
  process.env.MODEL_URL = server.url;
  process.env.MODEL_API_KEY = SECRET;
  project = await createProject({
    "graph.ts": httpGraph,
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } },
  });
});
afterEach(async () => {
  await server.close();
  delete process.env.MODEL_URL;
  delete process.env.MODEL_API_KEY;
  await project.remove();
});

const shadowed = async (...argv: string[]) => {
  const env = { MODEL_API_KEY: SECRET };
  const { stdout, stderr, code } = await cli(["shadow", "--json", ...argv], { cwd: project.dir, env });
  expect(stdout, stderr).not.toBe("");
  expect(stdout).not.toContain(SECRET);
  return { code, stderr, items: (JSON.parse(stdout) as { items: ShadowResult[] }).items };
};

/** Runs each question on its own thread, with a recording. */
async function record(...questions: string[]): Promise<void> {
  const dev = startCli(["dev", "--no-reload", "-p", "0", "--record"], {
    cwd: project.dir,
    env: { MODEL_API_KEY: SECRET },
  });
  try {
    await dev.stderr.until(/recording models and tools/);
    const [, url = ""] = await dev.stderr.until(/(http:\/\/127\.0\.0\.1:\d+)/);
    for (const content of questions) {
      const input = { messages: [{ role: "user", content }] };
      const body = JSON.stringify({ assistant_id: "agent", input, if_not_exists: "create" });
      const thread = (await (await fetch(`${url}/threads`, { method: "POST", body: "{}" })).json()) as {
        thread_id: string;
      };
      const answer = await fetch(`${url}/threads/${thread.thread_id}/runs/wait`, { method: "POST", body });
      expect(answer.status).toBe(200);
      await answer.text();
    }
  } finally {
    dev.stop();
    await dev.exit;
  }
}

const transcripts = () => join(project.dir, ".graph-serve/transcripts");

describe("models", () => {
  it("recorded: runs are the same without a request", async () => {
    await record("hello", "what is the weather");
    const asked = server.requests.length;
    expect((await shadowed("--ci")).items.map(({ outcome }) => outcome)).toEqual(["same", "same"]);
    expect(server.requests).toHaveLength(asked);
  });

  it("recorded: a call that is not recorded ends its run and is never made", async () => {
    await record("hello");
    const asked = server.requests.length;
    await project.put("new.ts", httpGraph.replace("Be brief.", "Be polite."));
    const { items, code, stderr } = await shadowed("--against", "./new.ts:graph", "--ci");
    expect(items).toMatchObject([{ outcome: "unrecorded", difference: null }]);
    expect(items[0]?.reason).toContain(
      "model call 1 (ChatWire) differs from the recorded request at messages.0",
    );
    expect(stderr).toContain("1 makes a call that is not recorded");
    expect(code).toBe(1);
    for (const name of await readdir(transcripts())) await rm(join(transcripts(), name));
    expect((await shadowed()).items).toMatchObject([{ outcome: "unrecorded" }]);
    expect(server.requests).toHaveLength(asked);
  });

  it("hybrid and live execute calls", async () => {
    await record("hello");
    const asked = server.requests.length;
    expect((await shadowed("--models", "hybrid")).items).toMatchObject([{ outcome: "same" }]);
    expect(server.requests).toHaveLength(asked);
    await project.put("new.ts", httpGraph.replace("Be brief.", "Be polite."));
    const changed = ["--against", "./new.ts:graph", "--models"];
    expect((await shadowed(...changed, "hybrid")).items).toMatchObject([
      { outcome: "words", difference: { place: "messages.content" } },
    ]);
    const hybrid = server.requests.length;
    expect(hybrid).toBeGreaterThan(asked);
    await shadowed(...changed, "live");
    expect(server.requests.length).toBeGreaterThan(hybrid);
  });

  it("other numbers of tokens are a difference in cost, which a baseline can accept", async () => {
    await record("hello");
    const twice = `
export const twice = createAgent({
  model: new ChatWire({}),
  tools: [weather],
  systemPrompt: "Be brief.",
  middleware: [createMiddleware({ name: "twice", async wrapModelCall(request, handler) {
    const first = await handler(request);
    await handler(request);
    return first;
  } })],
});`;
    await project.put("new.ts", httpGraph.replace("createAgent,", "createAgent, createMiddleware,") + twice);
    const changed = ["--against", "./new.ts:twice", "--models", "hybrid", "--ci"];
    const { items, code, stderr } = await shadowed(...changed, "--accept", "accepted.json");
    expect(items).toMatchObject([
      { outcome: "cost", difference: { place: "tokens", before: "7 in, 3 out", now: "14 in, 6 out" } },
    ]);
    expect(stderr).toContain("1 uses other numbers of tokens");
    expect(code).toBe(1);
    const accepted = await shadowed(...changed, "--baseline", "accepted.json");
    expect([accepted.code, accepted.items[0]?.accepted]).toEqual([0, true]);
  });

  it("recorded: a node cannot open a connection", async () => {
    await project.put(
      "graph.ts",
      `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
const ask = async ({ question }) => {
  const body = JSON.stringify({ messages: [{ role: "user", content: question }] });
  const answer = await fetch(process.env.MODEL_URL, { method: "POST", body });
  return { answer: (await answer.json()).choices[0].message.content };
};
export const graph = new StateGraph(Annotation.Root({ question: Annotation, answer: Annotation }))
  .addNode("ask", ask).addEdge(START, "ask").compile();
`,
    );
    const { code } = await cli(["run", "--input", '{"question":"hello"}', "--json"], { cwd: project.dir });
    expect(code).toBe(0);
    // The connection of the run is still open in this process, which is not so after a deploy.
    const before = await startModelServer();
    process.env.MODEL_URL = before.url;
    const { items } = await shadowed();
    expect(items).toMatchObject([{ outcome: "unrecorded", status: "error" }]);
    expect(items[0]?.reason).toContain(`a node opens a connection to 127.0.0.1:${new URL(before.url).port}`);
    expect(before.requests).toHaveLength(0);
    await before.close();
  });
});
