/** A minimal HTTP client, so that the client never limits the server. */
import { Agent, request, type IncomingMessage } from "node:http";

export interface HttpRequest {
  method?: "GET" | "POST";
  url: string;
  body?: unknown;
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Sends a request. Resolves with the head of the response; aborting destroys the connection. */
export function open(
  { method = "POST", url, body }: HttpRequest,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers, signal }, resolve);
    sent.on("error", reject);
    sent.end(text);
  });
}

/** Returns the body of a response; throws unless it is a success. */
export async function send(message: HttpRequest): Promise<string> {
  const response = await open(message);
  const text = await textOf(response);
  if (response.statusCode !== 200) throw new Error(`${message.url} answered ${response.statusCode}: ${text}`);
  return text;
}

export function textOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => (text += chunk));
    response.on("end", () => resolve(text));
    response.on("error", reject);
  });
}

/** Resolves with the first bytes of the body; the caller handles the rest. */
export function firstBytes(response: IncomingMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    response.on("data", () => resolve());
    response.on("error", reject);
  });
}

/** Reads and discards the body; resolves at its end. */
export function ended(response: IncomingMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    response.on("data", () => undefined);
    response.on("end", resolve);
    response.on("error", reject);
  });
}

export async function createThread(base: string): Promise<string> {
  const { thread_id } = JSON.parse(await send({ url: `${base}/threads`, body: {} })) as { thread_id: string };
  return thread_id;
}
