/** The Model Context Protocol over a pair of streams, for clients that start the server themselves. */
import type { Readable, Writable } from "node:stream";
import type { Service } from "../service/service.js";
import { PayloadTooLargeError } from "../support/errors.js";
import type { McpSdk } from "../support/mcp-sdk.js";
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
  const { server } = new McpServer(sdk, service, new Tools(service));
  const { body_limit: maxBufferSize } = service.settings;
  const transport = new sdk.StdioTransport(input, output, { maxBufferSize });
  const ended = new Promise<void>((resolve, reject) => {
    input.once("end", resolve).once("close", resolve);
    // Before its input ends, the SDK only closes the connection for an oversized message.
    server.onclose = () => reject(new PayloadTooLargeError(maxBufferSize));
  });
  server.onerror = ({ message }) =>
    service.logger.warn({ reason: firstLine(message) }, "invalid message ignored");
  await server.connect(transport);
  await ended;
  await server.close();
}

const firstLine = (text: string): string => (text.split("\n", 1)[0] ?? "").slice(0, 200);
