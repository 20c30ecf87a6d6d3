import { createServer, connect, type Server, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A way to a server that can be blocked: connections stay open, but nothing gets through any more. */
export class TcpRelay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #blocked = false;
  #isDown = false;
  #turnedAway = 0;

  private constructor(host: string, port: number) {
    this.#server = createServer((near) => {
      if (this.#isDown) {
        this.#turnedAway += 1;
        near.destroy();
        return;
      }
      const far = connect(port, host);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on("data", (data) => void to.write(data));
        if (this.#blocked) from.pause();
        from.on("close", () => to.destroy());
        from.on("error", () => to.destroy());
      }
    });
  }

  static async open(host: string, port: number): Promise<TcpRelay> {
    const relay = new TcpRelay(host, port);
    relay.#server.listen(0, "127.0.0.1");
    await once(relay.#server, "listening");
    return relay;
  }

  /** A relay to the server that a URI names, and the URI that leads through it. */
  static async before(uri: string, defaultPort: number): Promise<{ relay: TcpRelay; uri: string }> {
    const through = new URL(uri);
    const relay = await TcpRelay.open(through.hostname, Number(through.port || defaultPort));
    through.host = `127.0.0.1:${relay.port}`;
    return { relay, uri: through.href };
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Nor is anything taken in: who sends much has to wait. */
  block(): void {
    this.#blocked = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Let through again what is connected from now on; what was blocked is ended. */
  unblock(): void {
    this.#blocked = false;
    this.cut();
  }

  /** End all connections at once. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  /** As when the server has gone: connections end, and new ones with them. Returns how many it turned away so far. */
  down(): () => number {
    this.#isDown = true;
    this.cut();
    return () => this.#turnedAway;
  }

  up(): void {
    this.#isDown = false;
  }

  async close(): Promise<void> {
    // Who comes while it closes would keep it open.
    this.#isDown = true;
    this.unblock();
    this.#server.close();
    await once(this.#server, "close");
  }
}
