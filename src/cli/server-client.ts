/** Requests to a LangGraph-compatible server, its refusals turned into the errors they were there. */
import {
  ERROR_CODES,
  errorMessage,
  GraphServeError,
  InvalidRequestError,
  type ErrorCode,
  type Issue,
} from "../errors.js";

export interface ServerRequest {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal;
}

/**
 * The address of a server, as requests are sent to it.
 * @throws InvalidRequestError when it is no http address (`invalid_request`)
 */
export function serverAddress(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new InvalidRequestError(`--url must be an http address, it is ${url}`, undefined, {
      hint: "such as --url http://127.0.0.1:2024",
    });
  }
  return url.replace(/\/+$/, "");
}

/**
 * Send a request; the answer is not read yet.
 * @throws GraphServeError when the server cannot be reached (`server_unreachable`), or with the code of its refusal
 */
export async function askServer(
  base: string,
  path: string,
  { method = "GET", body, signal }: ServerRequest = {},
): Promise<Response> {
  const response = await fetch(base + path, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
    signal,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    const { cause } = error as { cause?: unknown };
    throw unreachable(base, errorMessage(cause ?? error));
  });
  if (!response.ok) throw await refusal(response, base);
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
async function refusal(response: Response, base: string): Promise<GraphServeError> {
  const text = await response.text();
  const { detail, code } = parseObject(text);
  if (typeof code === "string" && Object.hasOwn(ERROR_CODES, code)) {
    return Array.isArray(detail)
      ? invalid(detail as Issue[])
      : new GraphServeError(code as ErrorCode, String(detail));
  }
  const message = typeof detail === "string" ? detail : detail === undefined ? text : JSON.stringify(detail);
  return new GraphServeError(
    codeOfStatus(response.status),
    `${base} answered ${response.status}: ${message}`,
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
  return status >= 500 ? "server_unreachable" : "invalid_request";
}
