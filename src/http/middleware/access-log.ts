/** The id of each request, and the access log. */
import { randomUUID } from "node:crypto";
import type { RequestHandler } from "express";
import type { Logger } from "../../support/log.js";
import type { BodyBudget } from "../core/body-bytes.js";
import { requestContext, trackRequest } from "../core/request.js";

/** Characters that proxies and tracing libraries use in ids. They cannot forge a log line. */
const SANE = /^[\w.:/+=@-]{1,128}$/;

/** Status of a request that was upgraded to a WebSocket. */
const SWITCHED = 101;

/**
 * Assigns a request id, taken from `x-request-id` if valid, and returns it in the response. Logs every request once its
 * response is complete or its client has disconnected. Never logs a query, header or body. Prevents browsers from
 * guessing the content type.
 * @param budget counts the bodies of the requests
 */
export function accessLog(logger: Logger, budget: BodyBudget): RequestHandler {
  return (req, res, next) => {
    const given = req.headers["x-request-id"];
    const requestId = typeof given === "string" && SANE.test(given) ? given : randomUUID();
    trackRequest(req, requestId, budget);
    res.setHeader("X-Request-Id", requestId);
    res.setHeader("X-Content-Type-Options", "nosniff");
    const start = performance.now();
    const path = req.originalUrl.split("?", 1)[0];
    res.once("close", () => {
      const ms = Math.round((performance.now() - start) * 10) / 10;
      const aborted = !res.writableFinished && res.statusCode !== SWITCHED;
      const { id, key, caller } = requestContext(req);
      const sender = { ...(key !== undefined && { key }), ...(caller && { user: caller.user.identity }) };
      logger.info(
        {
          request_id: id,
          method: req.method,
          path,
          status: res.statusCode,
          ms,
          ...sender,
          ...(aborted && { aborted }),
        },
        "request",
      );
    });
    next();
  };
}
