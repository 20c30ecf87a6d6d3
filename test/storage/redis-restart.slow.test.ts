/** A Redis server that is killed under load, tested through the whole service. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { client, type Answer } from "../helpers/app.js";
import { noRedisProcess, RedisProcess } from "../helpers/redis-process.js";

if (noRedisProcess) process.stderr.write(`The restart of Redis is not tested: ${noRedisProcess}.\n`);
const title = `a restart of redis${noRedisProcess ? ` (skipped: ${noRedisProcess})` : ""}`;
const CLIENTS = 8;

describe.skipIf(noRedisProcess)(title, () => {
  let redis: RedisProcess;
  let service: Service;
  let server: RunningServer;
  beforeAll(async () => {
    redis = await RedisProcess.start();
    service = await openService({
      graphs: { chat, steps },
      settings: {
        checkpointer_scheme: "redis",
        checkpointer_uri: redis.uri,
        checkpointer_options: { allow_ephemeral_metadata: true },
      },
    });
    server = await startServer(service, { host: "127.0.0.1", port: 0 });
  });
  afterAll(async () => {
    await server?.close(0);
    await service?.close(0);
    await redis?.stop();
  });

  const request = (method: string, path: string, body?: unknown) =>
    client(server.url).request(method, path, body);
  const field = ({ body }: Answer, name: string) => (body as Record<string, unknown>)[name];
  const run = (thread: string) =>
    request("POST", `/threads/${thread}/runs`, { assistant_id: "steps", input: { n: 0 } });

  it("a killed server is reported and the service recovers on its own", { timeout: 120_000 }, async () => {
    const ended: { thread: string; answer: Answer }[] = [];
    const isAway = ({ answer }: { answer: Answer }) =>
      answer.status === 503 || field(answer, "status") === "error";
    let isLoaded = true;
    const load = Array.from({ length: CLIENTS }, async () => {
      while (isLoaded) {
        const thread = String(field(await request("POST", "/threads", {}), "thread_id"));
        ended.push({ thread, answer: await run(thread) });
      }
    });
    const grows = (by: number, from = ended.length) =>
      expect.poll(() => ended.length, { timeout: 40_000 }).toBeGreaterThan(from + by);
    await grows(20);
    await redis.kill();
    await expect.poll(() => ended.filter(isAway).length, { timeout: 40_000 }).toBeGreaterThan(0);
    expect((await request("GET", "/api/health")).status).toBe(200);
    await redis.restart();
    const back = ended.length;
    const successes = () => ended.slice(back).filter(({ answer }) => field(answer, "status") === "success");
    await expect.poll(() => successes().length, { timeout: 40_000 }).toBeGreaterThan(20);
    isLoaded = false;
    await Promise.all(load);

    for (const { thread, answer } of ended) {
      expect([200, 503]).toContain(answer.status);
      if (answer.status === 503) expect(answer.body).toMatchObject({ code: "storage_unavailable" });
      else if (isAway({ answer })) expect(field(answer, "error")).toMatch(/^Redis at 127\.0\.0\.1:\d+ /);
      // Acknowledged data must exist: the server persists it before it answers.
      else expect((await service.state.get(thread)).values).toMatchObject({ n: 10 });
    }
    expect(await service.threads.count({ status: "busy" })).toBe(0);
    const [failed] = ended.filter(isAway);
    expect((await run(failed!.thread)).body).toMatchObject({ status: "success" });
  });

  it("checkpoints expire after ttl_minutes", { timeout: 60_000 }, async () => {
    const mortal = await openService({
      graphs: { chat },
      settings: {
        checkpointer_scheme: "redis",
        checkpointer_uri: redis.uri,
        checkpointer_options: { allow_ephemeral_metadata: true, key_prefix: "mortal:", ttl_minutes: 0.02 },
      },
    });
    const say = { assistant_id: "chat", input: { messages: ["hi"] } };
    const { thread_id } = await mortal.threads.create({});
    const messages = async () =>
      ((await mortal.state.get(thread_id)).values as { messages?: unknown[] }).messages;
    expect((await mortal.runs.create(thread_id, say)).status).toBe("success");
    await expect.poll(messages, { timeout: 20_000 }).toBeUndefined();
    expect(await mortal.threads.get(thread_id)).toMatchObject({ status: "idle", values: {} });
    expect(await mortal.state.history(thread_id, {})).toEqual([]);
    expect((await mortal.runs.create(thread_id, say)).status).toBe("success");
    await mortal.close(0);
  });
});
