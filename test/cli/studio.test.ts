/** `graph-serve studio`: a storage, or a server, in a browser, whatever became of the graphs. */
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { client, startTestServer } from "../helpers/app.js";
import { createProject, cli, echoGraph, type Project, type RunningCli, startCli } from "./harness.js";

let project: Project;
const running: RunningCli[] = [];
beforeEach(async () => {
  project = await createProject({ "graph.ts": echoGraph() });
});
afterEach(async () => {
  for (const each of running.splice(0)) {
    each.stop();
    expect(await each.exit).toBe(0);
  }
  await project.remove();
});

/** The address of the Studio, and requests as its page makes them. */
async function studio(...argv: string[]) {
  const started = startCli(["studio", "-p", "0", ...argv], { cwd: project.dir });
  running.push(started);
  const failed = started.exit.then((code) => {
    throw new Error(`studio ended with ${code}: ${started.stderr.text}`);
  });
  const [, url = ""] = await Promise.race([
    started.stderr.until(/studio (http:\S+)\/studio\n[^]*shows .*\n/),
    failed,
  ]);
  const { request } = client(url);
  const page = (await request("GET", "/studio/")).text;
  const key = /<meta name="studio-key" content="(\w{32})"/.exec(page)?.[1] ?? "";
  const ask = (method: string, path: string, body?: unknown) =>
    request(method, path, body, { "x-api-key": key });
  return { url, page, request, ask, stderr: started.stderr };
}

it("shows a storage whose graph does not load: values and steps, and nothing is run or changed", async () => {
  const ran = await cli(["run", "./graph.ts", "--message", "hello", "--json"], { cwd: project.dir });
  expect(ran.code).toBe(0);
  await project.put("graph.ts", "throw new Error('no key');\n");
  await project.put("graph-server.config.json", JSON.stringify({ graphs: { agent: "./graph.ts" } }));
  const { ask, request, page, stderr } = await studio();
  expect(stderr.text).toContain("no key");
  expect(page).toContain("All values are shown");
  const [thread] = (await ask("POST", "/threads/search", {})).body as { thread_id: string }[];
  const history = await ask("POST", `/threads/${thread?.thread_id}/history`, {
    select: ["values", "changed_keys"],
  });
  expect(history.body).toContainEqual(
    expect.objectContaining({
      changed_keys: ["messages"],
      values: expect.objectContaining({ messages: expect.any(Array) as unknown }) as unknown,
    }),
  );
  expect(history.text).toContain("echo: hello");
  for (const [method, path, body] of [
    ["POST", `/threads/${thread?.thread_id}/runs`, { assistant_id: "agent" }],
    ["POST", `/threads/${thread?.thread_id}/state`, { values: {} }],
    ["DELETE", `/threads/${thread?.thread_id}`, undefined],
    ["PUT", "/store/items", {}],
    ["GET", `/threads/${thread?.thread_id}/runs/${randomUUID()}/join`, undefined],
    ["GET", `/threads/${thread?.thread_id}/runs/${randomUUID()}/stream`, undefined],
    ["GET", `/runs/${randomUUID()}/stream`, undefined],
  ] as const)
    expect((await ask(method, path, body)).body).toMatchObject({ code: "read_only" });
  expect((await request("POST", "/threads/search", {})).status).toBe(401);
});

it("asks nobody but its page where the configuration has an auth function", async () => {
  await cli(["run", "./graph.ts", "--message", "hello", "--db", "./kept.db"], { cwd: project.dir });
  const configuration = { graphs: { agent: "./graph.ts" }, auth: "./none.ts" };
  await project.put("graph-server.config.json", JSON.stringify(configuration));
  const { ask, request } = await studio("--db", "./kept.db");
  expect((await ask("POST", "/threads/search", {})).status).toBe(200);
  expect((await request("POST", "/threads/search", {})).status).toBe(401);
});

it("shows a database without any configuration", async () => {
  await cli(["run", "./graph.ts", "--message", "hello", "--db", "./kept.db"], { cwd: project.dir });
  const { ask } = await studio("--db", "./kept.db", "--cwd", project.dir);
  const { text } = await ask("POST", "/threads/search", {});
  expect(text).toContain("echo: hello");
});

it("hands requests on to a server elsewhere, with its key, for the page alone", async () => {
  const key = `key-${randomUUID()}`;
  const server = await startTestServer({ graphs: { agent }, settings: { api_keys: [key] } });
  const { ask, request, page } = await studio("--url", server.url, "--api-key", key);
  expect(page).not.toContain(key);
  const made = (await ask("POST", "/threads", { metadata: { user: "ada" } })).body as { thread_id: string };
  const found = await ask("POST", "/threads/search", { metadata: { user: "ada" } });
  expect(found.body).toMatchObject([{ thread_id: made.thread_id }]);
  expect(found.headers.get("x-pagination-total")).toBe("1");
  expect((await ask("GET", "/threads/nothing")).status).toBe(422);
  expect((await request("POST", "/threads/search", {})).status).toBe(401);
  await server.close(0);
  expect((await ask("GET", "/info")).body).toMatchObject({ code: "server_unreachable" });
});

it("says so when the server refuses its key, or is none", async () => {
  const server = await startTestServer({ graphs: { agent }, settings: { api_keys: ["a-key-of-16-chars"] } });
  const { ask } = await studio("--url", server.url);
  expect((await ask("POST", "/threads/search", {})).status).toBe(403);
  const wrong = await cli(["studio", "--url", "nowhere"], { cwd: project.dir });
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--url must be an http address") as unknown,
  });
  const memory = await cli(["studio", "--db", "memory"], { cwd: project.dir });
  expect(memory).toMatchObject({ code: 2, stderr: expect.stringContaining("keeps no threads") as unknown });
});
