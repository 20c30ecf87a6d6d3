/** Requests that want to become something else than HTTP: WebSockets pass the same layers as every other request. */
import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** What is left of the connection when a request asks for another protocol on it. */
export interface Upgrade {
  socket: Duplex;
  /** The first bytes behind the request. */
  head: Buffer;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** Set for a request that may become a WebSocket. */
export const upgradeOf = (req: IncomingMessage): Upgrade | undefined => upgrades.get(req);

export interface Upgrades {
  /** End the connections that have become WebSockets. */
  end(): void;
  destroy(): void;
}

/** Let `app` see requests for a WebSocket; such requests for any other protocol are served as if they had not asked. */
export function handleUpgrades(server: Server, app: RequestListener): Upgrades {
  const sockets = new Set<Duplex>();
  /** Connections that were returned to HTTP. */
  const returned = new WeakSet<Duplex>();
  server.prependListener("request", ({ socket }: IncomingMessage, res: ServerResponse) => {
    if (returned.has(socket)) res.shouldKeepAlive = false;
  });
  server.on("upgrade", (req: IncomingMessage, socket: Socket, head: Buffer) => {
    if (req.headers.upgrade?.toLowerCase() !== "websocket") {
      // The connection ends with the answer to the first such request.
      if (returned.has(socket)) return;
      returned.add(socket);
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

/** An answer that refuses, on a connection that HTTP has let go of: nothing comes after it. */
function answerOn(req: IncomingMessage, socket: Socket): ServerResponse {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.once("finish", () => socket.end());
  return res;
}

const LEFT_OUT = /^(connection|upgrade|http2-settings)$/i;

/**
 * Return the connection to HTTP, with the request as it would have been. This adds a parser to the connection, so it
 * is done once for each.
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
