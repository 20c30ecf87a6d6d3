/** MongoDB's limits and outages, through the whole service. */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import { isAborted } from "../../src/runs/run-aborted.js";
import { GraphServeError } from "../../src/support/errors.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { MongodbDouble } from "../doubles/mongodb-double.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { client, type Answer } from "../helpers/app.js";
import { recordingLogger } from "../helpers/service.js";

const State = Annotation.Root({ size: Annotation<number>, text: Annotation<string> });
/** Grows its state to `size` bytes. */
const grow = new StateGraph(State)
  .addNode("grow", ({ size }) => ({ text: "x".repeat(size) }))
  .addEdge(START, "grow")
  .addEdge("grow", END)
  .compile({ name: "grow" });

const MEGABYTE = 1024 * 1024;
const CLIENTS = 8;

describe("a service on MongoDB (test double)", () => {
  let double: MongodbDouble;
  let service: Service;
  let server: RunningServer;
  let logger: ReturnType<typeof recordingLogger>;
  beforeEach(async () => {
    double = await MongodbDouble.start();
    logger = recordingLogger();
    service = await openService({
      graphs: { grow, steps },
      logger,
      settings: {
        checkpointer_scheme: "mongodb",
        checkpointer_uri: `${double.uri}/outage`,
      },
    });
    server = await startServer(service, { host: "127.0.0.1", port: 0 });
  });
  afterEach(async () => {
    await server?.close(0);
    await service?.close(0);
    await double?.stop();
  });

  const request = (method: string, path: string, body?: unknown) =>
    client(server.url).request(method, path, body);
  const field = ({ body }: Answer, name: string) => (body as Record<string, unknown>)[name];
  const newThread = async (body: object = {}) =>
    String(field(await request("POST", "/threads", body), "thread_id"));
  const run = (thread: string, assistant_id: string, input: object) =>
    request("POST", `/threads/${thread}/runs`, { assistant_id, input });

  it("a state over 16 MB fails the run with a clear error", { timeout: 60_000 }, async () => {
    const thread = await newThread();
    const failed = await run(thread, "grow", { size: 17 * MEGABYTE });
    expect(failed).toMatchObject({ status: 200, body: { status: "error" } });
    expect(field(failed, "error")).toMatch(/is too large: a MongoDB document can hold 16 MB$/);
    expect((await request("GET", `/threads/${thread}`)).body).toMatchObject({ status: "error" });
    expect((await run(thread, "grow", { size: 10 })).body).toMatchObject({ status: "success" });
    expect((await request("GET", `/threads/${thread}/state`)).body).toMatchObject({
      values: { text: "xxxxxxxxxx" },
    });
  });

  it("requests over 16 MB are rejected with the reason", { timeout: 60_000 }, async () => {
    const large = "x".repeat(17 * MEGABYTE);
    const tooLarge = { status: 413, body: { code: "payload_too_large" } };
    expect(await request("POST", "/threads", { metadata: { large } })).toMatchObject(tooLarge);
    const thread = await newThread();
    expect(await request("PATCH", `/threads/${thread}`, { metadata: { large } })).toMatchObject(tooLarge);
    expect(await run(thread, "steps", { large })).toMatchObject(tooLarge);
    expect(await request("POST", `/threads/${thread}/state`, { values: { text: large } })).toMatchObject(
      tooLarge,
    );
    expect((await request("GET", `/threads/${thread}/runs`)).body).toEqual([]);
    expect((await request("GET", `/threads/${thread}`)).body).toMatchObject({ status: "idle", metadata: {} });
  });

  it("lost connections under load are reported and the service recovers", { timeout: 120_000 }, async () => {
    const ended: { thread: string; answer: Answer }[] = [];
    let isLoaded = true;
    const load = Array.from({ length: CLIENTS }, async () => {
      while (isLoaded) {
        const created = await request("POST", "/threads", {});
        if (created.status !== 200) {
          ended.push({ thread: "", answer: created });
          continue;
        }
        const thread = String(field(created, "thread_id"));
        ended.push({ thread, answer: await run(thread, "steps", { n: 0 }) });
      }
    });
    const isSuccess = ({ answer }: { answer: Answer }) => field(answer, "status") === "success";
    const goesOn = async () => {
      const from = ended.length;
      const successes = () => ended.slice(from).filter(isSuccess).length;
      await expect.poll(successes, { timeout: 60_000 }).toBeGreaterThan(10);
    };
    await goesOn();
    let commands = 0;
    double.fateOf = () => {
      commands += 1;
      return commands % 37 === 0 ? "drop" : commands % 53 === 0 ? "drop after" : "run";
    };
    await expect
      .poll(() => ended.filter((one) => !isSuccess(one)).length, { timeout: 60_000 })
      .toBeGreaterThan(10);
    double.fateOf = () => "run";
    await goesOn();
    isLoaded = false;
    await Promise.all(load);
    // On a busy machine, connections are lost until the lock of a thread expires.
    const unexplained = logger.lines.filter(({ fields }) => {
      const { err } = fields as { err?: unknown };
      return err !== undefined && !(err instanceof GraphServeError) && !isAborted(err, "lost");
    });
    expect(unexplained).toEqual([]);
    for (const one of ended) {
      expect([200, 503]).toContain(one.answer.status);
      if (one.answer.status === 503) expect(one.answer.body).toMatchObject({ code: "storage_unavailable" });
      else if (isSuccess(one)) expect((await service.state.get(one.thread)).values).toMatchObject({ n: 10 });
      else
        expect(field(one.answer, "error")).toMatch(
          /^MongoDB at |^the run ended as|^the thread's lock was lost/,
        );
    }
    await expect.poll(() => service.threads.count({ status: "busy" }), { timeout: 40_000 }).toBe(0);
    for (const { thread } of ended.filter((one) => one.thread !== "" && !isSuccess(one))) {
      expect((await run(thread, "steps", { n: 0 })).body).toMatchObject({ status: "success" });
    }
  });
});
