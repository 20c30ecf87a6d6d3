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
 * Answer what comes until the client closes its end; calls in flight are stopped then.
 * @throws PayloadTooLargeError for a message that is larger than a body may be (`payload_too_large`)
 */
export async function serveStdio(sdk: McpSdk, service: Service, { input, output }: Streams): Promise<void> {
  const { server } = new McpServer(sdk, service, new Tools(service));
  const { body_limit: maxBufferSize } = service.settings;
  const transport = new sdk.StdioTransport(input, output, { maxBufferSize });
  const left = new Promise<void>((resolve, reject) => {
    input.once("end", resolve).once("close", resolve);
    // Before its input ends, the SDK ends the connection for one reason alone.
    server.onclose = () => reject(new PayloadTooLargeError(maxBufferSize));
  });
  server.onerror = ({ message }) =>
    service.logger.warn({ reason: firstLine(message) }, "a message was not taken");
  await server.connect(transport);
  await left;
  await server.close();
}

const firstLine = (text: string): string => (text.split("\n", 1)[0] ?? "").slice(0, 200);
