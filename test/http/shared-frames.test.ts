/** Streaming runs that another process executes: two servers on one database, over Redis and over PostgreSQL. */
import { describe, expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { openFrameBus } from "../../src/storage/open-frames.js";
import { openStorage } from "../../src/storage/open.js";
import { graphs } from "../clients/open.js";
import { gateOf } from "../fixtures/gates.js";
import { shaky } from "../fixtures/graphs/shaky.js";
import { CLASSIFIED } from "../fixtures/graphs/vault.js";
import { serve, type TestServer } from "../helpers/app.js";
import { type TestPostgres, withPostgres } from "../helpers/postgres.js";
import { withRedis } from "../helpers/redis.js";
import { openTestService, recordingLogger } from "../helpers/service.js";
import { command, isLast, openEvents, outline, type ThreadEvent } from "../helpers/thread-events.js";
import { allEvents, readEvents, type SseEvent } from "../helpers/sse.js";

withRedis("by Redis", (redis) =>
  withPostgres("remote frames", (postgres) =>
    sharedFrames(postgres, { stream: "redis", stream_uri: redis.uri }),
  ),
);
withPostgres("remote frames over PostgreSQL", (postgres) =>
  sharedFrames(postgres, { stream: "postgres", stream_uri: postgres.uri }),
);

type Sharing = Pick<Settings, "stream" | "stream_uri">;

function sharedFrames(postgres: TestPostgres, sharing: Sharing): void {
  const settings = { ...postgres.options({ lock_uri: undefined }), ...sharing };
  const open = async ({
    graphs: own = graphs,
    ...more
  }: Partial<Omit<Settings, "graphs">> & { graphs?: object } = {}) =>
    serve(
      await openTestService({
        graphs: { ...own },
        storage: await openStorage(postgres.options()),
        settings: { ...settings, ...more },
      }),
    );

  it("a remote reader gets the same frames and ids as a local one, even when it joins late", async () => {
    const [here, there] = [await open(), await open()];
    const name = crypto.randomUUID();
    const run = await background(here, { assistant_id: "gate", input: { gate: name } });
    const [near, far] = [follow(here, run), follow(there, run)];
    await gateOf(name).entered;
    await far.until(({ data }) => JSON.stringify(data).includes(`before ${name}`));
    gateOf(name).open();
    const received = await near.all;
    expect(received.at(-1)?.event).toBe("end");
    expect(await far.all).toEqual(received);
    expect(await follow(there, run).all).toEqual(received);
    const rest = follow(there, run, "1");
    expect(await rest.all).toEqual(received.slice(2));
    const over = await there.request("GET", run, undefined, { "last-event-id": String(received.at(-1)?.id) });
    expect(over.text).not.toContain("event:");
  });

  it("a redriven run streams its second attempt to previous and new readers", async () => {
    const isBack = { now: false };
    const dying = { graphs: { ...graphs, shaky: shaky(isBack) }, max_attempts: 1 };
    const [here, there] = [await open(dying), await open(dying)];
    const run = await background(here, { assistant_id: "shaky", input: {} });
    const death = await follow(there, run).all;
    expect(death.map(({ event }) => event).at(-1)).toBe("error");
    await expect.poll(async () => (await there.request("GET", "/runs/dead")).text).toContain(idOf(run));
    isBack.now = true;
    const redriven = await there.request("POST", run.replace(/stream$/, "redrive"));
    expect(redriven.status).toBe(200);
    const last = String(death.at(-1)?.id);
    const readers = [
      follow(here, run, last),
      follow(there, run, last),
      follow(here, run),
      follow(there, run),
    ];
    const received = await Promise.all(readers.map(({ all }) => all));
    for (const events of received) {
      const ends = events.filter(({ event }) => event === "error" || event === "end");
      expect(ends.map(({ event }) => event)).toEqual(["end"]);
      expect(events.findLast(({ event }) => event === "metadata")?.data).toMatchObject({ attempt: 2 });
    }
    const ids = received.map((events) => events.map(({ id }) => id));
    expect(new Set(ids[2]).size).toBe(ids[2]?.length);
    expect(ids[3]).toEqual(ids[2]);
    expect(ids[1]).toEqual(ids[0]);
  });

  it("a remote reader of a queued run gets frames once the run starts", async () => {
    const [here, there] = [await open(), await open()];
    const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
    const thread = crypto.randomUUID();
    const runs = [];
    for (const gate of [first, second])
      runs.push(await background(here, { assistant_id: "gate", input: { gate } }, thread));
    const far = follow(there, runs[1]!);
    gateOf(first).open();
    gateOf(second).open();
    expect(await far.all).toEqual(await follow(here, runs[1]!).all);
  });

  it("remote frames of a stateless run are found by run id", async () => {
    const [here, there] = [await open(), await open()];
    const name = crypto.randomUUID();
    const body = { assistant_id: "gate", input: { gate: name } };
    const { run_id } = (await here.request("POST", "/runs", body)).body as { run_id: string };
    const far = follow(there, `/runs/${run_id}/stream`);
    gateOf(name).open();
    const received = await follow(here, `/runs/${run_id}/stream`).all;
    expect(received.at(-1)?.event).toBe("end");
    expect(await far.all).toEqual(received);
    expect(await follow(there, `/runs/${run_id}/stream`).all).toEqual(received);
    const nobody = await there.request("GET", `/runs/${crypto.randomUUID()}/stream`);
    expect(nobody.status).toBe(404);
  });

  it("a run without a stream sends a summary and its end is reported immediately", async () => {
    const [here, there] = [await open(), await open()];
    const name = crypto.randomUUID();
    const thread = crypto.randomUUID();
    const body = { assistant_id: "gate", input: { gate: name }, if_not_exists: "create" };
    const waited = here.request("POST", `/threads/${thread}/runs/wait`, body);
    await gateOf(name).entered;
    const [{ run_id }] = (await there.request("GET", `/threads/${thread}/runs`)).body as [{ run_id: string }];
    const far = follow(there, `/threads/${thread}/runs/${run_id}/stream`);
    const join = there.request("GET", `/threads/${thread}/runs/${run_id}/join`);
    gateOf(name).open();
    expect((await join).body).toEqual((await waited).body);
    expect((await far.all).map(({ event }) => event)).toEqual(["metadata", "values", "end"]);
  });

  it("a remote reader gets all thread events, even when it joins late", async () => {
    const [here, there] = [await open(), await open()];
    const thread = crypto.randomUUID();
    const name = crypto.randomUUID();
    const [near, far] = [await openEvents(here, thread), await openEvents(there, thread)];
    const first = await command(here, thread, "run.start", { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    await far.until(({ method }) => method === "tasks");
    gateOf(name).open();
    await far.until(isLast(first.result.run_id));
    const input = { messages: [{ role: "user", content: "hi" }] };
    const second = await command(here, thread, "run.start", { assistant_id: "chat", input });
    const last = isLast(second.result.run_id);
    const received = (await near.until(last)).map(withoutTime);
    // Task events come only from shared frames, not from the storage.
    expect(outline(near.events)).toContain("tasks");
    expect((await far.until(last)).map(withoutTime)).toEqual(received);
    const late = await openEvents(there, thread);
    expect((await late.until(last)).map(withoutTime)).toEqual(received);
    const again = await openEvents(await open(), thread);
    expect((await again.until(last)).map(withoutTime)).toEqual(received);
  });

  it("values outside the output schema are not shared", async () => {
    const [here, there] = [await open(), await open()];
    const modes = ["values", "updates", "messages-tuple", "custom", "debug", "tasks", "checkpoints"];
    const request = { assistant_id: "vault", input: { topic: "tea" }, stream_mode: modes };
    const run = await background(here, { ...request, stream_subgraphs: true });
    const received = await follow(there, run).all;
    expect(received.at(-1)?.event).toBe("end");
    expect(received).toEqual(await follow(here, run).all);
    const bus = await openFrameBus(settings);
    const kept = await bus.read(run.split("/")[4] ?? "", -1);
    await bus.close();
    expect(kept?.frames.length).toBe(received.length);
    expect(JSON.stringify(kept)).not.toContain(CLASSIFIED);
  });
}

describe("an unavailable frame bus", () => {
  const AWAY: Sharing[] = [
    { stream: "redis", stream_uri: "redis://127.0.0.1:1" },
    { stream: "postgres", stream_uri: "postgresql://nobody@127.0.0.1:1/nothing" },
  ];

  it.each(AWAY)("runs succeed and the outage is reported: $stream", async (settings) => {
    const logger = recordingLogger();
    const server = await serve(
      await openTestService({ graphs, settings: { ...settings, metrics: true }, logger }),
    );
    const body = { assistant_id: "chat", input: { messages: [] }, if_not_exists: "create" };
    for (let index = 0; index < 3; index += 1) {
      const stream = await server.fetch("POST", `/threads/${crypto.randomUUID()}/runs/stream`, body);
      expect((await allEvents(stream)).at(-1)?.event).toBe("end");
    }
    const warnings = () => logger.of("warn").filter((text) => text.startsWith("frames cannot be shared"));
    await expect.poll(() => warnings().length).toBe(1);
    const ready = await server.request("GET", "/ready");
    expect(ready).toMatchObject({ status: 200, body: { ready: true, frames: "away" } });
    const { text } = await server.request("GET", "/metrics");
    expect(text).toContain("graph_serve_frame_bus_up 0");
    expect(warnings().length).toBe(1);
  });

  it.each([
    [{ stream: "redis" }, /stream redis needs a server/],
    [
      { stream: "postgres", stream_uri: "redis://127.0.0.1:1" },
      /stream_uri is not a URI for stream postgres/,
    ],
    [{ stream: "redis", stream_uri: "redis://" }, /stream_uri is not a valid Redis URI/],
  ] as const)("invalid settings are rejected: %j", async (settings, message) => {
    await expect(openTestService({ graphs, settings })).rejects.toThrow(message);
  });
});

const withoutTime = ({ event_id, seq, method, params }: ThreadEvent) => ({
  event_id,
  seq,
  method,
  params: { ...params, timestamp: undefined },
});

/** Starts a background run and returns the path of its stream. */
async function background(
  server: TestServer,
  request: object,
  thread: string = crypto.randomUUID(),
): Promise<string> {
  const body = { stream_mode: ["values", "custom"], if_not_exists: "create", ...request };
  const headers = { prefer: "respond-async" };
  const answer = await server.request("POST", `/threads/${thread}/runs`, body, headers);
  expect(answer.status).toBe(200);
  return `/threads/${thread}/runs/${(answer.body as { run_id: string }).run_id}/stream`;
}

const idOf = (stream: string): string => stream.split("/").at(-2) ?? "";

interface Follower {
  all: Promise<SseEvent[]>;
  /** Resolves once an event satisfies the predicate. */
  until: (seen: (event: SseEvent) => boolean) => Promise<void>;
}

function follow(server: TestServer, path: string, after?: string): Follower {
  const events: SseEvent[] = [];
  const watchers = new Set<() => void>();
  const read = async () => {
    const headers: Record<string, string> = after === undefined ? {} : { "last-event-id": after };
    const response = await server.fetch("GET", path, undefined, { headers });
    for await (const event of readEvents(response)) {
      events.push(event);
      for (const watch of [...watchers]) watch();
    }
    return events;
  };
  return {
    all: read(),
    until: (seen) =>
      new Promise((resolve) => {
        const watch = () => {
          if (!events.some(seen)) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
  };
}
