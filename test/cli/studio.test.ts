/** `graph-serve studio`: shows a storage or a server in a browser, even if no graph loads. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
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

/** The URL of the Studio, and requests as its page sends them. */
async function studio(...argv: string[]) {
  const started = startCli(["studio", "-p", "0", ...argv], { cwd: project.dir });
  running.push(started);
  const failed = started.exit.then((code) => {
    throw new Error(`studio exited with code ${code}: ${started.stderr.text}`);
  });
  const [, url = "", key = ""] = await Promise.race([
    started.stderr.until(/studio (http:\S+)\/studio\/#key=(\w{32})\n[^]*showing .*\n/),
    failed,
  ]);
  const { request } = client(url);
  const page = (await request("GET", "/studio/")).text;
  // Any process on this machine can load the page.
  expect(page).toContain("</head>");
  expect(page).not.toContain(key);
  const ask = (method: string, path: string, body?: unknown) =>
    request(method, path, body, { "x-api-key": key });
  return { url, key, page, request, ask, stderr: started.stderr };
}

/** The status of a raw request with this target and Host header. */
async function statusOf(url: string, path: string, headers: Record<string, string>): Promise<number> {
  const { hostname: host, port } = new URL(url);
  const [response] = (await once(send({ host, port, path, headers }).end(), "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

itSqlite("a storage with a graph that does not load is shown read-only", async () => {
  const ran = await cli(["run", "./graph.ts", "--message", "hello", "--json"], { cwd: project.dir });
  expect(ran.code).toBe(0);
  await project.put("graph.ts", "throw new Error('no key');\n");
  await project.put("graph-server.config.json", JSON.stringify({ graphs: { agent: "./graph.ts" } }));
  const { ask, request, page, stderr } = await studio();
  expect(stderr.text).toContain("no key");
  expect(page).toContain("Shows all values");
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

itSqlite("a configured auth function is ignored, and only the page has access", async () => {
  await cli(["run", "./graph.ts", "--message", "hello", "--db", "./kept.db"], { cwd: project.dir });
  const configuration = { graphs: { agent: "./graph.ts" }, auth: "./none.ts" };
  await project.put("graph-server.config.json", JSON.stringify(configuration));
  const { ask, request } = await studio("--db", "./kept.db");
  expect((await ask("POST", "/threads/search", {})).status).toBe(200);
  expect((await request("POST", "/threads/search", {})).status).toBe(401);
});

itSqlite("a database is shown without a configuration", async () => {
  await cli(["run", "./graph.ts", "--message", "hello", "--db", "./kept.db"], { cwd: project.dir });
  const { ask } = await studio("--db", "./kept.db", "--cwd", project.dir);
  const { text } = await ask("POST", "/threads/search", {});
  expect(text).toContain("echo: hello");
});

itSqlite("only local host names are accepted, regardless of allowed_hosts", async () => {
  await cli(["run", "./graph.ts", "--message", "hello", "--db", "./kept.db"], { cwd: project.dir });
  await project.put("graph-server.config.json", { allowed_hosts: ["*"], host: "evil.example" });
  const { url, key } = await studio("--db", "./kept.db");
  const status = (host: string) => statusOf(url, "/info", { host, "x-api-key": key });
  expect([await status("localhost"), await status("evil.example")]).toEqual([200, 403]);
});

it("the page's requests are forwarded to the --url server with its API key", async () => {
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
  expect((await ask("GET", "/info")).body).toMatchObject({
    code: "server_unreachable",
    detail: expect.stringContaining("ECONNREFUSED") as unknown,
  });
});

it("requests that name another host are still forwarded to the --url server", async () => {
  const server = await startTestServer({ graphs: { agent } });
  const { url, key } = await studio("--url", server.url);
  const headers = { host: "localhost", "x-api-key": key };
  expect(await statusOf(url, "http://evil.example/info?a=1", headers)).toBe(200);
  await server.close(0);
});

it("a missing API key and an invalid --url are reported", async () => {
  const server = await startTestServer({ graphs: { agent }, settings: { api_keys: ["a-key-of-16-chars"] } });
  const { ask } = await studio("--url", server.url);
  expect((await ask("POST", "/threads/search", {})).status).toBe(403);
  const wrong = await cli(["studio", "--url", "nowhere"], { cwd: project.dir });
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--url must be an HTTP address") as unknown,
  });
});

it.each(["memory", "redis://127.0.0.1:1", "sqlite://:memory:"])(
  "%s is rejected because it keeps no threads",
  async (db) => {
    expect(await cli(["studio", "--db", db], { cwd: project.dir })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /does not persist threads[^]*open the Studio of the running dev/,
      ) as unknown,
    });
  },
);

itSqlite.each([
  ["--db", "./kept.db"],
  ["--url", "http://127.0.0.1:1"],
])("an invalid port and a taken port are rejected with %s", async (...place) => {
  await cli(["run", "./graph.ts", "--message", "hello", "--db", "./kept.db"], { cwd: project.dir });
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const { port } = holder.address() as AddressInfo;
  const says = async (asked: number) => {
    const { code, stderr } = await cli(["studio", "-p", String(asked), ...place], { cwd: project.dir });
    return `${code} ${stderr}`;
  };
  expect(await says(99_999)).toMatch(/^2 .*from 0 to 65535, got 99999/);
  expect(await says(port)).toMatch(/^2 .*is in use[^]*-p 0 for any/);
  holder.close();
});
