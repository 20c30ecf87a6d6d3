/** Converts between Node's requests and responses and those of the fetch standard. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { GraphServeError } from "../../support/errors.js";
import { disconnectSignal } from "../core/request.js";

/**
 * Converts to a fetch `Request`.
 * @throws GraphServeError for a path that the URL standard normalizes to another one
 *   (`route_not_found`)
 */
export function toRequest(
  req: IncomingMessage & { path: string; res?: ServerResponse },
  body: ReadableStream<Uint8Array> | undefined,
): Request {
  const headers = new Headers();
  for (let index = 0; index < req.rawHeaders.length; index += 2)
    headers.append(req.rawHeaders[index] ?? "", req.rawHeaders[index + 1] ?? "");
  return new Request(urlOf(req), {
    method: req.method ?? "GET",
    headers,
    ...(req.res && { signal: disconnectSignal(req.res) }),
    ...(body && req.method !== "GET" && req.method !== "HEAD" && { body, duplex: "half" }),
  });
}

/**
 * Routes match the path as sent, but `URL` resolves `..` in it. A path approved by an app must be
 * the path that routes match.
 */
function urlOf({ path, url = "", headers: { host = "localhost" } }: IncomingMessage & { path: string }): URL {
  const query = url.includes("?") ? url.slice(url.indexOf("?")) : "";
  const parsed = parseUrl(`http://${host}${path}${query}`) ?? parseUrl(`http://localhost${path}${query}`);
  if (!parsed || decoded(parsed.pathname) !== decoded(path))
    throw new GraphServeError("route_not_found", `route ${path.slice(0, 200)} does not exist`);
  return parsed;
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** A path that cannot be decoded throws here as it would later in the router. */
const decoded = (path: string): string => decodeURI(path);

/** Sends a fetch `Response`. No effect if the client has disconnected. */
export async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  if (res.destroyed) return void (await response.body?.cancel());
  copyHeaders(response, res);
  res.statusCode = response.status;
  if (response.statusText) res.statusMessage = response.statusText;
  if (!response.body) return void res.end();
  res.flushHeaders();
  await pipeline(Readable.fromWeb(response.body), res).catch((error: unknown) => {
    // A client that disconnects early breaks the pipe.
    if (!res.destroyed) throw error;
  });
}

/** Copies the headers of `response`, except those listed. */
export function copyHeaders(response: Response, res: ServerResponse, except: readonly string[] = []): void {
  for (const [name, value] of response.headers)
    if (name !== "set-cookie" && !except.includes(name)) res.setHeader(name, value);
  for (const cookie of response.headers.getSetCookie()) res.appendHeader("set-cookie", cookie);
}
