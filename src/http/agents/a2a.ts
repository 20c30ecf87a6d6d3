/** The Agent2Agent protocol: messages to a graph at /a2a/{assistant_id}, and the card that describes it. */
import type { ServerResponse } from "node:http";
import express, { type Request, type RequestHandler, type Response } from "express";
import { Agent } from "../../a2a/agent.js";
import { agentCard, legacyFields } from "../../a2a/card.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { Service } from "../../service/service.js";
import type { A2aSdk } from "../../support/a2a-sdk.js";
import { InvalidRequestError } from "../../support/errors.js";
import { HEARTBEAT_MS } from "../core/event-stream.js";
import { ResponseWriter, type WriteBudget } from "../core/response-writer.js";
import { disconnectSignal, requestContext, readJson } from "../core/request.js";
import { sendJson } from "../core/respond.js";

const CARD = "/.well-known/agent-card.json";
/** Version assumed for clients that do not send one. */
const LEGACY_VERSION = "0.3";
const VERSIONS = [LEGACY_VERSION, "1.0"];

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const VERSION_NOT_SUPPORTED = -32_009;

/** Handler to mount at the root; `service` must have been opened with the setting a2a. */
export function serveA2a(service: Service, unread: WriteBudget): RequestHandler {
  const sdk = service.a2aSdk as A2aSdk;
  const router = express.Router({ caseSensitive: true });
  const sendCard = async (req: Request, res: Response, assistantId: string) => {
    const card = agentCard(await service.assistants.get(assistantId), addressOf(req, assistantId));
    const [{ url } = { url: "" }] = card.supportedInterfaces;
    const shown = { ...(sdk.types.AgentCard.toJSON(card) as object), ...legacyFields(url) };
    // The card contains the address of the request, so it must not be cached.
    await sendJson(res, 200, shown, unread, { "Cache-Control": "no-store" });
  };
  router.get(CARD, async (req, res) => {
    const { assistant_id } = req.query;
    await sendCard(req, res, typeof assistant_id === "string" ? assistant_id : (service.graphIds[0] ?? ""));
  });
  router.get(`/a2a/:assistant_id${CARD}`, (req, res) => sendCard(req, res, req.params.assistant_id));
  router.post("/a2a/:assistant_id", async (req, res) => {
    const assistant = await service.assistants.get(req.params.assistant_id);
    const body = await readJson(req, service.settings.body_limit).catch(refusal);
    if (body instanceof InvalidRequestError) return answerError(res, PARSE_ERROR, body.message);
    if (!isRecord(body))
      return answerError(res, INVALID_REQUEST, "batches are not supported: send one message at a time");
    const version = String(req.headers["a2a-version"] ?? LEGACY_VERSION);
    if (!VERSIONS.includes(version))
      return answerError(res, VERSION_NOT_SUPPORTED, `A2A-Version must be ${VERSIONS.join(" or ")}`, body.id);
    const other = otherVersion(version, body.method);
    if (other !== undefined) return answerError(res, METHOD_NOT_FOUND, other, body.id);
    const { caller } = requestContext(req);
    const agent = new Agent({
      sdk,
      service: caller ? service.as(caller) : service,
      card: agentCard(assistant, addressOf(req, assistant.graph_id)),
      graphId: assistant.graph_id,
      disconnected: disconnectSignal(res),
    });
    const context = new sdk.server.ServerCallContext({ requestedVersion: version });
    const isLegacy = version === LEGACY_VERSION;
    const Handler = isLegacy ? sdk.Legacy : sdk.server.JsonRpcTransportHandler;
    const answer = await new Handler(agent).handle(isLegacy ? waiting(body) : body, context);
    if (!isStream(answer)) {
      const shown = agent.isCalled ? answer : withParamsFault(answer, `${String(body.method)} of ${version}`);
      return sendJson(res, 200, shown, unread);
    }
    const failed = (error: unknown) => {
      const mapped = sdk.server.JsonRpcTransportHandler.mapToJSONRPCError(error);
      return { jsonrpc: "2.0", id: body.id ?? null, error: mapped };
    };
    await sendEvents(res, answer, failed, unread);
  });
  return router;
}

/** Names of the same methods in each version, for clients that send the wrong header. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  [LEGACY_VERSION]: ["message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe"],
  "1.0": ["SendMessage", "SendStreamingMessage", "GetTask", "CancelTask", "SubscribeToTask", "ListTasks"],
};

/** Why a method of another version than that of the request is refused; undefined for all others. */
function otherVersion(version: string, method: unknown): string | undefined {
  const own = VERSIONS.find((one) => one !== version && METHODS[one]?.some((name) => name === method));
  if (own === undefined) return undefined;
  const fix =
    own === LEGACY_VERSION ? "send no header A2A-Version, or 0.3" : `send the header A2A-Version: ${own}`;
  return `${String(method)} is a method of version ${own}, and the request is of ${version}: ${fix}`;
}

/**
 * A request of version 0.3 waits for the result unless it has `blocking: false`, as with LangGraph's server. The SDK
 * assumes the opposite if the request has a configuration for something else.
 */
function waiting(body: JsonObject): JsonObject {
  const { params } = body;
  if (!isRecord(params) || !isRecord(params.configuration)) return body;
  return { ...body, params: { ...params, configuration: { blocking: true, ...params.configuration } } };
}

/** The SDK reports params that it cannot convert as an internal error. */
function withParamsFault(answer: object, request: string): object {
  const { error } = answer as { error?: { code: number } };
  if (error?.code !== INTERNAL_ERROR) return answer;
  return { ...answer, error: { code: INVALID_PARAMS, message: `the params are not those of ${request}` } };
}

/** Other errors are handled like those of every route. */
function refusal(error: unknown): InvalidRequestError {
  if (error instanceof InvalidRequestError) return error;
  throw error;
}

/** URL of the agent, with the host name that the client uses for this server. */
function addressOf({ headers, baseUrl, protocol }: Request, assistantId: string): string {
  const forwarded = String(headers["x-forwarded-proto"] ?? "").split(",", 1)[0];
  const scheme = forwarded === "https" ? forwarded : protocol;
  return `${scheme}://${headers.host ?? "localhost"}${baseUrl}/a2a/${encodeURIComponent(assistantId)}`;
}

const isStream = (answer: unknown): answer is AsyncGenerator =>
  typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;

function answerError(res: ServerResponse, code: number, message: string, id: unknown = null): void {
  res.writeHead(200, { "Content-Type": "application/json" });
  res.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
}

/** Streams events with back-pressure. An error before the first event is sent as a plain response. */
async function sendEvents(
  res: Response,
  events: AsyncGenerator,
  failed: (error: unknown) => object,
  unread: WriteBudget,
): Promise<void> {
  const next = () =>
    events.next().catch((error: unknown) => ({ done: false, value: failed(error), isLast: true }));
  let event = await next();
  if ("isLast" in event) return sendJson(res, 200, event.value, unread);
  res.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
  });
  res.flushHeaders();
  const heartbeat = setInterval(() => {
    if (!res.destroyed && !res.writableNeedDrain) res.write(": heartbeat\n\n");
  }, HEARTBEAT_MS).unref();
  const writer = new ResponseWriter(unread, res, { request_id: requestContext(res.req).id });
  try {
    while (event.done !== true) {
      if (!(await writer.write(Buffer.from(`data: ${JSON.stringify(event.value)}\n\n`)))) return;
      if ("isLast" in event) break;
      event = await next();
    }
  } finally {
    clearInterval(heartbeat);
    await events.return(undefined);
    writer.end();
  }
}
