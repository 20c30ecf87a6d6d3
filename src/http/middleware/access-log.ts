/** The access log. */
import type { RequestHandler } from "express";
import type { Logger } from "../../support/log.js";
import { requestContext } from "../core/request.js";

/** Status of a request that was upgraded to a WebSocket. */
const SWITCHED = 101;

/**
 * Logs every request once its response is complete or its client has disconnected. Never logs a
 * query, header or body.
 */
export function accessLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
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
