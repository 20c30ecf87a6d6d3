/** The official Model Context Protocol (MCP) client, connected to a server over HTTP. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type {
  CallToolResult,
  ElicitRequestFormParams,
  ElicitResult,
} from "@modelcontextprotocol/sdk/types.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";

export type Asked = Omit<ElicitRequestFormParams, "mode">;

export interface McpClientOptions {
  headers?: Record<string, string>;
  /** Answers elicitation requests. Without it the client does not support elicitation. */
  onAsk?: (asked: Asked) => ElicitResult | Promise<ElicitResult>;
  onToolsChanged?: () => void;
}

/** Result of a tool call that ran a graph. */
export interface ToolAnswer {
  isError?: boolean;
  texts: string[];
  data: {
    thread_id: string;
    status: string;
    output: Record<string, unknown>;
    interrupts?: { id: string; value: unknown }[];
    error?: { error: string; message: string };
  };
}

export class TestClient {
  readonly client: Client;

  constructor({ onAsk, onToolsChanged }: McpClientOptions = {}) {
    this.client = new Client(
      { name: "test", version: "1" },
      { capabilities: onAsk ? { elicitation: {} } : {} },
    );
    if (onAsk) this.client.setRequestHandler(ElicitRequestSchema, ({ params }) => onAsk(params as Asked));
    if (onToolsChanged)
      this.client.setNotificationHandler(ToolListChangedNotificationSchema, () => onToolsChanged());
  }

  async connect(transport: Transport): Promise<this> {
    await this.client.connect(transport);
    onTestFinished(() => this.client.close());
    return this;
  }

  async call(
    name: string,
    args: Record<string, unknown>,
    options?: Parameters<Client["callTool"]>[2],
  ): Promise<ToolAnswer> {
    const result = (await this.client.callTool(
      { name, arguments: args },
      undefined,
      options,
    )) as CallToolResult;
    return {
      ...(result.isError !== undefined && { isError: result.isError }),
      texts: result.content.map((part) => (part.type === "text" ? part.text : part.type)),
      data: result.structuredContent as ToolAnswer["data"],
    };
  }
}

/** Connects a client to the server at `url`. */
export function connectHttp(
  url: string,
  { headers, ...options }: McpClientOptions = {},
): Promise<TestClient> {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { ...(headers && { headers }) },
  });
  return new TestClient(options).connect(transport);
}
