/** Asks the user's own function who sends a request. */
import type { RequestHandler } from "express";
import type { Service } from "../service.js";
import { factsOf } from "./request-facts.js";

/** Notes the caller that `authenticate` gives; it throws for requests to refuse. */
export function callerGuard(
  authenticate: NonNullable<Service["authenticate"]>,
  isOpen: (path: string) => boolean,
): RequestHandler {
  return async (req, _res, next) => {
    const { method, path, headers } = req;
    if (!isOpen(path)) factsOf(req).caller = await authenticate({ method, path, headers });
    next();
  };
}

/** Tells the routes that need neither key nor identity; a route stands for the paths below it too. */
export function openRoutes(routes: readonly string[]): (path: string) => boolean {
  return (path) => routes.some((route) => path === route || path.startsWith(`${route}/`));
}
