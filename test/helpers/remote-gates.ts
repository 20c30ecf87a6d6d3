/** Gates of nodes in other processes: each node requests its gate, and the response arrives when the test opens it. */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One node that has reached its gate. */
export interface Arrival {
  gate: string;
  /** Process that executes the node. */
  pid: number;
}

/** Source of a function for graphs: `await gate("name")`. The URL is in the variable GATES. */
export const GATE_SOURCE = `
const gate = async (name: string) => {
  const answer = await fetch(process.env.GATES + "/" + name + "?pid=" + process.pid);
  await answer.text();
};
`;

export class RemoteGates {
  readonly arrivals: Arrival[] = [];
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, ServerResponse[]>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((req, res) => {
      const { pathname, searchParams } = new URL(req.url ?? "", "http://gates");
      const gate = pathname.slice(1);
      this.arrivals.push({ gate, pid: Number(searchParams.get("pid")) });
      if (this.#open.has(gate)) res.end();
      else this.#waiting.set(gate, [...(this.#waiting.get(gate) ?? []), res]);
    });
  }

  static async listen(): Promise<RemoteGates> {
    const gates = new RemoteGates();
    gates.#server.listen(0, "127.0.0.1");
    await once(gates.#server, "listening");
    return gates;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Processes that have reached the gate, in order. */
  at(gate: string): number[] {
    return this.arrivals.filter((arrival) => arrival.gate === gate).map(({ pid }) => pid);
  }

  open(gate: string): void {
    this.#open.add(gate);
    for (const res of this.#waiting.get(gate) ?? []) res.end();
    this.#waiting.delete(gate);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
