/** The Model Context Protocol at /mcp, over streamable HTTP, with or without sessions. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import { modernHandler } from "../../mcp/modern.js";
import { isRecord } from "../../models/common.js";
import { McpServer, type MessageSender } from "../../mcp/server.js";
import { Tools } from "../../mcp/tools.js";
import type { Service } from "../../service/service.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import type { McpSdk } from "../../support/mcp-sdk.js";
import { copyHeaders, toRequest } from "../in-process/fetch-bridge.js";
import { McpSessions, type McpConnection } from "./mcp-sessions.js";
import { ResponseWriter, type WriteBudget } from "../core/response-writer.js";
import { disconnectSignal, requestContext, readJson } from "../core/request.js";

const METHODS = ["GET", "POST", "DELETE"];
const PARSE_ERROR = -32_700;
const REFUSED = -32_000;
const SESSION_NOT_FOUND = -32_001;

/** Handler to mount at /mcp; `service` must have been opened with the setting mcp. */
export function serveMcp(service: Service, unread: WriteBudget): RequestHandler {
  const sdk = service.mcpSdk as McpSdk;
  const tools = new Tools(service);
  const connect = async (newId: (() => string) | undefined): Promise<McpConnection> => {
    const { server } = new McpServer(sdk, service, tools);
    const transport = new sdk.HttpTransport({ sessionIdGenerator: newId });
    await server.connect(transport);
    return { server, transport };
  };
  const sessions = new McpSessions(connect);
  const modern = sdk.modern && modernHandler(sdk.modern, service, tools);
  const calls = new Set<Promise<void>>();
  const stopping = new AbortController();
  service.listen((event) => {
    tools.forget();
    if (event === "reloaded") {
      modern?.notify.toolsChanged();
      return sessions.notifyToolsChanged();
    }
    stopping.abort();
    sessions.closeStreams();
    // Ends the streams of subscribers. Calls in progress are completed.
    void Promise.allSettled(calls).then(() => modern?.close());
  });
  return async (req, res, next) => {
    if (req.path !== "/") return next();
    if (!METHODS.includes(req.method)) return refuseMethod(req, res, METHODS);
    const body = req.method === "POST" ? await readMessages(req, service.settings.body_limit) : undefined;
    if (body instanceof InvalidRequestError) return answerError(res, 400, PARSE_ERROR, body.message);
    const id = req.headers["mcp-session-id"];
    const sender = { ...senderOf(req, res), stopping: stopping.signal };
    // Batches and invalid messages get the errors of the earlier protocol.
    if (sdk.modern && modern && isRecord(body) && typeof body.method === "string") {
      const request = toRequest(req, undefined);
      if (!(await sdk.modern.isLegacyRequest(request, body)))
        return answerModern(modern.fetch(request, optionsOf(body, sender)), body, { res, unread, calls });
    }
    const owner = ownerOf(req);
    const isInitialize = sdk.types.isInitializeRequest(body);
    if (id === undefined && !isInitialize) {
      // Without a session, GET and DELETE have no effect to offer.
      if (req.method !== "POST") return refuseMethod(req, res, ["POST"]);
      const connection = await connect(undefined);
      res.once("close", () => void connection.server.close());
      return handle(connection, { req, res, body, sender }, unread);
    }
    const session =
      id === undefined ? sessions.open(owner, sender.caller !== undefined) : sessions.find(String(id), owner);
    if (!session)
      return id === undefined
        ? answerError(res, 503, REFUSED, "too many sessions are open")
        : answerError(res, 404, SESSION_NOT_FOUND, "the session does not exist: initialize a new one");
    sessions.hold(session, res);
    if (req.method === "DELETE") sessions.forget(session);
    return handle(await session.connection, { req, res, body, sender }, unread);
  };
}

/**
 * Reads the messages of a request; returns the error if they are invalid. @throws
 * PayloadTooLargeError (`payload_too_large`)
 */
async function readMessages(req: IncomingMessage, limit: number): Promise<unknown> {
  try {
    return await readJson(req, limit);
  } catch (error) {
    if (error instanceof InvalidRequestError) return error;
    throw error;
  }
}

function senderOf(req: IncomingMessage, res: ServerResponse): MessageSender {
  const { caller } = requestContext(req);
  return {
    ...(caller && { caller }),
    disconnected: disconnectSignal(res),
    isReading: () => !res.writableNeedDrain,
  };
}

/** A session belongs to the user and the API key that opened it. */
function ownerOf(req: IncomingMessage): string {
  const { key, caller } = requestContext(req);
  return JSON.stringify([key, caller?.user.identity, caller?.scope]);
}

interface Exchange {
  req: IncomingMessage & { path: string; res?: ServerResponse };
  res: ServerResponse;
  body: unknown;
  sender: MessageSender;
}

async function handle(
  { transport }: McpConnection,
  { req, res, body, sender }: Exchange,
  unread: WriteBudget,
): Promise<void> {
  const response = await transport.handleRequest(toRequest(req, undefined), optionsOf(body, sender));
  return sendResponse(response, res, unread);
}

interface ModernExchange {
  res: ServerResponse;
  unread: WriteBudget;
  /** Exchanges that a shutdown waits for. */
  calls: Set<Promise<void>>;
}

async function answerModern(
  response: Promise<Response>,
  body: unknown,
  { res, unread, calls }: ModernExchange,
): Promise<void> {
  const sent = response.then((answer) => sendResponse(answer, res, unread));
  // A subscription ends only with its client.
  const isCall = isRecord(body) && body.method !== "subscriptions/listen";
  if (isCall) calls.add(sent);
  await sent.finally(() => calls.delete(sent));
}

const optionsOf = (parsedBody: unknown, sender: MessageSender) => ({
  parsedBody,
  authInfo: { token: "", clientId: "", scopes: [], extra: { ...sender } },
});

async function sendResponse(response: Response, res: ServerResponse, unread: WriteBudget): Promise<void> {
  copyHeaders(response, res, ["connection"]);
  res.statusCode = response.status;
  if (!response.body) return void res.end();
  res.flushHeaders();
  await pump(response.body, res, unread);
}

/** Sends a response body with back-pressure. */
async function pump(
  body: ReadableStream<Uint8Array>,
  res: ServerResponse,
  unread: WriteBudget,
): Promise<void> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => undefined);
  if (res.destroyed) return leave();
  res.once("close", leave);
  const writer = new ResponseWriter(unread, res, { request_id: requestContext(res.req).id });
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!(await writer.write(Buffer.from(value)))) return leave();
  }
  writer.end();
}

function answerError(res: ServerResponse, status: number, code: number, message: string): void {
  res.writeHead(status, { "Content-Type": "application/json" });
  res.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }));
}

function refuseMethod(req: IncomingMessage, res: ServerResponse, allowed: readonly string[]): never {
  res.setHeader("Allow", allowed.join(", "));
  throw new GraphServeError(
    "method_not_allowed",
    `${req.method} is not allowed here; allowed: ${allowed.join(", ")}`,
  );
}
