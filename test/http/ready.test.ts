import { connect } from "node:net";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { serve, startTestServer } from "../helpers/app.js";
import { withPostgres } from "../helpers/postgres.js";
import { openTestService } from "../helpers/service.js";
import { TcpRelay } from "../helpers/tcp-relay.js";

/** An outage is noticed after two seconds; recovery takes until the broken connections are closed. */
const PATIENCE = { timeout: 60_000, interval: 100 };
const OUTAGE_TEST_MS = 120_000;

describe("readiness", () => {
  it("a server that accepts runs is ready without an API key", async () => {
    const { request } = await startTestServer({
      graphs: { gate },
      settings: { api_keys: ["correct-horse-battery"] },
    });
    const { status, body } = await request("GET", "/ready");
    expect([status, body]).toEqual([200, { ready: true }]);
  });

  it("a server that drains is not ready", async () => {
    const { request, service, ...server } = await startTestServer({ graphs: { gate } });
    const name = newId();
    const { thread_id } = await service.threads.create({});
    const run = request("POST", `/threads/${thread_id}/runs/wait`, {
      assistant_id: "gate",
      input: { gate: name },
    });
    await gateOf(name).entered;
    const socket = connect(server.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    // A request in flight when shutdown begins.
    socket.write("GET /ready HTTP/1.1\r\nhost: localhost\r\n");
    await request("GET", "/ok");
    const closed = server.close(60);
    socket.write("\r\n");
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /);
    expect(String(answer)).toContain('"code":"shutting_down"');
    gateOf(name).open();
    expect((await run).status).toBe(200);
    await closed;
  });

  it("an embedded service that was closed is not ready", async () => {
    const service = await openTestService({ graphs: { gate } });
    const { request } = await serve(service);
    await service.close(0);
    const { status, body, headers } = await request("GET", "/ready");
    expect([status, body]).toMatchObject([503, { code: "shutting_down" }]);
    expect(headers.get("retry-after")).toBe("1");
  });
});

withPostgres("readiness on postgres", (postgres) => {
  it("a worker that shuts down is not ready and answers until its runs have ended", async () => {
    const { max_queued_runs: _, ...storage } = postgres.options();
    const settings = { ...storage, queue: "postgres", stream: "postgres", metrics: true } as const;
    const api = await startTestServer({ graphs: { gate }, settings: { ...settings, role: "api" } });
    const worker = await startTestServer({ graphs: { gate }, settings: { ...settings, role: "worker" } });
    const name = newId();
    const body = { assistant_id: "gate", input: { gate: name }, if_not_exists: "create" };
    const run = api.request("POST", `/threads/${newId()}/runs`, body);
    await gateOf(name).entered;
    const closed = worker.close(60);
    const ready = await worker.request("GET", "/ready");
    expect(ready).toMatchObject({ status: 503, body: { code: "shutting_down" } });
    expect((await worker.request("GET", "/metrics")).text).toMatch(/^graph_serve_runs_active 1$/m);
    gateOf(name).open();
    expect((await run).body).toMatchObject({ status: "success" });
    await closed;
    await expect(worker.request("GET", "/ok")).rejects.toThrow();
  });

  it(
    "a server is not ready during a storage outage and ready again afterwards",
    { timeout: OUTAGE_TEST_MS },
    async () => {
      const { relay, uri } = await TcpRelay.before(postgres.uri, 5432);
      const { checkpointer_options } = postgres.options();
      const { request } = await startTestServer({
        graphs: { gate },
        settings: {
          checkpointer_scheme: "postgres",
          checkpointer_uri: uri,
          checkpointer_options: { ...checkpointer_options, pool_max_size: 2 },
        },
      });
      // Runs before the service closes, which waits for its connections.
      onTestFinished(() => relay.close());
      const ready = () => request("GET", "/ready");
      expect((await ready()).status).toBe(200);
      relay.block();
      // Concurrent probes share one storage check.
      const answers = await Promise.all(Array.from({ length: 20 }, ready));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
      expect(answers[0]?.body).toMatchObject({
        code: "storage_unavailable",
        detail: "the storage has not answered within 2 s",
      });
      expect((await request("GET", "/ok")).status).toBe(200);
      relay.unblock();
      await expect.poll(async () => (await ready()).status, PATIENCE).toBe(200);
    },
  );
});
