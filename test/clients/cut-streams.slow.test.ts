/**
 * A connection that is lost at every frame of a stream in turn: each frame arrives once, in order, and the graph runs
 * once.
 */
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { bytesOf } from "../../src/http/core/frame-bytes.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { startTestServer, client as rawClient, type TestServer } from "../helpers/app.js";
import { openCuttingProxy, type Cut } from "../helpers/cutting-proxy.js";
import { allEvents, readEvents, type SseEvent } from "../helpers/sse.js";
import { collect, type Chunk } from "./open.js";
import { journey, ONE_JOURNEY, visitsOf } from "./journey.js";

const PAYLOAD = {
  assistant_id: "journey",
  stream_mode: ["values", "updates", "messages-tuple", "custom"],
  stream_subgraphs: true,
  on_disconnect: "continue",
};
const inputOf = (name: string) => ({ name, messages: [{ role: "user", content: "go" }] });

type Frame = Pick<SseEvent, "id" | "event" | "data">;

/** One run that a reader follows over a connection that is lost. */
interface Trip {
  server: TestServer;
  /** Name of the run inside the graph. */
  name: string;
  /** URL of the proxy. */
  url: string;
  thread: string;
  /** Id of a run started beforehand. */
  run: string;
}

/** How a stream is requested, with plain HTTP and with the SDK. */
interface Kind {
  /** Whether the run is started before the stream is requested. */
  isJoin: boolean;
  request: (trip: Trip) => { method: string; path: string; body?: unknown };
  sdk: (client: Client, trip: Trip) => AsyncIterable<Chunk>;
}

const sdkPayload = (name: string) => ({
  input: inputOf(name),
  streamMode: ["values" as const, "updates" as const, "messages-tuple" as const, "custom" as const],
  streamSubgraphs: true,
  onDisconnect: "continue" as const,
});

const KINDS: Record<string, Kind> = {
  "of a thread": {
    isJoin: false,
    request: ({ thread, name }) => ({
      method: "POST",
      path: `/threads/${thread}/runs/stream`,
      body: { ...PAYLOAD, input: inputOf(name) },
    }),
    sdk: (client, { thread, name }) =>
      client.runs.stream(thread, "journey", sdkPayload(name)) as AsyncIterable<Chunk>,
  },
  "without a thread": {
    isJoin: false,
    request: ({ name }) => ({
      method: "POST",
      path: "/runs/stream",
      body: { ...PAYLOAD, input: inputOf(name) },
    }),
    sdk: (client, { name }) => client.runs.stream(null, "journey", sdkPayload(name)) as AsyncIterable<Chunk>,
  },
  "of a joined run": {
    isJoin: true,
    request: ({ thread, run }) => ({ method: "GET", path: `/threads/${thread}/runs/${run}/stream` }),
    sdk: (client, { thread, run }) => client.runs.joinStream(thread, run, { lastEventId: "-1" }),
  },
};

/** Follows the stream like a browser's EventSource: reconnects immediately with the last seen id. */
async function follow(trip: Trip, { request }: Kind): Promise<Frame[]> {
  const { fetch } = rawClient(trip.url);
  const { method, path, body } = request(trip);
  const frames: Frame[] = [];
  let response = await fetch(method, path, body);
  for (;;) {
    try {
      for await (const frame of readEvents(response)) frames.push(frame);
      return frames;
    } catch {
      const location = response.headers.get("location") ?? "no location";
      const last = frames.at(-1)?.id;
      response = await fetch("GET", location, undefined, {
        headers: last === undefined ? {} : { "last-event-id": last },
      });
    }
  }
}

const followBySdk = async (trip: Trip, { sdk }: Kind): Promise<Frame[]> =>
  (await collect(sdk(new Client({ apiUrl: trip.url, apiKey: null }), trip))).map(({ id, event, data }) => ({
    id,
    event,
    data,
  }));

async function open() {
  const server = await startTestServer({ graphs: { journey } });
  return { server, client: new Client({ apiUrl: server.url, apiKey: null }) };
}

/** Starts a run without waiting for it. */
async function startInBackground(server: TestServer, thread: string, name: string): Promise<string> {
  const body = { ...PAYLOAD, input: inputOf(name) };
  const headers = { prefer: "respond-async" };
  const answer = await server.request("POST", `/threads/${thread}/runs`, body, headers);
  return (answer.body as { run_id: string }).run_id;
}

/** The frames of an uninterrupted stream, and how many of them precede the gate. */
async function sampleOf({ server, client }: Awaited<ReturnType<typeof open>>) {
  const name = newId();
  gateOf(name).open();
  const { thread_id } = await client.threads.create();
  const body = { ...PAYLOAD, input: inputOf(name) };
  const frames = await allEvents(await server.fetch("POST", `/threads/${thread_id}/runs/stream`, body));
  const waitsAfter = frames.findIndex(({ data }) => (data as { open?: boolean }).open);
  const sizes = frames.map(
    ({ id, event = "", data }) => bytesOf([{ id: Number(id), event, data: JSON.stringify(data) }]).length,
  );
  return { frames, waitsAfter, sizes };
}

/** Cut positions before, within and after every frame. */
const placesIn = (sizes: readonly number[]): Cut[] => [
  ...sizes.flatMap((size, frames) => [0, Math.floor(size / 2)].map((bytes) => ({ frames, bytes }))),
  { frames: sizes.length, bytes: 0 },
];

const READERS = { "a plain reader": follow, "the SDK": followBySdk };
type Journey = [Cut, typeof follow];

/** One run per cut position. The readers alternate, so each is cut before, within and after frames of every kind. */
const journeysOver = (sizes: readonly number[]): Journey[] =>
  placesIn(sizes).map((cut) => [cut, (cut.frames + (cut.bytes > 0 ? 1 : 0)) % 2 ? follow : followBySdk]);

describe.each(Object.entries(KINDS))("a stream %s, disconnected at every frame", (_kind, kind) => {
  it("is complete for the SDK and for a plain reader", async () => {
    const opened = await open();
    const { server, client } = opened;
    const { frames, waitsAfter, sizes } = await sampleOf(opened);
    expect(frames.length).toBeGreaterThanOrEqual(40);

    const travel = async ([cut, read]: Journey): Promise<void> => {
      const name = newId();
      const { thread_id: thread } = await client.threads.create();
      const run = kind.isJoin ? await startInBackground(server, thread, name) : "";
      const proxy = await openCuttingProxy(server.url, (stream) => (stream === 0 ? cut : undefined));
      const reading = read({ server, name, url: proxy.url, thread, run }, kind);
      // Frames sent before the gate must be cut while the graph waits there.
      if (cut.frames < waitsAfter || (cut.frames === waitsAfter && cut.bytes === 0)) await proxy.cut;
      gateOf(name).open();
      const seen = await reading;
      expect(proxy.cuts).toBe(1);
      expect(seen.map(({ event }) => event?.replace(/:[^|]*/g, ""))).toEqual(
        frames.map(({ event }) => event?.replace(/:[^|]*/g, "")),
      );
      expect(seen.map(({ id }) => Number(id))).toEqual(seen.map((_, index) => index));
      expect(visitsOf(name)).toEqual(ONE_JOURNEY);
      await expectLogged(server, seen);
    };
    await Promise.all(journeysOver(sizes).map(travel));
  }, 240_000);

  it("is complete when every connection ends after one frame", async () => {
    const opened = await open();
    const { server, client } = opened;
    const { frames } = await sampleOf(opened);
    for (const bytes of [0, 9]) {
      const name = newId();
      gateOf(name).open();
      const { thread_id: thread } = await client.threads.create();
      const run = kind.isJoin ? await startInBackground(server, thread, name) : "";
      const proxy = await openCuttingProxy(server.url, () => ({ frames: 1, bytes }));
      const seen = await follow({ server, name, url: proxy.url, thread, run }, kind);
      expect(seen.map(({ id }) => Number(id))).toEqual(frames.map((_, index) => index));
      expect(proxy.cuts).toBe(bytes === 0 ? frames.length : frames.length - 1);
      expect(visitsOf(name)).toEqual(ONE_JOURNEY);
    }
  });
});

/** Streams of runs that have ended. */
const ENDED: Record<
  string,
  { path: (trip: Trip) => string; start: (server: TestServer, trip: Trip) => Promise<string> }
> = {
  "of a thread": {
    path: ({ thread, run }) => `/threads/${thread}/runs/${run}/stream`,
    start: (server, { thread, name }) => startInBackground(server, thread, name),
  },
  "without a thread": {
    path: ({ run }) => `/runs/${run}/stream`,
    start: async (server, { name }) => {
      const { body } = await server.request("POST", "/runs", { ...PAYLOAD, input: inputOf(name) });
      return (body as { run_id: string }).run_id;
    },
  },
};

describe.each(Object.entries(ENDED))(
  "an ended run %s, disconnected at every frame",
  (where, { path, start }) => {
    const kind: Kind = {
      isJoin: true,
      request: (trip) => ({ method: "GET", path: path(trip) }),
      sdk: (client, { thread, run }) =>
        client.runs.joinStream(where === "of a thread" ? thread : null, run, { lastEventId: "-1" }),
    };

    it("is complete for the SDK and for a plain reader", async () => {
      const opened = await open();
      const { server, client } = opened;
      const { sizes } = await sampleOf(opened);
      const name = newId();
      const { thread_id: thread } = await client.threads.create();
      const trip = { server, name, url: server.url, thread, run: "" };
      const run = await start(server, trip);
      gateOf(name).open();
      const whole = await follow({ ...trip, run }, kind);
      expect(whole).toHaveLength(sizes.length);
      const before = await client.threads.count();
      await Promise.all(
        journeysOver(sizes).map(async ([cut, read]) => {
          const proxy = await openCuttingProxy(server.url, (stream) => (stream === 0 ? cut : undefined));
          expect(await read({ ...trip, run, url: proxy.url }, kind)).toEqual(whole);
          expect(proxy.cuts).toBe(1);
        }),
      );
      expect(visitsOf(name)).toEqual(ONE_JOURNEY);
      expect(await client.threads.count()).toBeLessThanOrEqual(before);
    }, 240_000);
  },
);

describe("an ended run without stored frames, disconnected at every frame", () => {
  it.each(Object.entries(READERS))(
    "sends its end once to %s",
    async (_reader, read) => {
      const { server, client } = await open();
      const { thread_id: thread } = await client.threads.create();
      const name = newId();
      gateOf(name).open();
      const { run_id: run } = await client.runs.create(thread, "journey", { input: inputOf(name) });
      const kind = KINDS["of a joined run"] as Kind;
      const whole = await read({ server, name, url: server.url, thread, run }, kind);
      expect(whole.map(({ event }) => event)).toEqual(["metadata", "values", "end"]);
      const sizes = whole.map(
        ({ id, event = "", data }) => bytesOf([{ id: Number(id), event, data: JSON.stringify(data) }]).length,
      );
      for (const cut of placesIn(sizes)) {
        const proxy = await openCuttingProxy(server.url, (stream) => (stream === 0 ? cut : undefined));
        expect(await read({ server, name, url: proxy.url, thread, run }, kind)).toEqual(whole);
        expect(proxy.cuts).toBe(1);
      }
      // An unknown last-event-id still returns all events.
      const joined = { lastEventId: "100000" };
      expect(await collect(client.runs.joinStream(thread, run, joined))).toEqual(whole);
    },
    60_000,
  );
});

/** Compares with the frames that the server has stored for the run. */
async function expectLogged(server: TestServer, seen: readonly Frame[]): Promise<void> {
  const { run_id, thread_id } = seen[0]?.data as { run_id: string; thread_id: string };
  const onThread = await server.fetch("GET", `/threads/${thread_id}/runs/${run_id}/stream`);
  const answer = onThread.ok ? onThread : await server.fetch("GET", `/runs/${run_id}/stream`);
  expect(seen).toEqual(await allEvents(answer));
}
