/** A server on a free port, closed at the end of the test. */
import { onTestFinished } from "vitest";
import { startServer, type ListenOptions } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import type { Service } from "../../src/service/service.js";
import type { TestServiceOptions } from "./service.js";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body parsed as JSON; undefined if it is empty. */
  body: unknown;
}

export interface TestServer extends RunningServer {
  service: Service;
  /** Sends `body` as JSON; strings and bytes are sent unchanged. */
  request: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  /** Like `request`, but leaves the response body unread. */
  fetch: (method: string, path: string, body?: unknown, init?: RequestInit) => Promise<Response>;
}

/** A server with a real service, in memory unless the settings say otherwise. */
export async function startTestServer(options: TestServiceOptions): Promise<TestServer> {
  // Imported lazily: tests of HTTP alone need no graph.
  const { openTestService } = await import("./service.js");
  return serve(await openTestService(options));
}

export async function serve(service: Service, options: Partial<ListenOptions> = {}): Promise<TestServer> {
  const server = await startServer(service, { host: "127.0.0.1", port: 0, ...options });
  onTestFinished(() => server.close(0));
  return { ...server, service, ...client(server.url) };
}

/** A client of the server at `url`. */
export function client(url: string): Pick<TestServer, "request" | "fetch"> {
  const send = (method: string, path: string, body?: unknown, init: RequestInit = {}) =>
    fetch(url + path, { method, body: encode(body), ...init });
  return {
    fetch: send,
    async request(method, path, body, headers) {
      const response = await send(method, path, body, { headers });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: parse(text) };
    },
  };
}

function encode(body: unknown): RequestInit["body"] {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return body;
  return JSON.stringify(body);
}

function parse(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
