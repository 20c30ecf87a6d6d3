/** The nginx configuration of docs/deployment.md, with only ports and folders replaced. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startServer } from "../../src/http/server.js";
import { newId } from "../../src/support/ids.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { client } from "../helpers/app.js";
import { markedBlocks } from "../helpers/markdown.js";
import { withPostgres, type TestPostgres } from "../helpers/postgres.js";
import { freePort } from "../helpers/free-port.js";
import { startListening, stopProgram, withProgram } from "../helpers/programs.js";
import { recordingLogger } from "../helpers/service.js";
import { readEvents } from "../helpers/sse.js";

const STREAM_TEST_MS = 90_000;

async function startNginx(program: string, upstreams: readonly number[]): Promise<string> {
  const [block] = markedBlocks("docs/deployment.md").filter(({ name }) => name === "nginx.conf");
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "graph-serve-nginx-"));
  // The nginx workers do not run as root.
  chmodSync(folder, 0o755);
  for (const name of ["body", "proxy", "fastcgi", "uwsgi", "scgi"]) {
    mkdirSync(join(folder, name));
    chmodSync(join(folder, name), 0o777);
  }
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${join(folder, name.replace("client_", ""))};`)
    .join("\n");
  const text = (block?.text ?? "")
    .replace("listen 127.0.0.1:8080;", `listen 127.0.0.1:${port};`)
    .replace("127.0.0.1:2024;", `127.0.0.1:${upstreams[0]};`)
    .replace("127.0.0.1:2025;", `127.0.0.1:${upstreams[1]};`)
    .replace("http {", `http {\n  access_log off;\n${folders}`);
  writeFileSync(join(folder, "nginx.conf"), text);
  const globals = `daemon off; pid ${join(folder, "nginx.pid")}; error_log stderr;`;
  const command = [program, "-p", folder, "-c", join(folder, "nginx.conf"), "-g", globals];
  const nginx = await startListening(command, port);
  onTestFinished(async () => {
    await stopProgram(nginx);
    rmSync(folder, { recursive: true, force: true });
  });
  return `http://127.0.0.1:${port}`;
}

interface Node {
  service: Service;
  port: number;
  /** Number of requests that reached this server. */
  requests: () => number;
  close(): Promise<void>;
}

async function startNode(postgres: TestPostgres): Promise<Node> {
  const { max_queued_runs: _, ...storage } = postgres.options();
  const logger = recordingLogger();
  const settings = { ...storage, allowed_hosts: ["agents.example.com"] };
  const service = await openService({ graphs: { chat, gate }, settings, logger });
  const server = await startServer(service, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close(0));
  return {
    service,
    port: server.port,
    requests: () => logger.of("info").filter((message) => message.includes("request")).length,
    close: () => server.close(0),
  };
}

withProgram("nginx", "behind nginx", (program) => {
  withPostgres("with two servers on postgres", (postgres) => {
    async function start() {
      const nodes = [await startNode(postgres), await startNode(postgres)] as const;
      const url = await startNginx(
        program,
        nodes.map(({ port }) => port),
      );
      return { nodes, ...client(url), url };
    }

    async function thread(request: Awaited<ReturnType<typeof start>>["request"]): Promise<string> {
      return ((await request("POST", "/threads", {})).body as { thread_id: string }).thread_id;
    }

    it("frames are streamed one by one", { timeout: STREAM_TEST_MS }, async () => {
      const { request, fetch } = await start();
      const [id, name] = [await thread(request), newId()];
      const body = { assistant_id: "gate", input: { gate: name }, stream_mode: "updates" };
      const response = await fetch("POST", `/threads/${id}/runs/stream`, body);
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      const seen: unknown[] = [];
      for await (const { event, data } of readEvents(response)) {
        seen.push(event === "updates" ? Object.keys(data as object)[0] : event);
        // The node after this frame waits at the gate: if nginx buffered frames, this frame would never
        // arrive.
        if (seen.at(-1) === "before") gateOf(name).open();
      }
      expect(seen).toEqual(["metadata", "before", "wait", "after", "end"]);
    });

    it("an idle stream stays open", { timeout: STREAM_TEST_MS }, async () => {
      const { request, fetch } = await start();
      const [id, name] = [await thread(request), newId()];
      const body = { assistant_id: "gate", input: { gate: name }, stream_mode: "updates" };
      const response = await fetch("POST", `/threads/${id}/runs/stream`, body);
      let text = "";
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (text.split(": heartbeat\n").length > 2) gateOf(name).open();
      }
      expect(text).toMatch(/: heartbeat\n[^]*: heartbeat\n[^]*event: end\n/);
    });

    it("both servers receive requests, and one receives all if the other is down", async () => {
      const { nodes, request } = await start();
      const id = await thread(request);
      const run = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hello" }] } };
      for (let time = 0; time < 6; time += 1)
        expect((await request("POST", `/threads/${id}/runs`, run)).body).toMatchObject({ status: "success" });
      for (const { requests } of nodes) expect(requests()).toBeGreaterThan(1);
      await nodes[0].close();
      for (let time = 0; time < 4; time += 1)
        expect((await request("POST", `/threads/${id}/runs`, run)).body).toMatchObject({ status: "success" });
      expect((await request("GET", "/ready")).status).toBe(200);
      const { values } = (await request("GET", `/threads/${id}/state`)).body as {
        values: { messages: unknown[] };
      };
      expect(values.messages).toHaveLength(20);
    });

    it("a thread is run by one server at a time", async () => {
      const { request } = await start();
      const [id, name] = [await thread(request), newId()];
      const waiting = request("POST", `/threads/${id}/runs/wait`, {
        assistant_id: "gate",
        input: { gate: name },
      });
      await gateOf(name).entered;
      const run = { assistant_id: "chat", input: {}, multitask_strategy: "reject" };
      for (let time = 0; time < 4; time += 1)
        expect((await request("POST", `/threads/${id}/runs`, run)).status).toBe(409);
      gateOf(name).open();
      expect((await waiting).status).toBe(200);
    });

    it("a client that disconnects cancels its run", async () => {
      const { request, fetch } = await start();
      const [id, name] = [await thread(request), newId()];
      const leave = new AbortController();
      const body = { assistant_id: "gate", input: { gate: name } };
      await fetch("POST", `/threads/${id}/runs/stream`, body, { signal: leave.signal });
      await gateOf(name).entered;
      leave.abort();
      await gateOf(name).aborted;
      const statusOf = async () =>
        ((await request("GET", `/threads/${id}/runs`)).body as { status: string }[])[0]?.status;
      await expect.poll(statusOf, { timeout: 30_000 }).toBe("interrupted");
    });

    it("request bodies are limited, and only allowed hosts are served", async () => {
      const { request, url } = await start();
      const large = "x".repeat(19 * 1024 * 1024);
      expect((await request("POST", "/threads", { metadata: { large } })).status).toBe(200);
      expect((await request("POST", "/threads", "x".repeat(21 * 1024 * 1024))).status).toBe(413);
      const as = (host: string) =>
        new Promise<number | undefined>((resolve, reject) => {
          const asked = httpRequest(`${url}/ok`, { headers: { host } }, (response) => {
            response.resume();
            resolve(response.statusCode);
          });
          asked.on("error", reject).end();
        });
      expect([await as("agents.example.com"), await as("evil.example")]).toEqual([200, 403]);
    });
  });
});
