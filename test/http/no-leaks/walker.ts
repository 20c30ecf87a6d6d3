/** Sends requests to a server and records every mark in the answers. */
import { ROUTES } from "../../../src/http/route-table.js";
import type { Changes } from "../../../src/models/changes.js";
import type { Answer, TestServer } from "../../helpers/app.js";
import { readEvents } from "../../helpers/sse.js";
import { openEvents, type OpenEvents } from "../../helpers/thread-events.js";
import { leaksIn } from "./mark.js";

const PATTERNS = ROUTES.map(({ id, method, path }) => ({
  id,
  method: method.toUpperCase(),
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
}));

export class Walker {
  /** Found marks as `request: mark`. */
  readonly sights = new Set<string>();
  /** Ids of the routes that answered. */
  readonly routes = new Set<string>();
  /** Namespaces of subgraphs seen in streams. */
  readonly namespaces = new Set<string>();
  /** All received text. */
  heard = "";

  readonly #server: TestServer;
  readonly #looksAtMessages: boolean;

  /**
   * `messages`: whether to check frames of messages and tool calls, which are unfiltered unless
   * `hold_messages` is on.
   */
  constructor(server: TestServer, { messages }: { messages: boolean }) {
    this.#server = server;
    this.#looksAtMessages = messages;
  }

  /** Records the marks in an answer. `exit` describes the request. */
  look(exit: string, text: string): void {
    this.heard += text;
    for (const mark of leaksIn(this.#looksAtMessages ? text : withoutMessages(text)))
      this.sights.add(`${exit}: ${mark}`);
    for (const [, event = ""] of text.matchAll(/^event: (\S+)$/gm)) {
      const namespace = event
        .split("|")
        .slice(1)
        .filter((part) => part.includes(":"));
      for (let depth = 1; depth <= namespace.length; depth++)
        this.namespaces.add(namespace.slice(0, depth).join("|"));
    }
  }

  /** Sends `METHOD /path`. A found mark is reported under the route id and the body, without ids. */
  readonly ask = async (
    request: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> => {
    const [method = "", path = ""] = request.split(" ");
    const answer = await this.#server.request(method, path, body, headers);
    const name = path.split("?", 1)[0] ?? "";
    const route = PATTERNS.find((each) => each.method === method && each.pattern.test(name));
    if (route) this.routes.add(route.id);
    const query = path.slice(name.length);
    this.look(`${route?.id ?? path}${query} ${shortly(body)}`, answer.text);
    return answer;
  };

  /** Opens the event stream of the thread at `path`. */
  follow(path: string): Promise<OpenEvents> {
    this.routes.add("stream_thread_events");
    return openEvents(this.#server, path.slice("/threads/".length));
  }

  /** Reads the frames of all runs of the thread at `path`, from the first to the last. */
  async joined(path: string): Promise<void> {
    const leaving = new AbortController();
    const { signal } = leaving;
    const headers = { "last-event-id": "-1" };
    const runs = (await this.ask(`GET ${path}/runs`)).body as unknown[];
    const events = readEvents(
      await this.#server.fetch("GET", `${path}/stream`, undefined, { headers, signal }),
    );
    this.routes.add("join_thread_stream");
    for (let done = 0; done < runs.length;) {
      const { value } = await events.next();
      this.look("thread stream", `event: ${value?.event}\n${JSON.stringify(value?.data)}`);
      if (value?.event === "run_done") done += 1;
    }
    leaving.abort();
  }

  /** Reads the stream of changes until a run that `work` starts has ended. */
  async changes(work: () => Promise<unknown>): Promise<void> {
    const leaving = new AbortController();
    const { signal } = leaving;
    const events = readEvents(await this.#server.fetch("GET", "/changes", undefined, { signal }));
    this.routes.add("stream_changes");
    // The first event says that the stream has begun.
    await events.next();
    await work();
    for (let isEnded = false; !isEnded;) {
      const { value } = await events.next();
      const data = value?.data as Changes;
      this.look("changes", JSON.stringify(data));
      isEnded = data.runs.some(({ status }) => status !== "pending" && status !== "running");
    }
    leaving.abort();
  }

  /** Like `ask`, but returns a function that reads the body later. */
  async begin(request: string, headers?: Record<string, string>): Promise<() => Promise<void>> {
    const [method = "", path = ""] = request.split(" ");
    const response = await this.#server.fetch(method, path, undefined, { headers });
    return async () => this.look(`live ${path.replace(/[0-9a-f-]{36}/g, "")}`, await response.text());
  }
}

/** Removes the frames of messages and tool calls from a stream. */
const withoutMessages = (text: string): string =>
  text
    .split("\n\n")
    .filter((frame) => !/^event: (messages|tools)\b/m.test(frame))
    .join("\n\n");

/** A body as JSON without ids, truncated to 160 characters. */
const shortly = (body: unknown): string =>
  body === undefined
    ? ""
    : JSON.stringify(body)
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "")
        .slice(0, 160);
