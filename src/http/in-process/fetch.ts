/** Requests of this process to its own server. They pass all middleware, over an in-memory connection. */
import { AsyncResource } from "node:async_hooks";
import { type ClientRequest, type IncomingMessage, request as send, type Server } from "node:http";
import { duplexPair, Readable } from "node:stream";
import type { Service } from "../../service/service.js";
import { GraphServeError } from "../../support/errors.js";
import { currentSender, inProcessSenders } from "./sender.js";

/** Statuses whose responses have no body in the fetch standard. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Creates a `fetch` that reaches `server`, whatever the host of the URL, on behalf of the calling
 * run or request.
 */
export function inProcessFetch(server: Server, service: Service): typeof globalThis.fetch {
  // A run started by a run must not inherit LangGraph's asynchronous context.
  const outside = new AsyncResource("graph-serve:in-process");
  return async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    if (service.settings.role === "worker") return refusal(workerError(request.url));
    const sender = currentSender(service);
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
    return outside.runInAsyncScope(() => answerOf(request, body, () => connect(server, sender)));
  };
}

/** Opens an in-memory connection and returns the client's end. */
function connect(server: Server, sender: ReturnType<typeof currentSender>) {
  const [near, far] = duplexPair();
  // Sockets have this method; in-memory streams do not need it.
  Object.assign(far, { setNoDelay: () => far });
  near.once("close", () => far.destroy());
  far.once("close", () => near.destroy());
  if (sender) inProcessSenders.set(far, sender);
  server.emit("connection", far);
  return near;
}

function answerOf(
  { url, method, headers, signal }: Request,
  body: Buffer | undefined,
  createConnection: () => ReturnType<typeof connect>,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const outgoing = send(url, { method, headers: Object.fromEntries(headers), createConnection });
    let open: ClientRequest | IncomingMessage = outgoing;
    const abort = () => open.destroy(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    outgoing.once("close", () => signal.removeEventListener("abort", abort));
    outgoing.on("error", reject).on("response", (incoming) => {
      open = incoming;
      resolve(toResponse(incoming, method));
    });
    outgoing.end(body);
  });
}

function toResponse(incoming: IncomingMessage, method: string): Response {
  const { statusCode: status = 500, statusMessage: statusText, rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  const isEmpty = method === "HEAD" || WITHOUT_BODY.has(status);
  if (isEmpty) incoming.resume();
  const body = isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText, headers });
}

const workerError = (url: string) =>
  new GraphServeError("route_not_found", `a worker does not serve ${new URL(url).pathname}`, {
    hint: "pass the URL of a server with the role api or all to the client in the graph: new Client({ apiUrl })",
  });

const refusal = ({ status, message, hint, code }: GraphServeError): Response =>
  Response.json({ detail: `${message}: ${hint}`, code }, { status });
