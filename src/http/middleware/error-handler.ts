/** Converts errors to responses. */
import type { ErrorRequestHandler } from "express";
import {
  asServiceError,
  type GraphServeError,
  InvalidRequestError,
  publicMessage,
} from "../../support/errors.js";
import type { ErrorCode } from "../../support/errors/codes.js";
import { tryOr, errorName } from "../../support/errors/thrown.js";
import { AuthRefusal } from "../../service/auth-object.js";
import type { Logger } from "../../support/log.js";
import { requestContext } from "../core/request.js";
import type { WriteBudget } from "../core/response-writer.js";
import { sendJson } from "../core/respond.js";

const RETRY_AFTER_SECONDS = "1";

export function errorHandler(logger: Logger, unread: WriteBudget): ErrorRequestHandler {
  return (thrown: unknown, req, res, _next) => {
    const error = classify(thrown);
    const isDisconnected = res.destroyed && errorName(thrown) === "AbortError";
    const request_id = requestContext(req).id;
    if (error.status >= 500 && !isDisconnected) {
      logger.error({ err: thrown, request_id, method: req.method, path: req.path }, "request failed");
    }
    // The response has started, or the client is gone.
    if (res.headersSent || res.destroyed) return void res.destroy();
    void sendJson(res, error.status, errorBody(error, request_id), unread, headersOf(error));
  };
}

function classify(thrown: unknown): GraphServeError {
  // The router could not decode the path's percent-encoding.
  if (tryOr(() => thrown instanceof URIError))
    return InvalidRequestError.at(["path"], "is not a valid encoding", "encoding");
  return asServiceError(thrown);
}

interface ErrorBody {
  detail: unknown;
  code: ErrorCode;
  request_id?: string;
}

/** Body of an error response; `detail` is the list of issues if there are any. */
function errorBody(error: GraphServeError, request_id: string): ErrorBody {
  const { code, issues } = error;
  const isFault = error.status >= 500;
  const detail = !isFault && issues && issues.length > 0 ? issues : publicMessage(error);
  return { detail, code, ...(isFault && { request_id }) };
}

function headersOf(error: GraphServeError): Record<string, string> | undefined {
  if (error instanceof AuthRefusal && Object.keys(error.headers).length > 0) return error.headers;
  if (error.status === 401) return { "WWW-Authenticate": "Bearer" };
  return error.status === 503 || error.code === "too_many_runs"
    ? { "Retry-After": RETRY_AFTER_SECONDS }
    : undefined;
}
