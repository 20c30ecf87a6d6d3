/** Records a server's answers in a form that is equal on every backend and in every run. */
import type { Answer, TestServer } from "../../helpers/app.js";
import { expectDocumented } from "../../helpers/documented.js";
import { allEvents, type SseEvent } from "../../helpers/sse.js";

const HEADERS = [
  "content-type",
  "location",
  "content-location",
  "x-tokens-used",
  "x-pagination-total",
  "x-pagination-next",
];

export type Requests = Pick<TestServer, "request" | "fetch">;

/** Sends requests, validates each answer against the OpenAPI document and records it. */
export class Recorder {
  readonly #lines: string[] = [];
  #server: Requests;

  constructor(server: Requests) {
    this.#server = server;
  }

  /** Switches to the server that replaced the first one. */
  use(server: Requests): void {
    this.#server = server;
  }

  /** Sends a request such as `POST /threads` and returns the answer. */
  readonly ask = async (request: string, body?: unknown): Promise<Answer> => {
    const answer = await this.quietly(request, body);
    const [method = "", path = ""] = request.split(" ");
    expectDocumented(method, path, answer);
    this.#keep(request, answer.status, answer.headers, answer.body ?? answer.text);
    return answer;
  };

  /** Returns the events of a stream after it ended. */
  readonly stream = async (request: string, body?: unknown): Promise<SseEvent[]> => {
    const [method = "", path = ""] = request.split(" ");
    const response = await this.#server.fetch(method, path, body);
    const events = await allEvents(response);
    this.#keep(request, response.status, response.headers, events);
    return events;
  };

  /** Like `ask`, without validating or recording the answer. */
  readonly quietly = (request: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> => {
    const [method = "", path = ""] = request.split(" ");
    return this.#server.request(method, path, body, headers);
  };

  /** Records a test result. */
  readonly note = (what: string, found: unknown): void => void this.#lines.push(`${what}: ${sorted(found)}`);

  /** One line per recorded request. Ids are numbered by first appearance, times are masked. */
  transcript(): string[] {
    const names = new Map<string, string>();
    const named = (id: string) => {
      const key = id.toLowerCase();
      const name = names.get(key) ?? `ID-${names.size + 1}`;
      names.set(key, name);
      return name;
    };
    return this.#lines.map((line) => line.replace(TIME, "TIME").replace(ID, named));
  }

  #keep(request: string, status: number, headers: Headers, body: unknown): void {
    const shown = HEADERS.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : []));
    this.#lines.push(`${request} -> ${status} ${JSON.stringify(Object.fromEntries(shown))} ${sorted(body)}`);
  }
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** UUIDs and interrupt ids. */
const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/gi;

/** JSON with sorted keys, since backends do not preserve key order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

export const field = (answer: Answer, name: string): unknown =>
  (answer.body as Record<string, unknown>)[name];
