/** Headers of every response: the id of its request, and no guessing of the content type. */
import { randomUUID } from "node:crypto";
import type { RequestHandler } from "express";
import type { BodyBudget } from "../core/body-bytes.js";
import { trackRequest } from "../core/request.js";

/** Characters that proxies and tracing libraries use in ids. They cannot forge a log line. */
const SANE = /^[\w.:/+=@-]{1,128}$/;

/** Assigns a request id, taken from `x-request-id` if valid. Prevents browsers from guessing the content type. */
export function responseHeaders(budget: BodyBudget): RequestHandler {
  return (req, res, next) => {
    const given = req.headers["x-request-id"];
    const id = typeof given === "string" && SANE.test(given) ? given : randomUUID();
    trackRequest(req, id, budget);
    res.setHeader("X-Request-Id", id);
    res.setHeader("X-Content-Type-Options", "nosniff");
    next();
  };
}
