/**
 * Mounts the user's own app before the server's routes. Requests that it does not handle continue
 * to the routes.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type {
  NextFunction,
  Request as ExpressRequest,
  RequestHandler,
  Response as ExpressResponse,
} from "express";
import { GraphServeError, PayloadTooLargeError } from "../../support/errors.js";
import type { FetchHandler, NodeHandler } from "../../service/http-app.js";
import type { Service } from "../../service/service.js";
import { copyHeaders, sendResponse, toRequest } from "./fetch-bridge.js";
import { withinRequest } from "./sender.js";
import { requestContext } from "../core/request.js";

/** The app may be reloaded while the server runs. Requests on open routes have no known sender. */
export function mountedApp(service: Service, isOpen: (path: string) => boolean): RequestHandler {
  const { body_limit } = service.settings;
  return async (req, res, next) => {
    const app = service.httpApp;
    if (!app) return next();
    const { caller, key } = requestContext(req);
    const within = <T>(work: () => T): T =>
      isOpen(req.path) ? work() : withinRequest(service, { caller, key }, work);
    if (app.kind === "node") return within(() => callNode(app.handle, req, res, next));
    if (await within(() => isAnswered(app.fetch, req, res, body_limit))) return;
    next();
  };
}

/** An Express app replaces the prototypes of request and response; they are restored for the routes. */
async function callNode(
  handle: NodeHandler,
  req: ExpressRequest,
  res: ExpressResponse,
  next: NextFunction,
): Promise<void> {
  const request = Object.getPrototypeOf(req) as object;
  const response = Object.getPrototypeOf(res) as object;
  const hadQuery = Object.hasOwn(req, "query");
  let isBack = false;
  const resume = (error?: unknown) => {
    if (isBack) return;
    isBack = true;
    Object.setPrototypeOf(req, request);
    Object.setPrototypeOf(res, response);
    if (!hadQuery) delete (req as { query?: unknown }).query;
    const status = refusalOf(error);
    if (status !== undefined && !res.headersSent) res.status(status).json({ detail: messageOf(error) });
    else next(error);
  };
  try {
    await handle(req, res, resume);
  } catch (error) {
    resume(error);
  }
}

/** The 4xx status that an error of an Express app requests. */
function refusalOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || error instanceof GraphServeError) return undefined;
  const { status } = error as { status?: unknown };
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "rejected");

/** Whether the app has responded. A body that it read stays available to later handlers. */
async function isAnswered(
  handler: FetchHandler,
  req: IncomingMessage & { path: string },
  res: ServerResponse,
  bodyLimit: number,
): Promise<boolean> {
  const body = new ReplayedBody(req, bodyLimit);
  const context: Parameters<FetchHandler>[1] = { incoming: req, outgoing: res };
  const answer = await handler(toRequest(req, body.stream), context);
  // The app may have written the response directly.
  if (res.headersSent) return true;
  if (answer != null && !(answer instanceof Response))
    throw new TypeError("the app in http_app returned a value that is not a Response");
  const passed = answer == null || (context.passed?.body != null && answer.body === context.passed.body);
  if (!passed) {
    await sendResponse(res, answer);
    return true;
  }
  if (answer) copyHeaders(answer, res, ["content-type", "content-length"]);
  // Always read, so that an oversized body is rejected.
  const bytes = await body.bytes();
  requestContext(req).body = context.body === undefined ? bytes : Buffer.from(context.body);
  return false;
}

/**
 * A request body that can be read as a stream and then again as a whole, up to `limit` bytes. If
 * unread, it stays in the request.
 */
class ReplayedBody {
  /** For the first reader; undefined if the request has no body. */
  readonly stream: ReadableStream<Uint8Array> | undefined;
  readonly #req: IncomingMessage;
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #source: AsyncIterator<Buffer> | undefined;

  constructor(req: IncomingMessage & { body?: unknown }, limit: number) {
    this.#req = req;
    this.#limit = limit;
    const { "content-length": length, "transfer-encoding": encoding } = req.headers;
    if ((length === undefined || length === "0") && encoding === undefined) return;
    this.stream = new ReadableStream(
      {
        pull: async (controller) => {
          const chunk = await this.#next();
          // A copy, because the reader may keep or modify it.
          if (chunk) controller.enqueue(Uint8Array.from(chunk));
          else controller.close();
        },
      },
      // Nothing is read until it is requested.
      { highWaterMark: 0 },
    );
  }

  /**
   * The whole body if the stream was read, otherwise undefined. @throws PayloadTooLargeError
   * (`payload_too_large`)
   */
  async bytes(): Promise<Buffer | undefined> {
    if (!this.#source) return undefined;
    while (this.#size <= this.#limit && (await this.#next()));
    if (this.#size > this.#limit) throw new PayloadTooLargeError(this.#limit);
    return Buffer.concat(this.#chunks, this.#size);
  }

  async #next(): Promise<Buffer | undefined> {
    this.#source ??= this.#req[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const next = await this.#source.next();
    if (next.done) return undefined;
    const { value } = next;
    this.#size += value.length;
    if (this.#size <= this.#limit) this.#chunks.push(value);
    // The first reader may exceed the limit; the second one will be rejected, so nothing is kept.
    else this.#chunks.length = 0;
    return value;
  }
}
