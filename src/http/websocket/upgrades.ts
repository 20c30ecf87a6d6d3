/** Handles requests for a protocol upgrade. WebSocket requests pass the same middleware as all others. */
import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface Upgrade {
  socket: Duplex;
  head: Buffer;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** The upgrade of a request that can become a WebSocket. */
export const upgradeOf = (req: IncomingMessage): Upgrade | undefined => upgrades.get(req);

export interface Upgrades {
  end(): void;
  destroy(): void;
}

/** Passes WebSocket requests to `app`. Upgrade requests for other protocols are served as plain HTTP. */
export function handleUpgrades(server: Server, app: RequestListener): Upgrades {
  const sockets = new Set<Duplex>();
  /** Connections that were returned to HTTP. */
  const returned = new WeakSet<Duplex>();
  const closeReturned = ({ socket }: IncomingMessage, res: ServerResponse) => {
    if (returned.has(socket)) res.shouldKeepAlive = false;
  };
  server.on("upgrade", (req: IncomingMessage, socket: Socket, head: Buffer) => {
    if (req.headers.upgrade?.toLowerCase() !== "websocket") {
      // The connection ends with the response to its first such request.
      if (returned.has(socket)) return;
      returned.add(socket);
      // The first one adds the listener.
      server.off("request", closeReturned).prependListener("request", closeReturned);
      return returnToHttp(server, req, socket, head);
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    upgrades.set(req, { socket, head });
    app(req, answerOn(req, socket));
  });
  return {
    end: () => sockets.forEach((socket) => socket.end()),
    destroy: () => sockets.forEach((socket) => socket.destroy()),
  };
}

/** A response that rejects an upgrade and closes the connection, because HTTP no longer manages it. */
function answerOn(req: IncomingMessage, socket: Socket): ServerResponse {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.once("finish", () => socket.end());
  return res;
}

const LEFT_OUT = /^(connection|upgrade|http2-settings)$/i;

/**
 * Returns the connection to HTTP and replays the request without its upgrade headers. Adds a parser
 * to the connection, so it must be done only once per connection.
 */
function returnToHttp(server: Server, req: IncomingMessage, socket: Socket, head: Buffer): void {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`];
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index] ?? "";
    if (!LEFT_OUT.test(name)) lines.push(`${name}: ${req.rawHeaders[index + 1]}`);
  }
  if (head.length > 0) socket.unshift(head);
  socket.unshift(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
  server.emit("connection", socket);
}
