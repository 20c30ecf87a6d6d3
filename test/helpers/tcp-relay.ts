import { createServer, connect, type Server, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A TCP relay to a server that can be blocked: connections stay open without passing data. */
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

  /** Opens a relay to the server of `uri`, and returns the URI of the relay. */
  static async before(uri: string, defaultPort: number): Promise<{ relay: TcpRelay; uri: string }> {
    const through = new URL(uri);
    const relay = await TcpRelay.open(through.hostname, Number(through.port || defaultPort));
    through.host = `127.0.0.1:${relay.port}`;
    return { relay, uri: through.href };
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Also stops reading, so senders see back-pressure. */
  block(): void {
    this.#blocked = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Closes the blocked connections and relays new ones. */
  unblock(): void {
    this.#blocked = false;
    this.cut();
  }

  /** Closes all connections immediately. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  /**
   * Closes all connections and rejects new ones, as if the server had stopped. Returns a counter of rejected
   * connections.
   */
  down(): () => number {
    this.#isDown = true;
    this.cut();
    return () => this.#turnedAway;
  }

  up(): void {
    this.#isDown = false;
  }

  async close(): Promise<void> {
    // A connection that arrives during the close would keep the relay open.
    this.#isDown = true;
    this.unblock();
    this.#server.close();
    await once(this.#server, "close");
  }
}
