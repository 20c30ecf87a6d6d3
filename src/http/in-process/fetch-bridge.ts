/** Between Node's requests and answers and those of the fetch standard. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { GraphServeError } from "../../support/errors.js";
import { disconnectSignal } from "../core/request.js";

/**
 * A request by the fetch standard.
 * @throws GraphServeError for a path that the standard reads as another one (`route_not_found`)
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

/** Routes match a path as it was sent; the standard resolves `..` in it. What an app has let pass must be what they match. */
function urlOf({ path, url = "", headers: { host = "localhost" } }: IncomingMessage & { path: string }): URL {
  const query = url.includes("?") ? url.slice(url.indexOf("?")) : "";
  const parsed = parseUrl(`http://${host}${path}${query}`) ?? parseUrl(`http://localhost${path}${query}`);
  if (!parsed || decoded(parsed.pathname) !== decoded(path))
    throw new GraphServeError("route_not_found", `there is no route ${path.slice(0, 200)}`);
  return parsed;
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The router, which comes later, tells of a path that cannot be decoded. */
const decoded = (path: string): string => decodeURI(path);

/** Answer as `response` says. Nothing happens when the client has gone. */
export async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  if (res.destroyed) return void (await response.body?.cancel());
  copyHeaders(response, res);
  res.statusCode = response.status;
  if (response.statusText) res.statusMessage = response.statusText;
  if (!response.body) return void res.end();
  res.flushHeaders();
  await pipeline(Readable.fromWeb(response.body), res).catch((error: unknown) => {
    // Who goes before the end breaks the pipe.
    if (!res.destroyed) throw error;
  });
}

/** Put the headers of `response` on the answer, without those that are left to others. */
export function copyHeaders(response: Response, res: ServerResponse, except: readonly string[] = []): void {
  for (const [name, value] of response.headers)
    if (name !== "set-cookie" && !except.includes(name)) res.setHeader(name, value);
  for (const cookie of response.headers.getSetCookie()) res.appendHeader("set-cookie", cookie);
}
