/**
 * Whatever a graph returns, throws, asks or writes: the run ends, the thread stays usable and stored data can
 * be read.
 */
import { randomInt } from "node:crypto";
import fc from "fast-check";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { errorMessage } from "../../src/support/errors/thrown.js";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { client } from "../helpers/app.js";
import { onEveryBackend } from "../helpers/backends.js";
import { oddValues, thrownValues, type Odd } from "../helpers/odd-values.js";
import { DOORS, functional, FUNCTIONAL_DOORS, graph, hand, THROWING } from "../fixtures/graphs/odd.js";

/** Set GRAPH_SERVE_TEST_SEED to repeat a run of this file. */
const seed = Number(process.env.GRAPH_SERVE_TEST_SEED ?? randomInt(2 ** 31));
const RUNS = 40;
const MODES = ["values", "updates", "custom", "messages", "messages-tuple", "debug", "tasks", "checkpoints"];
/** Ways in which a client starts a run. */
const WAYS = ["stream", "events", "wait", "run"] as const;

interface Case {
  assistant_id: "odd" | "functional";
  door: string;
  way: (typeof WAYS)[number];
  odd: Odd;
}

const named = ({ assistant_id, door, way, odd }: Case) => `${odd.name}, ${assistant_id} by ${door}, ${way}`;

const doors = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ assistant_id: fc.constant("odd" as const), door: fc.constantFrom(...DOORS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      assistant_id: fc.constant("functional" as const),
      door: fc.constantFrom(...FUNCTIONAL_DOORS),
    }),
  },
);
const cases: fc.Arbitrary<Case> = doors.chain((door) =>
  fc.record({
    ...{ assistant_id: fc.constant(door.assistant_id), door: fc.constant(door.door) },
    way: fc.constantFrom(...WAYS),
    odd: THROWING.includes(door.door) ? thrownValues : oddValues,
  }),
);

interface Stored {
  status: string;
  error: string | null;
}

onEveryBackend(`odd values (seed ${seed})`, (backend) => {
  let service: Service;
  let server: RunningServer;
  const loose: unknown[] = [];
  const hear = (error: unknown) => loose.push(error);

  beforeAll(async () => {
    const { settings, cwd } = backend();
    service = await openService({
      graphs: { odd: graph, functional },
      // Serializes errors, as the logger of a deployed server does.
      logger: pino({}, { write: () => undefined }),
      settings: { ...settings, allow_unfiltered_events: true },
      cwd,
    });
    server = await startServer(service, { host: "127.0.0.1", port: 0 });
    process.on("unhandledRejection", hear);
  });
  afterAll(async () => {
    process.off("unhandledRejection", hear);
    await server.close(0);
    await service.close(0);
  });
  afterEach(() => {
    hand.make = () => undefined;
  });

  async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, text, body: answer } = await client(server.url).request(method, path, body);
    expect(status, `${method} ${path}: ${text.slice(0, 500)}`).toBe(200);
    return answer as T;
  }

  const keep = (threadId: string, assistant_id: Case["assistant_id"]) =>
    ask<Stored>("POST", `/threads/${threadId}/runs`, {
      assistant_id,
      input: assistant_id === "odd" ? { door: "keep" } : "keep",
    });

  /** The error that the client receives, or null. */
  async function run(threadId: string, { assistant_id, door, way }: Case): Promise<unknown> {
    const request = { assistant_id, input: assistant_id === "odd" ? { door, kept: null } : door };
    if (way === "run") return (await ask<Stored>("POST", `/threads/${threadId}/runs`, request)).error;
    if (way === "wait") {
      const answer = await ask<{ __error__?: { message: unknown } }>(
        "POST",
        `/threads/${threadId}/runs/wait`,
        request,
      );
      return answer.__error__?.message ?? null;
    }
    const stream_mode = way === "events" ? ["events", "values"] : MODES;
    const stream = { ...request, stream_mode, stream_subgraphs: true };
    const { text } = await client(server.url).request("POST", `/threads/${threadId}/runs/stream`, stream);
    const [, event, data = "null"] = /event: (.*)\ndata: (.*)\s*$/.exec(text) ?? [];
    expect(["end", "error"], text.slice(-500)).toContain(event);
    return (JSON.parse(data) as { message?: unknown }).message ?? null;
  }

  async function expectSurvived(one: Case): Promise<void> {
    hand.make = one.odd.make;
    const { thread_id } = await ask<{ thread_id: string }>("POST", "/threads", {});
    expect(await keep(thread_id, one.assistant_id)).toMatchObject({ status: "success" });
    const message = await run(thread_id, one);

    const [odd, kept] = await ask<Stored[]>("GET", `/threads/${thread_id}/runs`);
    expect(kept).toMatchObject({ status: "success" });
    expect(["success", "interrupted", "error"]).toContain(odd?.status);
    expect(odd?.error).toEqual(odd?.status === "error" ? expect.any(String) : null);
    if (odd?.status === "error") {
      expect(message).toEqual(expect.stringMatching(/\S/));
    }
    const thread = await ask<{ status: string }>("GET", `/threads/${thread_id}`);
    expect(thread.status).toBe(odd?.status === "success" ? "idle" : odd?.status);
    await ask("GET", `/threads/${thread_id}/state?subgraphs=true`);
    const history = await ask<{ values: { kept?: unknown } | null }[]>(
      "GET",
      `/threads/${thread_id}/history?limit=100`,
    );
    expect(history.map(({ values }) => values?.kept)).toContain("kept");
    await ask("POST", "/store/items/search", { namespace_prefix: [] });

    hand.make = () => undefined;
    expect(await keep(thread_id, one.assistant_id)).toMatchObject({ status: "success", error: null });
    expect(await ask("GET", `/threads/${thread_id}`)).toMatchObject({
      status: "idle",
      values: { kept: "kept" },
    });
    expect(loose).toEqual([]);
  }

  it("do not crash the server, block a thread or corrupt stored data", { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        await expectSurvived(one).catch((error: unknown) => {
          throw new Error(`${named(one)}: ${errorMessage(error)}`, { cause: error });
        });
      }),
      { seed, numRuns: RUNS, includeErrorInReport: true },
    );
  });
});
