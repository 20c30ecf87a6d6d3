/** Sends requests of a remote client and turns error responses back into the server's errors. */
import { GraphServeError, InvalidRequestError } from "../support/errors.js";
import { ERROR_CODES, type ErrorCode, type Issue } from "../support/errors/codes.js";
import { errorMessage } from "../support/errors/thrown.js";
import { CLIENT_KEY_VARIABLE } from "../support/secrets.js";

/** Address of a server, from flags and variables. */
export interface ServerAddress {
  url: string;
  /** Sent with every request; must not be displayed. */
  apiKey?: string;
}

/**
 * @throws InvalidRequestError if the URL is not an HTTP address, or the key is not valid in a
 *   header (`invalid_request`)
 */
export function checkedAddress({ url, apiKey }: ServerAddress): ServerAddress {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new InvalidRequestError(`--url must be an HTTP address, it is ${url}`, undefined, {
      hint: "use an address such as --url http://127.0.0.1:2024",
    });
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new InvalidRequestError("--api-key must be printable ASCII characters without spaces");
  }
  return { url: url.replace(/\/+$/, ""), ...(apiKey !== undefined && { apiKey }) };
}

export async function isServing(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ok`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

/** Carries an error through the SDK, which would otherwise replace its message. */
class Refusal extends Error {
  readonly error: GraphServeError;

  constructor(error: GraphServeError) {
    super("refused");
    this.error = error;
  }
}

export const refusalIn = (error: unknown): unknown => (error instanceof Refusal ? error.error : error);

/**
 * Creates a `fetch` for the SDK that fails with our errors: `server_unreachable`, or the code of
 * the error response. Redirects are not followed, because they would forward the API key.
 */
export function fetchOf(server: ServerAddress): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" }).catch((error: unknown) => {
      if (init?.signal?.aborted) throw error;
      const { cause } = error as { cause?: unknown };
      throw new Refusal(unreachable(server, errorMessage(cause ?? error)));
    });
    if (!response.ok) throw new Refusal(await refusal(response, server));
    if (/^text\/html/i.test(response.headers.get("content-type") ?? ""))
      throw new Refusal(unreachable(server, "it responds with a web page, so it is not a LangGraph server"));
    return response;
  };
}

export function unreachable({ url }: ServerAddress, why: string): GraphServeError {
  return new GraphServeError("server_unreachable", `the server at ${url} cannot be reached: ${why}`, {
    hint: "start it with graph-serve dev, or omit --url to work without a server",
  });
}

/** Converts an error response to an error. One of our codes keeps its message. */
async function refusal(response: Response, server: ServerAddress): Promise<GraphServeError> {
  const { status } = response;
  const { url, apiKey } = server;
  if (status === 401) return refusedKey(server);
  const location = response.headers.get("location");
  if (status < 400 && location !== null) return redirected(url, location);
  const answer = await response.text();
  const text = apiKey === undefined ? answer : answer.replaceAll(apiKey, "***");
  const { detail, code } = parseObject(text);
  if (typeof code === "string" && Object.hasOwn(ERROR_CODES, code)) {
    return Array.isArray(detail)
      ? invalid(detail as Issue[])
      : new GraphServeError(code as ErrorCode, String(detail));
  }
  const message = typeof detail === "string" ? detail : detail === undefined ? text : JSON.stringify(detail);
  return new GraphServeError(codeOfStatus(status), `${url} responded with ${status}: ${message}`);
}

function refusedKey({ url, apiKey }: ServerAddress): GraphServeError {
  const what = apiKey === undefined ? "requires an API key" : "rejected the API key";
  return new GraphServeError("unauthorized", `the server at ${url} ${what}`, {
    hint: `pass a valid key with --api-key, or in the variable ${CLIENT_KEY_VARIABLE}`,
  });
}

function redirected(url: string, location: string): GraphServeError {
  return new InvalidRequestError(`the server at ${url} redirects to ${location}`, undefined, {
    hint: "pass that address with --url",
  });
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
