/** One MCP connection: handles the protocol's requests on behalf of their senders. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type {
  CallToolRequest,
  CallToolResult,
  ServerNotification,
  ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import type { Caller } from "../models/caller.js";
import type { CallerService, Service } from "../service/service.js";
import { asServiceError, publicMessage } from "../support/errors.js";
import type { McpSdk } from "../support/mcp-sdk.js";
import { VERSION } from "../support/own-package.js";
import { callTool, type ToolCall } from "./call.js";
import type { Form } from "./questions.js";
import { listThreads, readThreadResource, THREAD_TEMPLATE } from "./resources.js";
import { toolNames, type Tools } from "./tools.js";

/** Timeout for a user to answer a form, in milliseconds. */
const ANSWER_MS = 600_000;

const RESOURCE_NOT_FOUND = -32_002;

const INSTRUCTIONS =
  "Each tool runs a graph. Each answer contains a thread_id: pass it to continue that conversation. If a graph stops with a question, answer it with the resume tool.";

/** Context of the message that a request came with. */
export interface MessageSender {
  caller?: Caller;
  /** Aborts when the client disconnects before its result is sent. */
  disconnected?: AbortSignal;
  /** Aborts when the server shuts down; no further forms are sent. */
  stopping?: AbortSignal;
  /** Whether the client reads its event stream. */
  isReading?: () => boolean;
}

/** The names, capabilities and instructions that a client gets first. */
export function introductionOf(service: Service) {
  const showsThreads = !service.settings.disabled_routes.includes("threads");
  const capabilities = { tools: { listChanged: true }, ...(showsThreads && { resources: {} }) };
  const info = { name: "graph-serve", version: VERSION };
  return { info, options: { capabilities, instructions: INSTRUCTIONS }, showsThreads };
}

/** The service on behalf of the sender's caller. */
export const serviceFor = (service: Service, { caller }: MessageSender): CallerService =>
  caller ? service.as(caller) : service;

/** Status and message of an error for clients. Logs internal errors, whose details clients do not get. */
export function describeError(service: Service, thrown: unknown): { status: number; text: string } {
  const error = asServiceError(thrown);
  if (error.status >= 500) service.logger.error({ err: thrown }, "request failed");
  return { status: error.status, text: publicMessage(error) };
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const senderOf = ({ authInfo }: Extra): MessageSender => authInfo?.extra ?? {};

export class McpServer {
  readonly #sdk: McpSdk;
  readonly #service: Service;
  readonly #tools: Tools;
  readonly server: Server;

  constructor(sdk: McpSdk, service: Service, tools: Tools) {
    this.#sdk = sdk;
    this.#service = service;
    this.#tools = tools;
    const { info, options, showsThreads } = introductionOf(service);
    this.server = new sdk.Server(info, { ...options, jsonSchemaValidator: sdk.validator });
    this.server.onerror = (error) => service.logger.debug({ err: error }, "mcp");
    this.#serveTools();
    if (showsThreads) this.#serveThreads();
  }

  #serveTools(): void {
    const { ListToolsRequestSchema, CallToolRequestSchema } = this.#sdk.types;
    this.server.setRequestHandler(ListToolsRequestSchema, () =>
      this.#guarded(async () => ({ tools: await this.#tools.list() })),
    );
    this.server.setRequestHandler(CallToolRequestSchema, (request, extra) =>
      this.#guarded(() => this.#call(request, extra)),
    );
  }

  #serveThreads(): void {
    const { types } = this.#sdk;
    this.server.setRequestHandler(types.ListResourcesRequestSchema, ({ params }, extra) =>
      this.#guarded(() => listThreads(serviceFor(this.#service, senderOf(extra)), params?.cursor)),
    );
    this.server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: [THREAD_TEMPLATE],
    }));
    this.server.setRequestHandler(types.ReadResourceRequestSchema, ({ params }, extra) =>
      this.#guarded(() => readThreadResource(serviceFor(this.#service, senderOf(extra)), params.uri)),
    );
  }

  async #call({ params }: CallToolRequest, extra: Extra): Promise<CallToolResult> {
    const called = await this.#tools.resolve(params.name, params.arguments ?? {});
    const { ErrorCode, McpError } = this.#sdk.types;
    if (!called)
      throw new McpError(ErrorCode.InvalidParams, `tool ${JSON.stringify(params.name)} does not exist`);
    try {
      return await callTool(this.#toolCall(extra), called);
    } catch (error) {
      // Report the error as a tool result, not as a protocol error, so that the calling model sees
      // it.
      return { content: [{ type: "text", text: describeError(this.#service, error).text }], isError: true };
    }
  }

  #toolCall(extra: Extra): ToolCall {
    const { signal, requestId, _meta } = extra;
    const { disconnected, stopping, isReading = () => true } = senderOf(extra);
    const canAsk = this.server.getClientCapabilities()?.elicitation?.form !== undefined;
    const token = _meta?.progressToken;
    let count = 0;
    const progress = (message: string) => {
      if (token === undefined || !isReading()) return;
      const params = { progressToken: token, progress: (count += 1), message };
      extra.sendNotification({ method: "notifications/progress", params }).catch(() => undefined);
    };
    const ask = ({ message, requestedSchema }: Form) => {
      // Without an answer the interrupt stays pending on its thread.
      const gone = AbortSignal.any([signal, disconnected, stopping].filter((each) => each !== undefined));
      return this.server.elicitInput(
        { mode: "form", message, requestedSchema },
        { relatedRequestId: requestId, signal: gone, timeout: ANSWER_MS },
      );
    };
    return {
      service: serviceFor(this.#service, senderOf(extra)),
      signal,
      resume: toolNames(this.#service.graphIds).resume,
      ...(disconnected && { disconnected }),
      ...(canAsk && { ask }),
      ...(token !== undefined && { progress }),
    };
  }

  /**
   * Converts errors of the service to errors of the protocol. Internal errors do not reveal details
   * to clients.
   */
  async #guarded<T>(answer: () => Promise<T>): Promise<T> {
    const { McpError, ErrorCode } = this.#sdk.types;
    try {
      return await answer();
    } catch (error) {
      if (error instanceof McpError) throw error;
      const { status, text } = describeError(this.#service, error);
      if (status === 404) throw new McpError(RESOURCE_NOT_FOUND, text);
      throw new McpError(status < 500 ? ErrorCode.InvalidParams : ErrorCode.InternalError, text);
    }
  }
}
