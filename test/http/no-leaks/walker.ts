/** Asks a server for everything it has to say of a graph, and keeps every mark that it hears. */
import { ROUTES } from "../../../src/http/route-table.js";
import type { Answer, TestServer } from "../../helpers/app.js";
import { openEvents, type OpenEvents } from "../../helpers/thread-events.js";
import { leaksIn } from "./mark.js";

const PATTERNS = ROUTES.map(({ id, method, path }) => ({
  id,
  method: method.toUpperCase(),
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
}));

export class Walker {
  /** What was heard where: `request: mark`. */
  readonly sights = new Set<string>();
  /** Ids of the routes that answered. */
  readonly routes = new Set<string>();
  /** Namespaces of inner graphs, as the streams named them. */
  readonly namespaces = new Set<string>();
  /** Everything that was heard. */
  heard = "";

  readonly #server: TestServer;
  readonly #looksAtMessages: boolean;

  /** Frames of messages and tool calls, which are sent as the graph makes them, count only where they are held. */
  constructor(server: TestServer, { messages }: { messages: boolean }) {
    this.#server = server;
    this.#looksAtMessages = messages;
  }

  /** Looks at an answer; returns it. `exit` says what was asked for. */
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

  /** `request` is `METHOD /path`; `what` stands for the ids in it, and the body, when a sight is told. */
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

  /** The events of the thread at `path`, as they come. */
  follow(path: string): Promise<OpenEvents> {
    this.routes.add("stream_thread_events");
    return openEvents(this.#server, path.slice("/threads/".length));
  }

  /** As `ask`, with the body of the answer yet to come. */
  async begin(request: string, headers?: Record<string, string>): Promise<() => Promise<void>> {
    const [method = "", path = ""] = request.split(" ");
    const response = await this.#server.fetch(method, path, undefined, { headers });
    return async () => this.look(`live ${path.replace(/[0-9a-f-]{36}/g, "")}`, await response.text());
  }
}

/** A stream without the frames of messages and tool calls. */
const withoutMessages = (text: string): string =>
  text
    .split("\n\n")
    .filter((frame) => !/^event: (messages|tools)\b/m.test(frame))
    .join("\n\n");

/** A body without ids. */
const shortly = (body: unknown): string =>
  body === undefined
    ? ""
    : JSON.stringify(body)
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "")
        .slice(0, 160);
