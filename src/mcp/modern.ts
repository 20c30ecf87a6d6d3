/**
 * The Model Context Protocol since version 2026-07-28: every request stands alone. A graph that asks a question ends the
 * call with `input_required`, and the client repeats the call with the answers.
 */
import type {
  CallToolRequest,
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  McpHttpHandler,
  Server,
  ServerContext,
  Tool,
} from "@modelcontextprotocol/server";
import { isRecord, type JsonObject } from "../models/common.js";
import type { Service } from "../service/service.js";
import { InvalidRequestError } from "../support/errors.js";
import { tryOr } from "../support/errors/thrown.js";
import type { ModernMcpSdk } from "../support/mcp-sdk.js";
import { type Question, questionsText } from "../view/outcome.js";
import { callTool, type ToolCall } from "./call.js";
import { type Form, formOf } from "./questions.js";
import { listThreads, readThreadResource, THREAD_TEMPLATE } from "./resources.js";
import { describeError, introductionOf, type MessageSender, serviceFor } from "./server.js";
import { toolNames, type Tools } from "./tools.js";

/** Serves requests of this version, and refuses those of earlier ones. */
export function modernHandler(sdk: ModernMcpSdk, service: Service, tools: Tools): McpHttpHandler {
  return sdk.createMcpHandler(() => new ModernServer(sdk, service, tools).server, {
    legacy: "reject",
    onerror: (error) => service.logger.debug({ err: error }, "mcp"),
  });
}

/** Answers one request, or all requests of a client over stdin and stdout. */
export class ModernServer {
  readonly #sdk: ModernMcpSdk;
  readonly #service: Service;
  readonly #tools: Tools;
  readonly server: Server;

  constructor(sdk: ModernMcpSdk, service: Service, tools: Tools) {
    this.#sdk = sdk;
    this.#service = service;
    this.#tools = tools;
    const { info, options, showsThreads } = introductionOf(service);
    this.server = new sdk.Server(info, options);
    this.server.setRequestHandler("tools/list", () =>
      this.#guarded(async () => ({ tools: (await tools.list()) as Tool[] })),
    );
    this.server.setRequestHandler("tools/call", (request, context) =>
      this.#guarded(() => this.#call(request, context)),
    );
    if (showsThreads) this.#serveThreads();
  }

  #serveThreads(): void {
    this.server.setRequestHandler("resources/list", ({ params }, context) =>
      this.#guarded(() => listThreads(serviceFor(this.#service, senderOf(context)), params?.cursor)),
    );
    this.server.setRequestHandler("resources/templates/list", () => ({
      resourceTemplates: [THREAD_TEMPLATE],
    }));
    this.server.setRequestHandler("resources/read", ({ params }, context) =>
      this.#guarded(() => readThreadResource(serviceFor(this.#service, senderOf(context)), params.uri)),
    );
  }

  async #call(
    { params }: CallToolRequest,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const called = await this.#tools.resolve(params.name, params.arguments ?? {});
    const { ProtocolError, ProtocolErrorCode } = this.#sdk;
    if (!called)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `tool ${JSON.stringify(params.name)} does not exist`,
      );
    try {
      const call = this.#toolCall(context);
      const threadId = threadOf(context.mcpReq.requestState<string>());
      if (threadId === undefined) return this.#questionsOf(await callTool(call, called), context);
      const { interrupts } = await call.service.threads.get(threadId);
      const asked = Object.values(interrupts).flat() as Question[];
      const answer = this.#answersTo(asked, context.mcpReq.inputResponses ?? {});
      if (answer)
        return this.#questionsOf(await callTool(call, { kind: "resume", threadId, answer }), context);
      return interruptedResult(call, threadId, asked);
    } catch (error) {
      // Report the error as a tool result, not as a protocol error, so that the calling model sees it.
      return { content: [{ type: "text", text: describeError(this.#service, error).text }], isError: true };
    }
  }

  /** By interrupt; undefined if the user declined one. @throws InvalidRequestError if another client has answered */
  #answersTo(asked: readonly Question[], responses: JsonObject): JsonObject | undefined {
    const ids = asked.map(({ id }) => id);
    if (ids.length === 0 || Object.keys(responses).some((id) => !ids.includes(id)))
      throw new InvalidRequestError("the question is no longer pending: it has been answered");
    const answers: [string, unknown][] = [];
    for (const { id, value } of asked) {
      const form = formOf(value);
      const content = this.#sdk.acceptedContent(responses, id);
      if (!content || !isFilled(form, content)) return undefined;
      answers.push([id, form.answerOf(content)]);
    }
    return Object.fromEntries(answers);
  }

  /** The forms for the questions of a result, if the client shows forms; otherwise the result. */
  #questionsOf(result: CallToolResult, { mcpReq }: ServerContext): CallToolResult | InputRequiredResult {
    const { structuredContent: data } = result;
    // Over stdin, the server knows the capabilities only from each request.
    const envelope = mcpReq.envelope as Record<string, ClientCapabilities | undefined> | undefined;
    const { elicitation } = envelope?.[this.#sdk.CLIENT_CAPABILITIES_META_KEY] ?? {};
    // Without a mode, a client shows forms.
    const canAsk = elicitation && (elicitation.form !== undefined || elicitation.url === undefined);
    if (!canAsk || !isRecord(data) || data.status !== "interrupted") return result;
    const { inputRequired } = this.#sdk;
    const requests = (data.interrupts as readonly Question[]).map(({ id, value }) => {
      const { message, requestedSchema } = formOf(value);
      return [id, inputRequired.elicit({ mode: "form", message, requestedSchema })] as const;
    });
    return inputRequired({
      inputRequests: Object.fromEntries(requests),
      // The client could also send this id to the resume tool, so it needs no signature.
      requestState: JSON.stringify({ thread_id: data.thread_id }),
    });
  }

  #toolCall(context: ServerContext): ToolCall {
    const { signal, _meta, notify } = context.mcpReq;
    const { stopping, isReading = () => true } = senderOf(context);
    const progressToken = _meta?.progressToken;
    let count = 0;
    const progress = (message: string) => {
      if (progressToken === undefined || !isReading() || stopping?.aborted) return;
      const params = { progressToken, progress: (count += 1), message };
      notify({ method: "notifications/progress", params }).catch(() => undefined);
    };
    return {
      service: serviceFor(this.#service, senderOf(context)),
      // Over HTTP, a client cancels a call by closing its connection; over stdin, by a notification.
      signal,
      resume: toolNames(this.#service.graphIds).resume,
      ...(progressToken !== undefined && { progress }),
    };
  }

  /** Converts errors of the service to errors of the protocol. */
  async #guarded<T>(answer: () => Promise<T>): Promise<T> {
    const { ProtocolError, ProtocolErrorCode } = this.#sdk;
    try {
      return await answer();
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      const { status, text } = describeError(this.#service, error);
      const code = status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
      throw new ProtocolError(code, text);
    }
  }
}

/** The result for a user who declined to answer: the model can ask again, or resume the thread later. */
function interruptedResult(
  { resume }: ToolCall,
  threadId: string,
  asked: readonly Question[],
): CallToolResult {
  const data = { thread_id: threadId, status: "interrupted", output: {}, interrupts: asked };
  const text = `The user did not answer:\n${questionsText(asked)}\nCall ${resume} with the answer and this thread to resume it.\nthread_id: ${threadId}`;
  return { content: [{ type: "text", text }], structuredContent: data };
}

/** Whether the content fits the form. Clients may send anything. */
const isFilled = ({ requestedSchema: { properties, required = [] } }: Form, content: JsonObject): boolean =>
  required.every((name) => typeof content[name] === "string") &&
  Object.entries(content).every(([name, value]) => {
    const field = properties[name];
    return field !== undefined && (!("enum" in field) || field.enum.includes(value as string));
  });

const senderOf = ({ http }: ServerContext): MessageSender => http?.authInfo?.extra ?? {};

/** The thread of a repeated call. @throws InvalidRequestError for a state that this server did not write */
function threadOf(state: string | undefined): string | undefined {
  if (state === undefined) return undefined;
  const read = tryOr(() => JSON.parse(state) as unknown);
  if (isRecord(read) && typeof read.thread_id === "string") return read.thread_id;
  throw new InvalidRequestError("requestState must be the one of the answer before");
}
