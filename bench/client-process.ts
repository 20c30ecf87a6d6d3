/** The clients, in a separate process. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createThread, ended, firstBytes, open, send, textOf, type HttpRequest } from "./http.js";
import { answerCalls, sharedClock } from "./rpc.js";

/** The unit of load: a new thread with one run. */
export interface Unit {
  graph: string;
  input: unknown;
  /** Stream mode or modes; without them the client waits for the run. */
  stream?: string | string[];
  /** Whether the request of the run also creates the thread. */
  createsThread?: boolean;
  /** Thread event channels; if set, the run is read from them. */
  channels?: string[];
  /** Uses only what LangGraph's own server has too: `/runs/wait`, and streams without an end frame. */
  isShared?: boolean;
}

export interface LoadArguments extends Unit {
  url: string;
  clients: number;
  /** How long new units are started, in ms. */
  ms?: number;
  /** Maximum number of units. */
  units?: number;
}

export interface TimedRequest extends HttpRequest {
  /** Measures the time to the first bytes of the body instead of its end. */
  untilFirstBytes?: boolean;
}

const held: AbortController[] = [];

const api = {
  /** Runs `clients` clients, each doing one unit after another. Returns finished units and elapsed milliseconds. */
  async load({ clients, ms = Infinity, units = Infinity, ...unit }: LoadArguments) {
    const start = performance.now();
    let begun = 0;
    let done = 0;
    const client = async (): Promise<void> => {
      while (performance.now() - start < ms && begun < units) {
        begun += 1;
        await doUnit(unit);
        done += 1;
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return { units: done, ms: performance.now() - start };
  },

  /** Sends each request `count` times, in turns. Returns the milliseconds of each, by request. */
  async time({ requests, count }: { requests: TimedRequest[]; count: number }): Promise<number[][]> {
    const times: number[][] = requests.map(() => []);
    for (let turn = 0; turn < count; turn += 1) {
      for (const [index, request] of requests.entries()) times[index]?.push(await timed(request));
    }
    return times;
  },

  /** Runs the unit `count` times. Returns the milliseconds to the first token of each run. */
  async firstTokens({ count, url, ...unit }: Unit & { url: string; count: number }): Promise<number[]> {
    const times: number[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      const start = performance.now();
      let first = 0;
      await doUnit({ ...unit, url }, () => (first ||= performance.now()));
      times.push(first - start);
    }
    return times;
  },

  /** Sends GET `url` every `everyMs` ms for `ms`. Returns the milliseconds of each response. */
  async poll({ url, everyMs, ms }: { url: string; everyMs: number; ms: number }): Promise<number[]> {
    const end = performance.now() + ms;
    const times: number[] = [];
    while (performance.now() < end) {
      times.push(await timed({ method: "GET", url }));
      await sleep(everyMs);
    }
    return times;
  },

  /** Streams the paced graph. Returns the milliseconds from the creation of each event to its arrival. */
  async pace({ url, clients, count }: { url: string; clients: number; count: number }): Promise<number[]> {
    const delays: number[] = [];
    const client = async (_: unknown, index: number): Promise<void> => {
      const thread = await createThread(url);
      await sleep((20 * index) / clients);
      const response = await open(
        runRequest(url, thread, { graph: "paced", input: { count }, stream: "custom" }),
      );
      response.on("data", (chunk: Buffer) => {
        const now = sharedClock();
        for (const [, at] of chunk.toString().matchAll(/"at":([\d.]+)/g)) delays.push(now - Number(at));
      });
      await ended(response);
    };
    await Promise.all(Array.from({ length: clients }, client));
    return delays;
  },

  async holdStreams({ url, count }: { url: string; count: number }): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const leave = new AbortController();
      held.push(leave);
      const unit = { graph: "suspended", input: { count: 0 }, stream: "custom" };
      const response = await open(runRequest(url, await createThread(url), unit), leave.signal);
      response.on("error", () => undefined);
      await firstBytes(response);
    }
  },
};

export type ClientApi = typeof api;
answerCalls(api);

function runRequest(url: string, thread: string, unit: Unit): HttpRequest {
  const { graph, input, stream, createsThread, isShared } = unit;
  const runs = `${url}/threads/${thread}/runs`;
  const body = { assistant_id: graph, input, ...(createsThread && { if_not_exists: "create" }) };
  if (stream) return { url: `${runs}/stream`, body: { ...body, stream_mode: stream } };
  return { url: isShared ? `${runs}/wait` : runs, body };
}

/** `onToken` is called for every chunk of the response that contains tokens. */
async function doUnit({ url, ...unit }: Unit & { url: string }, onToken?: () => void): Promise<void> {
  if (unit.channels) return doByEvents({ url, ...unit }, onToken);
  const thread = unit.createsThread ? randomUUID() : await createThread(url);
  const request = runRequest(url, thread, unit);
  const answer = onToken ? await readUntil(request, /^event: end$/m, onToken) : await send(request);
  const isDone = unit.isShared
    ? !/^event: error$|"__error__"/m.test(answer)
    : answer.includes('"status":"success"');
  if (!isDone) throw new Error(`a run of ${unit.graph} failed: ${answer.slice(-500)}`);
}

/** As clients of thread events do: opens a thread stream, then sends a command. */
async function doByEvents(
  { url, graph, input, channels }: Unit & { url: string },
  onToken?: () => void,
): Promise<void> {
  const thread = `${url}/threads/${randomUUID()}`;
  const body = { channels, namespaces: [[]], depth: 1 };
  const last = /"namespace":\[\],"timestamp":\d+,"data":\{"event":"(completed|failed|interrupted)"/;
  const read = readUntil({ url: `${thread}/stream/events`, body }, last, onToken);
  const params = { assistant_id: graph, input };
  await send({ url: `${thread}/commands`, body: { id: 1, method: "run.start", params } });
  if (last.exec(await read)?.[1] !== "completed") throw new Error(`a run of ${graph} failed`);
}

/** Reads a response until a chunk matches `last`, then disconnects. Returns the text. */
async function readUntil(request: HttpRequest, last: RegExp, onToken?: () => void): Promise<string> {
  const leave = new AbortController();
  const response = await open(request, leave.signal);
  return new Promise((resolve, reject) => {
    let text = "";
    response.on("error", () => undefined).on("end", () => resolve(text));
    response.on("data", (chunk: Buffer) => {
      const piece = chunk.toString();
      // A match across two chunks begins in the tail of the first.
      const seen = text.slice(-300) + piece;
      text += piece;
      if (piece.includes("word ")) onToken?.();
      if (!last.test(seen)) return;
      resolve(text);
      leave.abort();
    });
    if (response.statusCode !== 200) reject(new Error(`${request.url}: ${response.statusCode}`));
  });
}

async function timed(request: TimedRequest): Promise<number> {
  const start = performance.now();
  const response = await open(request);
  if (response.statusCode !== 200) throw new Error(`${request.url}: ${await textOf(response)}`);
  const whole = ended(response);
  await (request.untilFirstBytes ? firstBytes(response) : whole);
  const time = performance.now() - start;
  await whole;
  return time;
}
