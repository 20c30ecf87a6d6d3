/**
 * A double of a MongoDB server for machines without one: it speaks the wire protocol to the real driver and
 * keeps documents in memory. Limits: one process, only unique indexes, no transactions, plain commands only.
 */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import type { Document } from "bson";
import { Databases } from "./mongodb-commands.js";
import { RequestReader, writeAnswer, type Request } from "./mongodb-wire.js";

/**
 * How a command is handled: run it; close the connection before it, or after it without a response; never
 * respond; or hold it until `release`.
 */
export type Fate = "run" | "drop" | "drop after" | "hang" | "hold";

export class MongodbDouble {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #databases = new Databases();
  /** Names of the received commands, in order. */
  readonly commands: string[] = [];
  /** Decides how each command is handled, except for the driver's handshake. */
  fateOf: (name: string, command: Document) => Fate = () => "run";

  readonly #held: (() => void)[] = [];

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(): Promise<MongodbDouble> {
    const double = new MongodbDouble();
    await once(double.#server.listen(0, "127.0.0.1"), "listening");
    return double;
  }

  get uri(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `mongodb://127.0.0.1:${port}`;
  }

  /** Number of commands held until `release`. */
  get held(): number {
    return this.#held.length;
  }

  release(): void {
    for (const run of this.#held.splice(0)) run();
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(socket: Socket): void {
    const reader = new RequestReader();
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      for (const request of reader.read(chunk)) this.#answer(socket, request);
    });
  }

  #answer(socket: Socket, request: Request): void {
    const [name = ""] = Object.keys(request.command);
    const isGreeting = /^(hello|ismaster)$/i.test(name);
    if (!isGreeting) this.commands.push(name);
    const fate = isGreeting ? "run" : this.fateOf(name, request.command);
    if (fate === "hold") {
      this.#held.push(() => this.#run(socket, request, "run"));
      return;
    }
    this.#run(socket, request, fate);
  }

  #run(socket: Socket, request: Request, fate: Fate): void {
    const answer = fate === "drop" || fate === "hang" ? undefined : this.#databases.run(request.command);
    if (fate === "drop" || fate === "drop after") socket.destroy();
    else if (answer && request.wantsAnswer) socket.write(writeAnswer(request, answer));
  }
}
