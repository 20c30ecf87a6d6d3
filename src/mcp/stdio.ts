/** The Model Context Protocol over a pair of streams, for clients that start the server themselves. */
import type { Readable, Writable } from "node:stream";
import type { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Service } from "../service/service.js";
import { PayloadTooLargeError } from "../support/errors.js";
import type { McpSdk } from "../support/mcp-sdk.js";
import { ModernServer } from "./modern.js";
import { McpServer } from "./server.js";
import { Tools } from "./tools.js";

interface Streams {
  input: Readable;
  output: Writable;
}

/**
 * Serves requests until the client closes its end; active calls are then stopped.
 * @throws PayloadTooLargeError for a message that exceeds the body limit (`payload_too_large`)
 */
export async function serveStdio(sdk: McpSdk, service: Service, { input, output }: Streams): Promise<void> {
  const { body_limit: maxBufferSize } = service.settings;
  const transport = new sdk.StdioTransport(input, output, { maxBufferSize });
  const connection = await connect(sdk, service, transport, ({ message }) =>
    service.logger.warn({ reason: firstLine(message) }, "invalid message ignored"),
  );
  await new Promise<void>((resolve, reject) => {
    input.once("end", resolve).once("close", resolve);
    const { onclose } = transport;
    // Before its input ends, the SDK only closes the connection for an oversized message.
    transport.onclose = () => {
      onclose?.();
      reject(new PayloadTooLargeError(maxBufferSize));
    };
  });
  await connection.close();
}

/** The first message of the client selects the version of the protocol. */
async function connect(
  sdk: McpSdk,
  service: Service,
  transport: StdioServerTransport,
  onerror: (error: Error) => void,
): Promise<{ close(): Promise<void> }> {
  const tools = new Tools(service);
  const { modern, modernStdio } = sdk;
  const { server } = new McpServer(sdk, service, tools);
  if (modern && modernStdio)
    return modernStdio.serveStdio(
      // For the earlier protocol, only `connect` and `close` are called, which both SDKs have.
      ({ era }) =>
        era === "modern"
          ? new ModernServer(modern, service, tools).server
          : (server as unknown as ModernServer["server"]),
      { transport, onerror },
    );
  server.onerror = onerror;
  await server.connect(transport);
  return server;
}

const firstLine = (text: string): string => (text.split("\n", 1)[0] ?? "").slice(0, 200);
