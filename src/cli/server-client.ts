/** Requests to a LangGraph-compatible server, its refusals turned into the errors they were there. */
import {
  ERROR_CODES,
  errorMessage,
  GraphServeError,
  InvalidRequestError,
  type ErrorCode,
  type Issue,
} from "../support/errors.js";
import { CLIENT_KEY_VARIABLE } from "../config/environment.js";
import type { CliIo } from "./io.js";

export interface ServerRequest {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal;
}

/** Where a server is, as flags and variables say it. */
export interface ServerAddress {
  url: string;
  /** Sent with every request, shown nowhere. */
  apiKey?: string;
}

/** A server that requests can be sent to. */
export interface Server {
  /** Its address without a slash at the end. */
  base: string;
  apiKey: string | undefined;
}

/** @throws InvalidRequestError when the url is no http address, or the key no text of a header (`invalid_request`) */
export function serverAt({ url, apiKey }: ServerAddress): Server {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new InvalidRequestError(`--url must be an http address, it is ${url}`, undefined, {
      hint: "such as --url http://127.0.0.1:2024",
    });
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new InvalidRequestError("--api-key must be printable ASCII characters without spaces");
  }
  return { base: url.replace(/\/+$/, ""), apiKey };
}

/** The server that a command's flags name, with the key of the environment when they give none. */
export function serverOf({ env }: Pick<CliIo, "env">, { url, apiKey }: ServerAddress): ServerAddress {
  return { url, apiKey: apiKey ?? (env[CLIENT_KEY_VARIABLE] || undefined) };
}

/**
 * Send a request; the answer is not read yet. Redirects are not followed: they would take the key along.
 * @throws GraphServeError when the server cannot be reached (`server_unreachable`), or with the code of its refusal
 */
export async function askServer(
  server: Server,
  path: string,
  { method = "GET", body, signal }: ServerRequest = {},
): Promise<Response> {
  const { base, apiKey } = server;
  const response = await fetch(base + path, {
    method,
    redirect: "manual",
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(apiKey !== undefined && { "x-api-key": apiKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    const { cause } = error as { cause?: unknown };
    throw unreachable(base, errorMessage(cause ?? error));
  });
  if (!response.ok) throw await refusal(response, server);
  return response;
}

/** Whether a server answers at `url`. */
export async function isServing(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ok`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

export function unreachable(base: string, why: string): GraphServeError {
  return new GraphServeError("server_unreachable", `the server at ${base} cannot be reached: ${why}`, {
    hint: "start it with graph-serve dev, or leave --url out to work without a server",
  });
}

/** What a server's error answer says. A code of ours comes with the message it had there. */
async function refusal(response: Response, { base, apiKey }: Server): Promise<GraphServeError> {
  const { status } = response;
  if (status === 401) return refusedKey(base, apiKey);
  const location = response.headers.get("location");
  if (status < 400 && location !== null) return redirected(base, location);
  const answer = await response.text();
  const text = apiKey === undefined ? answer : answer.replaceAll(apiKey, "***");
  const { detail, code } = parseObject(text);
  if (typeof code === "string" && Object.hasOwn(ERROR_CODES, code)) {
    return Array.isArray(detail)
      ? invalid(detail as Issue[])
      : new GraphServeError(code as ErrorCode, String(detail));
  }
  const message = typeof detail === "string" ? detail : detail === undefined ? text : JSON.stringify(detail);
  return new GraphServeError(codeOfStatus(status), `${base} answered ${status}: ${message}`);
}

function refusedKey(base: string, apiKey: string | undefined): GraphServeError {
  const what = apiKey === undefined ? "asks for an API key" : "does not know this API key";
  return new GraphServeError("unauthorized", `the server at ${base} ${what}`, {
    hint: `give one of its keys with --api-key, or in the variable ${CLIENT_KEY_VARIABLE}`,
  });
}

function redirected(base: string, location: string): GraphServeError {
  return new InvalidRequestError(
    `the server at ${base} sends its callers elsewhere, to ${location}`,
    undefined,
    {
      hint: "give that address with --url",
    },
  );
}

function invalid(issues: Issue[]): InvalidRequestError {
  const [first] = issues;
  return new InvalidRequestError(first ? `${first.loc.join(".")}: ${first.msg}` : "is not valid", issues);
}

function parseObject(text: string): { detail?: unknown; code?: unknown } {
  try {
    return (JSON.parse(text) as { detail?: unknown; code?: unknown } | null) ?? {};
  } catch {
    return {};
  }
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 404) return "thread_not_found";
  if (status === 409) return "thread_busy";
  if (status === 403) return "unauthorized";
  return status >= 500 ? "server_unreachable" : "invalid_request";
}
