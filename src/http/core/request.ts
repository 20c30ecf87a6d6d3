/** What handlers read of a request: its context, its body, and whether its client is still connected. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../../models/caller.js";
import { BodyBudget, type HeldBody, inflate, isGzip, readBytes } from "./body-bytes.js";
import { assertPlain, parseJson } from "./json-body.js";

/** Data about a request that middleware records for later handlers. */
interface RequestContext {
  /** Request id, sent in the response and logged. */
  id: string;
  key?: string;
  caller?: Caller;
  /** The body, if middleware has already read it. */
  body?: Buffer;
  /** Budget that the body counts against; undefined if bodies are not counted. */
  budget?: BodyBudget;
}

const contexts = new WeakMap<IncomingMessage, RequestContext>();

export function trackRequest(req: IncomingMessage, id: string, budget: BodyBudget): void {
  contexts.set(req, { id, budget });
}

/** The context of a request tracked by `trackRequest`; handlers may add to it. */
export function requestContext(req: IncomingMessage): RequestContext {
  return contexts.get(req) ?? { id: "" };
}

/** A signal that aborts when the client disconnects before its response is complete. */
export function disconnectSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) controller.abort(new DOMException("the client disconnected", "AbortError"));
  };
  if (res.destroyed) onClose();
  else res.once("close", onClose);
  return controller.signal;
}

/**
 * The JSON value of a request's body; `{}` if it is empty. See `parseJson` for limits. Bodies are raw bytes, regardless
 * of the content type, and count against the budget until they are parsed.
 * @param limit maximum size in bytes, also after decompression
 * @throws InvalidRequestError (`invalid_request`), PayloadTooLargeError (`payload_too_large`)
 * @throws ServerBusyError if the bodies being read take too much memory (`server_busy`)
 */
export async function readJson(req: IncomingMessage & { body?: unknown }, limit: number): Promise<unknown> {
  // Behind a body parser of the host application, the stream has already been read.
  if (req.body !== undefined && req.readableEnded) return readParsed(req.body);
  const { body, budget = new BodyBudget(Infinity) } = requestContext(req);
  const held: HeldBody = { bytes: 0 };
  try {
    const bytes = body ?? (await readBytes(req, { limit, budget }, held));
    const encoding = req.headers["content-encoding"];
    const isPlain = bytes.length === 0 || encoding === undefined || !isGzip(encoding);
    return parseJson(isPlain ? bytes : await inflate(bytes, { limit, budget }, held));
  } finally {
    budget.close(held);
  }
}

function readParsed(body: unknown): unknown {
  if (Buffer.isBuffer(body)) return parseJson(body);
  if (typeof body === "string") return parseJson(Buffer.from(body));
  assertPlain(body, true);
  return body;
}
