/** A webhook receiver on loopback that records requests and returns configured statuses. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok").toString("base64")}`;
export const webhooks = { secret: SECRET, allow_private: ["127.0.0.1"] };

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  /** The parsed body. */
  run: { run_id: string; status: string; values: Record<string, unknown> | null; error: string | null };
}

export interface Receiver {
  url: string;
  received: Received[];
  /** The next webhook, or the first that has not been returned yet. */
  next(): Promise<Received>;
  /** Statuses of the next responses, and of all later ones. */
  answers: number[];
  otherwise: number;
  /** If set, the next request is answered only after it. */
  hold?: Promise<unknown> | undefined;
  /** Requests that the sender aborted before they were answered. */
  aborted: number;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers: number[] = [];
  let heard: () => void = () => undefined;
  const server = createServer((request, response) => {
    response.on("close", () => (receiver.aborted += response.writableFinished ? 0 : 1));
    void text(request).then(async (body) => {
      received.push({ headers: request.headers, body, run: JSON.parse(body) as Received["run"] });
      heard();
      const { hold } = receiver;
      receiver.hold = undefined;
      await hold;
      response.writeHead(answers.shift() ?? receiver.otherwise, { location: "/elsewhere" }).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  let taken = 0;
  const next = async () => {
    while (received.length <= taken) await new Promise<void>((resolve) => (heard = resolve));
    return received[taken++]!;
  };
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook?token=t-1`;
  const receiver: Receiver = { url, received, next, answers, otherwise: 204, aborted: 0 };
  return receiver;
}
