/** The one place that turns errors into answers. */
import type { ErrorRequestHandler } from "express";
import {
  asServiceError,
  tryOr,
  errorName,
  type GraphServeError,
  InvalidRequestError,
  publicMessage,
  type ErrorCode,
} from "../../support/errors.js";
import type { Logger } from "../../support/log.js";
import { requestContext } from "../core/request.js";
import type { WriteBudget } from "../core/response-writer.js";
import { sendJson } from "../core/respond.js";

const RETRY_AFTER_SECONDS = "1";

export function errorHandler(logger: Logger, unread: WriteBudget): ErrorRequestHandler {
  return (thrown: unknown, req, res, _next) => {
    const error = classify(thrown);
    const left = res.destroyed && errorName(thrown) === "AbortError";
    const request_id = requestContext(req).id;
    if (error.status >= 500 && !left) {
      logger.error({ err: thrown, request_id, method: req.method, path: req.path }, "request failed");
    }
    // Too late for an answer, or nobody is there to read it.
    if (res.headersSent || res.destroyed) return void res.destroy();
    void sendJson(res, error.status, errorBody(error, request_id), unread, headersOf(error));
  };
}

function classify(thrown: unknown): GraphServeError {
  // The router could not decode the path's percent signs.
  if (tryOr(() => thrown instanceof URIError))
    return InvalidRequestError.at(["path"], "is not a valid encoding", "encoding");
  return asServiceError(thrown);
}

interface ErrorBody {
  detail: unknown;
  code: ErrorCode;
  request_id?: string;
}

/** The body of an error answer; detail is the list of issues where there is one. */
function errorBody(error: GraphServeError, request_id: string): ErrorBody {
  const { code, issues } = error;
  const isFault = error.status >= 500;
  const detail = !isFault && issues && issues.length > 0 ? issues : publicMessage(error);
  return { detail, code, ...(isFault && { request_id }) };
}

function headersOf(error: GraphServeError): Record<string, string> | undefined {
  if (error.status === 401) return { "WWW-Authenticate": "Bearer" };
  return error.status === 503 || error.code === "too_many_runs"
    ? { "Retry-After": RETRY_AFTER_SECONDS }
    : undefined;
}
