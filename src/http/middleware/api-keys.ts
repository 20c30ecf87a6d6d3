/** API keys: a request without a valid key can only access open routes. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { RequestHandler } from "express";
import type { Service } from "../../service/service.js";
import { UnauthorizedError } from "../../support/errors.js";
import { inProcessSenders } from "../in-process/sender.js";
import { anyEvents } from "../core/auth-events.js";
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
    const sender = inProcessSenders.get(req.socket);
    if (sender?.key !== undefined) requestContext(req).key = sender.key;
    if (sender || isOpen(req.path)) return next();
    const found = presented(req.headers).map((key) => find(known, key));
    const match = found.find((key) => key !== undefined);
    if (!match)
      throw new UnauthorizedError(
        "missing or invalid API key: send it as x-api-key or Authorization: Bearer",
      );
    if (match.name !== undefined) requestContext(req).key = match.name;
    next();
  };
}

/**
 * SDK clients add an x-api-key from their environment, so a Bearer token is also checked if that
 * key is invalid.
 */
function presented(headers: IncomingHttpHeaders): string[] {
  const { "x-api-key": key, authorization = "" } = headers;
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  return [key, bearer].filter((text) => typeof text === "string");
}

/** Compares all digests in constant time, so timing reveals neither length, position nor prefix. */
function find(known: readonly KnownKey[], key: string): KnownKey | undefined {
  const sought = digest(key);
  return known.filter((each) => timingSafeEqual(each.digest, sought))[0];
}

const digest = (key: string): Buffer => createHash("sha256").update(key).digest();

/** Authenticates requests with the user's function, which throws to reject them. */
export function callerGuard(
  authenticate: NonNullable<Service["authenticate"]>,
  isOpen: (path: string) => boolean,
): RequestHandler {
  return async (req, _res, next) => {
    const { method, path, headers } = req;
    const sender = inProcessSenders.get(req.socket);
    if (sender) requestContext(req).caller = sender.caller;
    else if (!isOpen(path))
      requestContext(req).caller = await authenticate({ method, path, headers }, req.originalUrl);
    next();
  };
}

/** Asks the handlers of LangGraph's `Auth` about everything that an agent protocol can do, before it does anything. */
export function agentGuard(authorize: NonNullable<Service["authorize"]>): RequestHandler {
  return async (req, _res, next) => {
    const context = requestContext(req);
    if (context.caller) context.caller = await authorize(context.caller, anyEvents());
    next();
  };
}

/** Returns a predicate for routes that need neither a key nor an identity, including paths below them. */
export function openRoutes(routes: readonly string[]): (path: string) => boolean {
  return (path) => routes.some((route) => path === route || path.startsWith(`${route}/`));
}
