/** API keys: a request without a known one gets no further than the open routes. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { RequestHandler } from "express";
import type { Service } from "../../service/service.js";
import { UnauthorizedError } from "../../support/errors.js";
import { inProcessSender } from "../in-process/sender.js";
import { requestContext } from "../core/request.js";

type ApiKeys = NonNullable<Service["settings"]["api_keys"]>;

interface KnownKey {
  name: string | undefined;
  digest: Buffer;
}

export function keyGuard(keys: ApiKeys, isOpen: (path: string) => boolean): RequestHandler {
  const known = keys.map((entry): KnownKey => {
    const { name, key } = typeof entry === "string" ? { name: undefined, key: entry } : entry;
    return { name, digest: digest(key) };
  });
  return (req, _res, next) => {
    const sender = inProcessSender(req);
    if (sender?.key !== undefined) requestContext(req).key = sender.key;
    if (sender || isOpen(req.path)) return next();
    const found = presented(req.headers).map((key) => find(known, key));
    const match = found.find((key) => key !== undefined);
    if (!match) throw new UnauthorizedError("a known API key is needed: x-api-key, or Authorization: Bearer");
    if (match.name !== undefined) requestContext(req).key = match.name;
    next();
  };
}

/** SDK clients add an x-api-key from their environment, so a Bearer token counts beside one that is not ours. */
function presented(headers: IncomingHttpHeaders): string[] {
  const { "x-api-key": key, authorization = "" } = headers;
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  return [key, bearer].filter((text) => typeof text === "string");
}

/** Digests are compared, in constant time, and all of them: neither length, nor place, nor prefix can be measured. */
function find(known: readonly KnownKey[], key: string): KnownKey | undefined {
  const sought = digest(key);
  return known.filter((each) => timingSafeEqual(each.digest, sought))[0];
}

const digest = (key: string): Buffer => createHash("sha256").update(key).digest();

// Asks the user's own function who sends a request.

/** Notes the caller that `authenticate` gives; it throws for requests to refuse. */
export function callerGuard(
  authenticate: NonNullable<Service["authenticate"]>,
  isOpen: (path: string) => boolean,
): RequestHandler {
  return async (req, _res, next) => {
    const { method, path, headers } = req;
    const sender = inProcessSender(req);
    if (sender) requestContext(req).caller = sender.caller;
    else if (!isOpen(path)) requestContext(req).caller = await authenticate({ method, path, headers });
    next();
  };
}

/** Tells the routes that need neither key nor identity; a route stands for the paths below it too. */
export function openRoutes(routes: readonly string[]): (path: string) => boolean {
  return (path) => routes.some((route) => path === route || path.startsWith(`${route}/`));
}
