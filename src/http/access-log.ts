import type { RequestHandler } from "express";
import type { Logger } from "../log.js";
import { factsOf } from "./request-facts.js";

/** Logs every request once its answer is complete, or its client gone: who sent it, never a query, a header or a body. */
export function accessLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const start = performance.now();
    const path = req.originalUrl.split("?", 1)[0];
    res.once("close", () => {
      const ms = Math.round((performance.now() - start) * 10) / 10;
      const aborted = !res.writableFinished;
      const { id, key, caller } = factsOf(req);
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
